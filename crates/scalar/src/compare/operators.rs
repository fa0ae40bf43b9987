//! Cypher's `=` and `<`: true, false, or null where a value is null or two values cannot be
//! compared.

use super::numbers::compare_int_float;
use crate::values::{Map, Value};
use std::cmp::Ordering;

/// Which of the four comparisons by order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
}

impl Comparison {
    /// Whether two values in this order pass.
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// Evaluates `one = other`; `None` is null. Values of different kinds are unequal, numbers are
/// compared by value, and NaN is unequal to everything.
///
/// ```
/// use hexgraph_scalar::{Value, equals};
///
/// let list = |items: &[Value]| Value::list(items.to_vec());
/// assert_eq!(equals(&Value::Int(1), &Value::from("1")), Some(false));
/// let with_null = list(&[Value::Int(1), Value::Null])?;
/// assert_eq!(equals(&with_null, &list(&[Value::Int(1), Value::Int(2)])?), None);
/// assert_eq!(equals(&with_null, &list(&[Value::Int(3), Value::Int(2)])?), Some(false));
/// # Ok::<(), Box<hexgraph_scalar::ScalarError>>(())
/// ```
pub fn equals(one: &Value, other: &Value) -> Option<bool> {
    match (one, other) {
        (Value::Null, _) | (_, Value::Null) => None,
        (Value::Float(one), Value::Float(other)) => Some(one == other),
        (Value::Int(int), Value::Float(float)) | (Value::Float(float), Value::Int(int)) => {
            Some(compare_int_float(*int, *float) == Some(Ordering::Equal))
        }
        (Value::List(one), Value::List(other)) => {
            let pairs = one.iter().zip(other.iter());
            if one.len() == other.len() { all_equal(pairs) } else { Some(false) }
        }
        (Value::Map(one), Value::Map(other)) => maps_equal(one, other),
        _ => Some(one == other),
    }
}

/// False as soon as a pair is unequal, else null where a pair is null.
fn all_equal<'a>(pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Option<bool> {
    let mut result = Some(true);
    for (one, other) in pairs {
        match equals(one, other) {
            Some(false) => return Some(false),
            Some(true) => {}
            None => result = None,
        }
    }
    result
}

fn maps_equal(one: &Map, other: &Map) -> Option<bool> {
    let (one, other) = (one.entries(), other.entries());
    if !one.iter().map(|(key, _)| key).eq(other.iter().map(|(key, _)| key)) {
        return Some(false);
    }
    all_equal(one.iter().zip(other).map(|((_, one), (_, other))| (one, other)))
}

/// Evaluates a comparison by order; `None` is null. Null, values of different kinds, and kinds
/// without an order (maps, durations, points, nodes, relationships, paths) give null; a number and
/// NaN give false.
///
/// ```
/// use hexgraph_scalar::{Comparison, Value, compare};
///
/// let less = |one, other| compare(&one, Comparison::Less, &other);
/// assert_eq!(less(Value::Int(1), Value::Float(1.5)), Some(true));
/// assert_eq!(less(Value::Int(1), Value::Float(f64::NAN)), Some(false));
/// assert_eq!(less(Value::Int(1), Value::from("a")), None);
/// ```
pub fn compare(one: &Value, comparison: Comparison, other: &Value) -> Option<bool> {
    match relation(one, other) {
        Relation::Ordered(order) => Some(comparison.holds(order)),
        Relation::Unordered => Some(false),
        Relation::Null => None,
    }
}

/// How two values stand to each other.
enum Relation {
    Ordered(Ordering),
    /// One is NaN.
    Unordered,
    Null,
}

fn relation(one: &Value, other: &Value) -> Relation {
    let of_floats = |order: Option<Ordering>| order.map_or(Relation::Unordered, Relation::Ordered);
    match (one, other) {
        (Value::Float(one), Value::Float(other)) => of_floats(one.partial_cmp(other)),
        (Value::Int(one), Value::Float(other)) => of_floats(compare_int_float(*one, *other)),
        (Value::Float(one), Value::Int(other)) => {
            of_floats(compare_int_float(*other, *one).map(Ordering::reverse))
        }
        (Value::List(one), Value::List(other)) => {
            for (one, other) in one.iter().zip(other.iter()) {
                match relation(one, other) {
                    Relation::Ordered(Ordering::Equal) => {}
                    decided => return decided,
                }
            }
            Relation::Ordered(one.len().cmp(&other.len()))
        }
        (Value::Bool(_), Value::Bool(_))
        | (Value::Int(_), Value::Int(_))
        | (Value::String(_), Value::String(_))
        | (Value::Date(_), Value::Date(_))
        | (Value::LocalTime(_), Value::LocalTime(_))
        | (Value::Time(_), Value::Time(_))
        | (Value::LocalDateTime(_), Value::LocalDateTime(_))
        | (Value::DateTime(_), Value::DateTime(_)) => Relation::Ordered(one.cmp(other)),
        _ => Relation::Null,
    }
}
