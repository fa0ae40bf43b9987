//! What the tests of several files of the executor share.

pub(in crate::exec) mod random_graph;
