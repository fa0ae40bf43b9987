//! Algorithms on graphs: what `hexgraph.algo`, `db.edges`, `db.matrix` and `hexgraph.networkx` need
//! of the native half.

mod asked;
pub(super) mod tables;
pub(super) mod compact;
