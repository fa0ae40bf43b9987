//! The definitions of a text as they are written, with their places.

pub(super) mod raw;
pub(super) mod comments;
pub(super) mod value;
pub(super) mod draft;
