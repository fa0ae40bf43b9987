//! Definitions before they are text, and how they are printed.

pub(super) mod tree;
pub(super) mod print;
pub(super) mod builtins;
