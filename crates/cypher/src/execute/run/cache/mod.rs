//! What a run uses again: the results of subqueries and calls, and sorted relationships, and the nodes
//! of a walk.

mod memo;
mod sorted_neighbours;
mod visited_nodes;

pub(super) use memo::{CallCache, Memos, ReservedRows, is_exact};
pub(super) use sorted_neighbours::{CachedRange, Neighbour, RangeCache, SortedNeighbours};
pub(super) use visited_nodes::VisitedNodes;
