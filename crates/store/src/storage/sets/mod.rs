//! Sets of nodes.

pub(super) mod bitmap;
mod changed;
pub(super) mod node_set;
mod members_among;
pub(super) mod node_iter;
pub(super) mod sorted;
pub(super) mod span_bits;
mod word_set;
pub(super) mod node_lookup;
