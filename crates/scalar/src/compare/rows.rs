//! Equivalence and orderability, as `==`, hash and order of [`Value`].

use super::numbers::{compare_int_float, hash_float, order_floats};
use crate::values::{Kind, Map, Value};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Node(one), Value::Node(other)) => one == other,
            (Value::String(one), Value::String(other)) => one == other,
            _ => self.cmp(other).is_eq(),
        }
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        let last = Ordering::Greater;
        match (self, other) {
            (Value::Null, Value::Null) => Ordering::Equal,
            (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
            (Value::Int(one), Value::Int(other)) => one.cmp(other),
            (Value::Float(one), Value::Float(other)) => order_floats(*one, *other),
            (Value::Int(one), Value::Float(other)) => {
                compare_int_float(*one, *other).unwrap_or(last.reverse())
            }
            (Value::Float(one), Value::Int(other)) => {
                compare_int_float(*other, *one).map_or(last, Ordering::reverse)
            }
            (Value::String(one), Value::String(other)) => one.cmp(other),
            (Value::List(one), Value::List(other)) => one.iter().cmp(other.iter()),
            (Value::Map(one), Value::Map(other)) => order_maps(one, other),
            (Value::Date(one), Value::Date(other)) => one.cmp(other),
            (Value::LocalTime(one), Value::LocalTime(other)) => one.cmp(other),
            (Value::Time(one), Value::Time(other)) => one.cmp(other),
            (Value::LocalDateTime(one), Value::LocalDateTime(other)) => one.cmp(other),
            (Value::DateTime(one), Value::DateTime(other)) => one.cmp(other),
            (Value::Duration(one), Value::Duration(other)) => one.cmp(other),
            (Value::Point(one), Value::Point(other)) => one.cmp(other),
            (Value::Node(one), Value::Node(other)) => one.cmp(other),
            (Value::Relationship(one), Value::Relationship(other)) => one.cmp(other),
            (Value::Path(one), Value::Path(other)) => one.cmp(other),
            _ => self.kind().cmp(&other.kind()),
        }
    }
}

/// By size, then by keys, then by values.
fn order_maps(one: &Map, other: &Map) -> Ordering {
    let (one, other) = (one.entries(), other.entries());
    let keys = || one.iter().map(|(key, _)| key).cmp(other.iter().map(|(key, _)| key));
    let values = || one.iter().map(|(_, value)| value).cmp(other.iter().map(|(_, value)| value));
    one.len().cmp(&other.len()).then_with(keys).then_with(values)
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Integers and floats may be equal, so they are one kind here.
        let kind = self.kind();
        (if kind == Kind::Float { Kind::Int } else { kind }).hash(state);
        match self {
            Value::Null => {}
            Value::Bool(value) => value.hash(state),
            Value::Int(value) => value.hash(state),
            Value::Float(value) => hash_float(*value, state),
            Value::String(value) => value.hash(state),
            Value::List(items) => items.hash(state),
            Value::Map(map) => map.entries().hash(state),
            Value::Date(value) => value.hash(state),
            Value::LocalTime(value) => value.hash(state),
            Value::Time(value) => value.hash(state),
            Value::LocalDateTime(value) => value.hash(state),
            Value::DateTime(value) => value.timestamp().hash(state),
            Value::Duration(value) => value.hash(state),
            Value::Point(value) => value.hash(state),
            Value::Node(uid) => uid.hash(state),
            Value::Relationship(value) => value.hash(state),
            Value::Path(value) => value.hash(state),
        }
    }
}
