//! The core of a pattern: what remains when its leaves are eliminated.

mod marks;
mod contract;
mod triangles;
mod enumerate;

pub(super) use contract::{CoreShape, function_of};
pub(super) use enumerate::Bindings;
pub(super) use triangles::triangle_of;
