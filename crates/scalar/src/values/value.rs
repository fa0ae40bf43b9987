//! A value and its kind.

mod list;
mod map;

use super::duration::Duration;
use super::graph::{Path, Relationship};
use super::offset_time::OffsetTime;
use super::point::Point;
use crate::error::Result;
use jiff::Zoned;
use jiff::civil::{Date, DateTime, Time};
use std::sync::Arc;

pub use list::{List, NESTING_MAX};
pub use map::Map;

/// A value of an expression. It has 24 bytes; cloning a large one copies a reference.
///
/// The traits of Rust implement the comparison of rows. `Eq` and `Hash` are Cypher's *equivalence*,
/// by which `DISTINCT` and grouping compare: 1 and 1.0, two NaN, and two nulls are equal. `Ord` is
/// its *orderability*, by which `ORDER BY` sorts: it is total, and null is last. Cypher's own `=`
/// and `<`, which may be null, are [`equals`](crate::equals) and [`compare`](crate::compare()).
///
/// ```
/// use hexgraph_scalar::{Value, equals};
///
/// let nan = Value::Float(f64::NAN);
/// assert!(nan == nan.clone() && Value::Int(1) == Value::Float(1.0));
/// assert_eq!(equals(&nan, &nan), Some(false));
///
/// let mut values = [Value::Null, Value::Int(2), Value::from("b"), Value::Bool(true)];
/// values.sort();
/// assert_eq!(values.map(|value| value.to_string()), ["b", "true", "2", "null"]);
/// ```
#[derive(Debug, Clone)]
pub enum Value {
    /// No value.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    String(Arc<str>),
    /// A list.
    List(List),
    /// A map.
    Map(Map),
    /// A day.
    Date(Date),
    /// A time of day without an offset.
    LocalTime(Time),
    /// A time of day with an offset.
    Time(OffsetTime),
    /// A day and a time of day without an offset.
    LocalDateTime(DateTime),
    /// A date and time with an offset, and perhaps with the name of a time zone.
    DateTime(Arc<Zoned>),
    /// A duration.
    Duration(Arc<Duration>),
    /// A point.
    Point(Arc<Point>),
    /// A node, by its uid.
    Node(u64),
    /// A relationship.
    Relationship(Relationship),
    /// A path.
    Path(Arc<Path>),
}

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    // In the order by which `ORDER BY` sorts values of different kinds.
    /// `MAP`.
    Map,
    /// `NODE`.
    Node,
    /// `RELATIONSHIP`.
    Relationship,
    /// `LIST`.
    List,
    /// `PATH`.
    Path,
    /// `POINT`.
    Point,
    /// `ZONED DATETIME`.
    DateTime,
    /// `LOCAL DATETIME`.
    LocalDateTime,
    /// `DATE`.
    Date,
    /// `ZONED TIME`.
    Time,
    /// `LOCAL TIME`.
    LocalTime,
    /// `DURATION`.
    Duration,
    /// `STRING`.
    String,
    /// `BOOLEAN`.
    Bool,
    /// `INTEGER`.
    Int,
    /// `FLOAT`.
    Float,
    /// `NULL`.
    Null,
}

impl Kind {
    /// Returns the name that Cypher has for the kind.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Map => "MAP",
            Kind::Node => "NODE",
            Kind::Relationship => "RELATIONSHIP",
            Kind::List => "LIST",
            Kind::Path => "PATH",
            Kind::Point => "POINT",
            Kind::DateTime => "ZONED DATETIME",
            Kind::LocalDateTime => "LOCAL DATETIME",
            Kind::Date => "DATE",
            Kind::Time => "ZONED TIME",
            Kind::LocalTime => "LOCAL TIME",
            Kind::Duration => "DURATION",
            Kind::String => "STRING",
            Kind::Bool => "BOOLEAN",
            Kind::Int => "INTEGER",
            Kind::Float => "FLOAT",
            Kind::Null => "NULL",
        }
    }

    /// The name with its article, for messages.
    pub(crate) fn described(self) -> String {
        let article = if self == Kind::Int { "an" } else { "a" };
        format!("{article} {}", self.name())
    }
}

impl Value {
    /// Creates a list.
    ///
    /// # Errors
    ///
    /// [`Fault::Limit`](crate::Fault::Limit) when lists and maps are nested deeper than
    /// [`NESTING_MAX`].
    pub fn list(items: Vec<Value>) -> Result<Value> {
        List::new(items).map(Value::List)
    }

    /// Creates a map; if a key occurs twice, its last entry is used.
    ///
    /// # Errors
    ///
    /// [`Fault::Limit`](crate::Fault::Limit) when lists and maps are nested deeper than
    /// [`NESTING_MAX`].
    pub fn map(entries: Vec<(Arc<str>, Value)>) -> Result<Value> {
        Map::new(entries).map(Value::Map)
    }

    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        match self {
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Bool,
            Value::Int(_) => Kind::Int,
            Value::Float(_) => Kind::Float,
            Value::String(_) => Kind::String,
            Value::List(_) => Kind::List,
            Value::Map(_) => Kind::Map,
            Value::Date(_) => Kind::Date,
            Value::LocalTime(_) => Kind::LocalTime,
            Value::Time(_) => Kind::Time,
            Value::LocalDateTime(_) => Kind::LocalDateTime,
            Value::DateTime(_) => Kind::DateTime,
            Value::Duration(_) => Kind::Duration,
            Value::Point(_) => Kind::Point,
            Value::Node(_) => Kind::Node,
            Value::Relationship(_) => Kind::Relationship,
            Value::Path(_) => Kind::Path,
        }
    }

    /// Whether the value is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// How deep lists and maps are nested: 0 for a value that is neither.
    pub(crate) fn depth(&self) -> u8 {
        match self {
            Value::List(list) => list.depth(),
            Value::Map(map) => map.depth(),
            _ => 0,
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<Option<bool>> for Value {
    fn from(value: Option<bool>) -> Value {
        value.map_or(Value::Null, Value::Bool)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::String(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::String(value.into())
    }
}

impl From<Duration> for Value {
    fn from(value: Duration) -> Value {
        Value::Duration(Arc::new(value))
    }
}

impl From<Zoned> for Value {
    fn from(value: Zoned) -> Value {
        Value::DateTime(Arc::new(value))
    }
}

impl From<Point> for Value {
    fn from(value: Point) -> Value {
        Value::Point(Arc::new(value))
    }
}

impl From<Path> for Value {
    fn from(value: Path) -> Value {
        Value::Path(Arc::new(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_24_bytes() {
        assert_eq!(size_of::<Value>(), 24);
    }
}
