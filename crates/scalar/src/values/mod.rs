//! What a row holds: a value of one of 17 kinds, and the text of each.

mod duration;
mod point;
mod graph;
mod offset_time;
mod value;
mod text;

pub use duration::Duration;
pub(crate) use duration::{NANOS_PER_SECOND, SECONDS_PER_DAY, SECONDS_PER_MONTH};
pub use graph::{Path, Relationship};
pub use offset_time::OffsetTime;
pub(crate) use offset_time::nanos_of_day;
pub use point::{Point, Srid};
pub(crate) use text::{shortened, write_offset};
pub use value::{Kind, List, Map, NESTING_MAX, Value};
