//! Variables of a query. One block defines a variable; other blocks, filters and mutations read it.

/// Identifies a variable of the request: an index into
/// [`Query::variables`](super::Query::variables).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// What the plan knows about a variable. Its value exists only while the query is executed.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// The name as the query writes it, without a prefix.
    pub name: String,
}
