//! The forms in which an answer is read: text, tables, and rows of the caller's types.

pub(super) mod text;
pub(super) mod table;
pub(super) mod rows;
