//! The numbers of nodes: which node id a uid has, and which uid a new node gets.

pub(in crate::graph) mod node_ids;
pub(in crate::graph) mod uids;
