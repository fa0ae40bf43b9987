//! How alike nodes are by the nodes that they lead to.

pub(super) mod measure;
pub(super) mod pairs;
pub(super) mod top;
