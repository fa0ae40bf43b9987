//! Columns of values and edges, in heap or mapped.

pub(super) mod array;
pub(super) mod text_array;
pub(super) mod offsets;
pub(super) mod values_pack;
pub(super) mod values;
pub(super) mod node_values;
pub(super) mod column;
pub(super) mod edges;
