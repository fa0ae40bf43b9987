//! Request texts → operations ready to be carried out: parsed, checked, flattened, with their variables.

mod fault;
mod resolved;
mod limits;
mod document;
mod lexer;
mod parser;

pub use fault::{Fault, Location, PathStep};
pub use limits::Limits;
pub use resolved::{
    Arguments, Branch, Cascade, Field, FieldShape, Operation, OperationKind, Selection, Value,
};
