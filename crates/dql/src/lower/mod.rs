//! Lowering: converts the syntax tree to a plan, resolves names and checks all rules that need only
//! the text.

pub(crate) mod parameter_value;
pub(crate) mod upsert;
pub(crate) mod arguments;
mod variables;
mod request;
mod schema;
pub(crate) mod selection;

pub(crate) use request::{Lowering, Uses};
