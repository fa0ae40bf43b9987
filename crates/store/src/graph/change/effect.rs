//! What a request changed in effect, apart from what it requested.

use std::ops::AddAssign;

/// How many values and edges a request has set and deleted in effect.
///
/// A value or an edge counts as set if it is new, different, or set with facets. It counts as
/// deleted if it existed. The replacement of a value or edge of the same node counts only as set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effect {
    /// The values that were set.
    pub values_set: u64,
    /// The edges that were set.
    pub edges_set: u64,
    /// The values that were deleted.
    pub values_deleted: u64,
    /// The edges that were deleted.
    pub edges_deleted: u64,
}

impl AddAssign for Effect {
    fn add_assign(&mut self, more: Effect) {
        self.values_set += more.values_set;
        self.edges_set += more.edges_set;
        self.values_deleted += more.values_deleted;
        self.edges_deleted += more.edges_deleted;
    }
}
