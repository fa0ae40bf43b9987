//! Graphs that are drawn: by rules, and as pictures.

pub(super) mod generate;
pub(super) mod layout;
