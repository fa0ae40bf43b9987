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

impl Effect {
    /// The effect as a label of metrics.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Effect::Reads => "read",
            Effect::Changes => "write",
            Effect::AsTextSays => "read_or_write",
        }
    }
}
