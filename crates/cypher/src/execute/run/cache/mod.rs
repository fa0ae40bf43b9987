//! What a run uses again: the results of subqueries and calls, and sorted relationships.

mod memo;
mod sorted_neighbours;

pub(super) use memo::{CallCache, Memos, ReservedRows, is_exact};
pub(super) use sorted_neighbours::{CachedRange, Neighbour, RangeCache, SortedNeighbours};
