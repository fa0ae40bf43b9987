//! Generates the API of a model: its operations, payloads, inputs, filters and orders, as a schema
//! that requests are checked against and as text.

mod root_kind;
mod layout;
mod definitions;
mod prune;
mod generator;
mod api;
#[cfg(test)]
mod tests;

pub use api::Api;
#[cfg(test)]
pub(crate) use definitions::facts::Form;
pub(crate) use definitions::facts::is_settable;
#[cfg(test)]
pub(crate) use generator::generated_text;
pub(crate) use layout::tree::lower_first;
pub use root_kind::{Root, RootKind};
