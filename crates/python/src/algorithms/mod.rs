//! Algorithms on graphs: what `hexgraph.algo`, `db.edges`, `db.matrix` and `hexgraph.networkx` need
//! of the native half.

mod run_query;
pub(super) mod tables;
pub(super) mod compact;
