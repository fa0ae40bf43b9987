//! The schema language. A text is parsed, checked with Dgraph's messages, and becomes a
//! [`Model`](crate::model::Model); a model determines the types and predicates of the store.

mod source;
mod build;
mod check;
mod custom;
mod rules;
mod growth;
mod read;
#[cfg(test)]
mod tests;

pub(crate) use build::builtin::SCALAR_FILTERS;
pub use custom::template::TemplateError;
pub(crate) use custom::template::parse_template;
pub use growth::Growth;
pub use read::{Settings, read};
pub use rules::auth_directive::check_rules;

pub(crate) use custom::template::variables as template_variables;
pub(crate) use custom::url::read as url_variables;
