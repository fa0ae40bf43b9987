//! What a row holds: a value of one of 17 kinds, and the text of each.

mod duration;
mod point;
mod graph;
mod offset_time;
mod list;
mod map;
mod value;
mod text;

pub use duration::Duration;
pub use graph::{Path, Relationship};
pub use list::{List, NESTING_MAX};
pub use map::Map;
pub use offset_time::OffsetTime;
pub use point::{Point, Srid};
pub use value::{Kind, Value};
