//! Variables: what blocks define and others read.

/// A variable of the request: an index into [`Query::variables`](super::Query::variables).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// What is known of a variable from the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// The name as written.
    pub name: String,
}
