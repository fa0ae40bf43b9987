//! Trees as text: canonical, with as few brackets as the grammar needs. Parsing it gives the same
//! tree.

mod names;
mod expressions;
mod patterns;
mod queries;

pub(crate) use names::{Quoted, Text};
