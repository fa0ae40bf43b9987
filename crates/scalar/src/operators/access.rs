//! Steps into a value: `list[1]`, `list[1..3]`, `map.key`, `date.year`, `IN`.

use crate::compare::equals;
use crate::context::Context;
use crate::error::{Result, ScalarError};
use crate::temporal::component;
use crate::values::{List, Point, Value};

/// Evaluates `item IN list`: null where the list is null, or has null and no equal element.
///
/// # Errors
///
/// [`Fault::Type`](crate::Fault::Type) when `list` is no list.
pub fn contains(list: &Value, item: &Value) -> Result<Option<bool>> {
    let items = match list {
        Value::Null => return Ok(None),
        Value::List(items) => items,
        other => {
            return Err(ScalarError::kind(
                format!("IN needs a LIST on its right, and this is {}", other.kind().described()),
                "write the values in brackets: [1, 2]",
            ));
        }
    };
    let mut result = Some(false);
    for other in items.iter() {
        match equals(item, other) {
            Some(true) => return Ok(Some(true)),
            Some(false) => {}
            None => result = None,
        }
    }
    Ok(result)
}

/// Evaluates `container[key]`: an element of a list, from its end where the index is below 0, or a
/// value of a map. Null where there is none.
///
/// ```
/// use hexgraph_scalar::{Value, subscript};
///
/// let list = Value::list(vec![Value::from("a"), Value::from("b")])?;
/// assert_eq!(subscript(&list, &Value::Int(-1))?, Value::from("b"));
/// assert_eq!(subscript(&list, &Value::Int(2))?, Value::Null);
/// # Ok::<(), Box<hexgraph_scalar::ScalarError>>(())
/// ```
///
/// # Errors
///
/// [`Fault::Type`](crate::Fault::Type) when a list is not indexed by an integer, a map not by a
/// string, or the value is neither.
pub fn subscript(container: &Value, key: &Value) -> Result<Value> {
    match (container, key) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::List(_) | Value::Map(_), Value::Null) => Ok(Value::Null),
        (Value::List(items), Value::Int(index)) => {
            let index = if *index < 0 { *index + items.len() as i64 } else { *index };
            let item = usize::try_from(index).ok().and_then(|index| items.get(index));
            Ok(item.cloned().unwrap_or(Value::Null))
        }
        (Value::Map(map), Value::String(key)) => Ok(map.get(key).cloned().unwrap_or(Value::Null)),
        (Value::List(_), other) => Err(ScalarError::kind(
            format!("a LIST is indexed by an INTEGER, and this is {}", other.kind().described()),
            "convert the index by toInteger()",
        )),
        (Value::Map(_), other) => Err(ScalarError::kind(
            format!("a MAP is indexed by a STRING, and this is {}", other.kind().described()),
            "convert the key by toString()",
        )),
        (other, _) => Err(ScalarError::kind(
            format!("{} has no elements", other.kind().described()),
            "index a LIST by a position, or a MAP by a key",
        )),
    }
}

/// Evaluates `list[from..to]`; `None` is a bound that is not written. Null where the list or a
/// bound is null.
///
/// # Errors
///
/// [`Fault::Type`](crate::Fault::Type) when the value is no list, or a bound no integer.
pub fn slice(
    list: &Value,
    from: Option<&Value>,
    to: Option<&Value>,
    context: &Context,
) -> Result<Value> {
    let items = match list {
        Value::Null => return Ok(Value::Null),
        Value::List(items) => items,
        other => {
            return Err(ScalarError::kind(
                format!("{} has no range of elements", other.kind().described()),
                "a range [from..to] is of a LIST; use substring() for a STRING",
            ));
        }
    };
    let length = items.len() as i64;
    let bound = |bound: Option<&Value>, otherwise: i64| match bound {
        None => Ok(Some(otherwise)),
        Some(Value::Null) => Ok(None),
        Some(Value::Int(index)) => {
            let index = if *index < 0 { index.saturating_add(length) } else { *index };
            Ok(Some(index.clamp(0, length)))
        }
        Some(other) => Err(ScalarError::kind(
            format!("a bound of a range is an INTEGER, and this is {}", other.kind().described()),
            "convert it by toInteger()",
        )),
    };
    let (Some(from), Some(to)) = (bound(from, 0)?, bound(to, length)?) else {
        return Ok(Value::Null);
    };
    let part = items.get(from as usize..to as usize).unwrap_or_default();
    context.admit(size_of_val(part) as u128, "a range of a list")?;
    List::new(part.to_vec()).map(Value::List)
}

/// Evaluates `value.name` for maps, temporal values, durations and points. Properties of nodes and
/// relationships are the executor's.
///
/// ```
/// use hexgraph_scalar::{Value, property};
/// use jiff::civil::date;
///
/// let day = Value::Date(date(1984, 10, 11));
/// assert_eq!(property(&day, "quarter")?, Value::Int(4));
/// # Ok::<(), Box<hexgraph_scalar::ScalarError>>(())
/// ```
///
/// # Errors
///
/// [`Fault::Type`](crate::Fault::Type) when values of the kind have no properties, or none of that
/// name.
pub fn property(value: &Value, name: &str) -> Result<Value> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Map(map) => Ok(map.get(name).cloned().unwrap_or(Value::Null)),
        Value::Point(point) => coordinate(point, name),
        other => component(other, name),
    }
}

fn coordinate(point: &Point, name: &str) -> Result<Value> {
    let (srid, coordinates) = (point.srid(), point.coordinates());
    let index = match (name, srid.is_geographic()) {
        ("x", _) | ("longitude", true) => 0,
        ("y", _) | ("latitude", true) => 1,
        ("z", _) | ("height", true) => 2,
        ("crs", _) => return Ok(Value::from(srid.name())),
        ("srid", _) => return Ok(Value::Int(srid as i64)),
        _ => usize::MAX,
    };
    let value = coordinates.get(index).ok_or_else(|| {
        ScalarError::kind(
            format!("a point of `{}` has no `{name}`", srid.name()),
            "it has x, y, z with three dimensions, crs and srid, and on the earth longitude, latitude and height",
        )
    })?;
    Ok(Value::Float(*value))
}
