//! Sets of nodes.

pub(super) mod bitmap;
pub(super) mod node_set;
pub(super) mod overlay;
