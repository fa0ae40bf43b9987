//! What a run uses again: the results of subqueries and calls, sorted relationships, the nodes with
//! a label, and those of a walk.

mod memo;
mod label_sets;
mod sorted_neighbours;
mod visited_nodes;

pub(in crate::execute) use label_sets::LabelSet;
pub(super) use label_sets::LabelSets;
pub(super) use memo::{CallCache, Memos, ReservedRows, is_exact};
pub(super) use sorted_neighbours::{CachedRange, Neighbour, RangeCache, SortedNeighbours};
pub(in crate::execute) use visited_nodes::VisitedNodes;
