//! Values as text and back, and from one type into another.

pub(super) mod parse;
pub(super) mod bigfloat;
pub(super) mod json_reader;
pub(super) mod convert;
pub(super) mod loss;
