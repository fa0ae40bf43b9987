//! [`Effect`]: what requests to a path change.

/// What requests to a path do to data, or to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// They only read.
    Reads,
    /// They change something, by whatever method.
    Changes,
    /// The text says: a query reads, a mutation changes.
    AsTextSays,
}
