//! What a query reads: one version of the graph, with the base and the delta of each predicate as
//! one.

pub(super) mod change_lists;
pub(super) mod delta;
pub(super) mod node_ids;
pub(super) mod uids;
pub(super) mod index_view;
pub(super) mod unions;
pub(super) mod values;
pub(super) mod edges;
pub(super) mod vectors;
pub(super) mod predicate;
pub(super) mod edge_numbers;
pub(super) mod weight;
pub(super) mod graph_version;
pub(super) mod stats;
