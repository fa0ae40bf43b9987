//! The similarity of nodes by their targets.

pub(super) mod measure;
pub(super) mod pairs;
pub(super) mod top;
