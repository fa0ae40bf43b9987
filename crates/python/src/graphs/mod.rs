//! Graphs that are loaded as a whole.

pub(super) mod load;
