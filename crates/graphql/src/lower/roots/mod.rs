//! Lowers root fields: one file for each kind.

pub(super) mod block;
pub(super) mod entities;
pub(super) mod similar;
pub(super) mod root;
