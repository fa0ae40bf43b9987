//! Requests: a text is parsed, validated against the generated API, and resolved to the operation
//! that is to be executed, with its variables.

mod resolved;
mod limits;
mod grammar;
mod rules;
mod variables;
mod plan;
mod flatten;
mod checked;
mod cache;
mod introspect;

#[cfg(test)]
mod tests;

pub use crate::syntax::{GraphqlError, PathStep, Position};
pub use cache::Requests;
pub use checked::{Request, no_query};
pub use introspect::introspect;
pub use limits::RequestLimits;
pub(crate) use resolved::Branch;
pub use resolved::{
    Arguments, Cascade, Field, FieldShape, Operation, OperationKind, Selection, Value,
};
