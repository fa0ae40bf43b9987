//! Lowering: converts the syntax tree to a plan, resolves names and checks all rules that the text alone can tell.

mod arguments;
mod names;
mod request;
mod schema;
mod selection;

pub(crate) use request::{Lowering, Uses};
