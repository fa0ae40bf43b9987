//! What the tests of several files of the executor use.

pub(in crate::exec) mod random_graph;
