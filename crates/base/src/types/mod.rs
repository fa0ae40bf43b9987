//! The words that every layer speaks: uids, values, errors. Depends on nothing of ours.

mod forms;
mod work;
#[cfg(test)]
mod convert_conformance;
mod values;
mod error;
mod features;
pub mod fields;
mod byte_order_mark;
mod nearest;
mod objects;
mod sink;
mod quoted_text;

pub use work::{parallel, pool, stack, sync};

pub use crate::compat::go_numbers::{float_text, write_float, write_float32, write_int};
pub use crate::compat::go_quotes::quote;
pub use byte_order_mark::{BYTE_ORDER_MARK, without_mark};
pub use error::{AccessError, Error, Position, Result};
pub use features::{Feature, MissingFeature};
pub use forms::bigfloat::{BigFloat, BigFloatError, BigFloatFault};
pub use forms::convert::ConvertError;
pub use forms::json_reader::{JsonError, JsonReader};
pub use forms::loss::Loss;
pub use forms::parse::{ParseError, parse_bool, parse_float, parse_vector};
pub use nearest::{did_you_mean, did_you_mean_one_of, near_names, nearest};
pub use objects::{ObjectCells, ObjectLists, Objects};
pub use quoted_text::{MESSAGE_LEN_MAX, bounded, shown};
pub use sink::{FragmentSink, ShowValues, Sink};
pub use values::datetime::{DateTime, TimeError};
pub use values::geo::{Coordinate, Geometry, GeometryError};
pub use values::password::HASH_OF_NOBODY;
pub use values::password_error::PasswordError;
pub use values::uid::{Uid, UidText};
pub use values::value::{Content, Value, ValueRef, ValueType};
pub use values::value_bytes::{ordered_bits, ordered_prefix};
pub use work::arrivals::{Arrivals, position_of};
pub use work::check::{Check, endless};
pub use work::generation_cache::GenerationCache;
pub use work::held::{LockGuard, holds_lock};
pub use work::priority::lower_priority;
pub use work::waiting::{before_waiting, with_notice};
