//! Graphs by rules, and layouts of graphs.

pub(super) mod generate;
pub(super) mod layout;
