//! Blocks, the fields in them, and what may follow either.

pub(super) mod block;
pub(super) mod fields;
pub(super) mod field;
pub(super) mod modifiers;
pub(super) mod paging;
pub(super) mod condition;
pub(super) mod duplicates;
