//! What learning on graphs is fed with: samples of neighbours, random walks, and vectors of nodes.

pub(super) mod choice;
pub(super) mod sample;
pub(super) mod walks;
pub(super) mod fastrp;
