//! The functions, in one table: a row has the name as it is written in Cypher, how many arguments
//! there are, what evaluates it, and what it does.

mod call;
mod strings;
mod numbers;
mod conversions;
mod lists;
mod temporals;
mod points;
mod entities;
mod table;

pub use call::{Call, Evaluation, Function};
pub use table::{FUNCTIONS, function};
