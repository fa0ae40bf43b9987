//! The schema language: text to model, with the reference's messages; model to the store's schema.

mod value;
mod raw;
mod builtin;
mod draft;
mod names;
mod standard;
mod template;
mod url;
mod search;
mod inverse;
mod dgraph;
mod federation;
mod fields;
mod custom;
mod custom_graphql;
mod types;
mod sharing;
mod check;
mod rbac;
mod auth;
mod authorization;
mod comments;
mod build;
mod read;
mod store;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod tests;

pub use auth::check_rules;
pub use read::{Settings, read};
pub(crate) use template::parse_template;

pub(crate) use template::variables as template_variables;
pub(crate) use url::read as url_variables;
