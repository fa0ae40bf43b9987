//! The bounds of a request: the number of its statements, and their memory.

use hexgraph_base::types::{Error, Result};

/// The most statements that a request may have.
pub const STATEMENTS_MAX: usize = 1_000_000;

/// Called before an allocation with its bytes; refuses it without enough memory.
pub(in crate::graph) type Charge<'a> = &'a dyn Fn(usize) -> Result<()>;

/// The error for a request of `count` statements, which are too many.
pub(super) fn too_many(count: usize) -> Error {
    Error::Limit {
        message: format!(
            "the request has {count} statements, at most {STATEMENTS_MAX} are executed at once: split it, or load a file"
        ),
    }
}

/// The error for a request that is not read to its end, since it has too many statements.
pub(super) fn more_than_most() -> Error {
    Error::Limit {
        message: format!(
            "the request has more than {STATEMENTS_MAX} statements, which is the most that are executed at once: split it, or load a file"
        ),
    }
}
