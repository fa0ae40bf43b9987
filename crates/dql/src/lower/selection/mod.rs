//! Lowers blocks, the fields in them, and the arguments and directives of both.

pub(super) mod aggregate;
pub(super) mod algorithm;
pub(super) mod block;
pub(super) mod fields;
pub(super) mod field;
pub(super) mod modifiers;
pub(super) mod paging;
pub(super) mod condition;

pub(crate) use block::KEYS;
