//! The definitions of a text as they are written, with their positions, and the draft that the
//! checks work on.

pub(super) mod raw;
pub(super) mod comments;
pub(super) mod value;
pub(super) mod draft;
