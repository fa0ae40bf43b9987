//! Writes rows a column at a time: entire tables, and objects for a sink that takes some at once.
//!
//! What qualifies is decided by [`source`] field by field; where one field does not, all are
//! written object by object, as `output` does. Both give the same.

mod source;
mod texts;
mod checked_texts;
mod fill;
mod gather;
mod selection;
pub(in crate::exec) mod names;
pub(in crate::exec) mod rows;
pub(in crate::exec) mod table;

pub(in crate::exec) use selection::Selection;
