//! From the tree of a text to a plan: names are resolved and every rule is checked.

mod number;
mod values;
mod names;
mod request;
mod schema;
mod block;
mod paging;
mod modifiers;
mod facets;
mod fields;
mod field;
mod duplicates;
mod condition;
mod function;
mod compare;
mod uids;
mod geo;
mod math;

pub(crate) use request::{Lowering, Uses};
