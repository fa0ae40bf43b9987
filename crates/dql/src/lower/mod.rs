//! From the tree of a text to a plan: names are resolved and every rule is checked.

mod arguments;
mod names;
mod request;
mod schema;
mod selection;

pub(crate) use request::{Lowering, Uses};
