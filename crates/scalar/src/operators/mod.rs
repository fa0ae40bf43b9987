//! The operators, apart from comparisons.

mod logic;
mod arithmetic;
mod texts;
mod access;

pub use access::{contains, property, slice, subscript};
pub use arithmetic::{Arithmetic, arithmetic, negate};
pub use logic::{and, or, truth, xor};
pub use texts::{TextTest, matches, text_test};
