//! Resolved fields → plans of the executor, with the shape that their answers take. No query text comes in between.

mod shape;
mod target;
mod value;
mod filter;
mod geo;
mod order;
mod cascade;
mod rules;
mod aggregate;
mod fields;
mod entities;
mod similar;
mod root;
mod permit;

pub use permit::permit;
pub use root::{lower, lower_filter, lower_nodes, lower_permitted};
pub use rules::{Access, Caller};
pub use shape::{
    AggregateOp, AggregateShape, Elsewhere, Key, Leaf, Lowered, ObjectShape, RootShape, Source,
};
pub(crate) use similar::Metric;
pub use similar::{SimilarTo, lower_reference};

pub(crate) use filter::has_type;
pub(crate) use root::node_block;
pub(crate) use target::plan_field;
