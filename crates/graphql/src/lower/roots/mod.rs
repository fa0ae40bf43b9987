//! Root fields, kind by kind.

pub(super) mod block;
pub(super) mod entities;
pub(super) mod similar;
pub(super) mod root;
