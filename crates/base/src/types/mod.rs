//! The words that every layer speaks: uids, values, errors. Depends on nothing of ours.

mod bigfloat;
mod check;
#[cfg(test)]
mod conformance;
mod convert;
mod datetime;
mod datetime_text;
mod encoding;
mod error;
pub mod fields;
mod geo;
mod json_reader;
mod nearest;
mod number;
pub mod parallel;
mod parse;
mod password;
mod sink;
pub mod stack;
pub mod sync;
mod text;
mod uid;
mod value;
mod wkb;

pub use bigfloat::BigFloat;
pub use check::{Check, endless};
pub use datetime::DateTime;
pub use error::{Error, Position, Result};
pub use geo::{Coordinate, Geometry};
pub use json_reader::JsonReader;
pub use nearest::{did_you_mean, nearest};
pub use number::{float_text, ordered_bits, write_float, write_float32, write_int};
pub(crate) use parse::parse_float;
pub use parse::{parse_bool, parse_vector};
pub use sink::Sink;
pub use text::{quote, shown};
pub use uid::Uid;
pub use value::{Value, ValueRef, ValueType};
