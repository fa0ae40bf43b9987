//! Lowering: makes plans of the executor from resolved root fields, with the shapes of their
//! answers. No query text comes in between.

mod metric;
mod refusal;
mod shape;
mod target;
mod conditions;
mod order;
mod cascade;
mod aggregate;
mod roots;
mod fields;

pub use conditions::permit::permit;
pub use conditions::rules::{Access, Caller};
pub use roots::root::{lower, lower_filter, lower_nodes, lower_permitted};
pub use roots::similar::{SimilarTo, lower_reference};
pub use shape::{
    AggregateOp, AggregateShape, EntityPosition, Key, Leaf, Lowered, ObjectShape, ResolvedRemotely,
    RootShape, ValueSource,
};

pub(crate) use conditions::filter::has_type;
pub(crate) use roots::block::node_block;
pub(crate) use target::plan_field;
