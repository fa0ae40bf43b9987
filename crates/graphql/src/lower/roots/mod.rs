//! Root fields, kind by kind.

pub(super) mod root;
pub(super) mod aggregate;
pub(super) mod entities;
pub(super) mod similar;
