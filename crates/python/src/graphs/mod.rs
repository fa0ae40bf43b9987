//! Graphs that are loaded completely.

pub(super) mod load;
