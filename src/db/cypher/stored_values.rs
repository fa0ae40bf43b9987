//! Stored values as values of Cypher.

use hexgraph_base::types::{DateTime, Error, Result, Value as Stored, ValueRef, ValueType};
use hexgraph_scalar::{Map, Point, Srid, Value};
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use serde_json::Value as Json;

/// A stored value as one of Cypher. A value that the type of its predicate cannot hold is null, as
/// it is missing in every other language; so is a password.
pub(super) fn to_cypher(value: ValueRef<'_>, value_type: ValueType) -> Result<Value> {
    if value.value_type() == value_type || value_type == ValueType::Default {
        return converted(value);
    }
    match value.convert(value_type) {
        Ok(other) => converted(other.as_ref()),
        Err(_) => Ok(Value::Null),
    }
}

fn converted(value: ValueRef<'_>) -> Result<Value> {
    Ok(match value {
        ValueRef::Default(text) | ValueRef::String(text) => Value::from(text),
        ValueRef::Int(number) => Value::Int(number),
        ValueRef::Float(number) => Value::Float(number),
        ValueRef::Bool(truth) => Value::Bool(truth),
        ValueRef::DateTime(time) => zoned(time)?,
        ValueRef::Geo(text) => geometry(text)?,
        ValueRef::Password(_) => Value::Null,
        // Fifteen digits of it, as every float has.
        ValueRef::BigFloat(text) => text.parse().map_or(Value::Null, Value::Float),
        ValueRef::Vector(numbers) => {
            Value::list(numbers.iter().map(|&number| Value::Float(f64::from(number))).collect())?
        }
        ValueRef::Binary(_) => match value.convert(ValueType::String) {
            Ok(Stored::String(text)) => Value::from(&*text),
            _ => Value::Null,
        },
    })
}

fn zoned(time: DateTime) -> Result<Value> {
    let offset = Offset::from_seconds(i32::from(time.offset_minutes) * 60);
    let instant = Timestamp::new(time.seconds, time.nanos as i32);
    match (instant, offset) {
        (Ok(instant), Ok(offset)) => Ok(Value::from(instant.to_zoned(TimeZone::fixed(offset)))),
        _ => Err(Error::query(
            "a stored datetime is beyond the years that Cypher has, -9999 to 9999".to_owned(),
        )),
    }
}

/// A point, or the map of another geometry.
fn geometry(text: &str) -> Result<Value> {
    let Ok(json) = serde_json::from_str::<Json>(text) else { return Ok(Value::Null) };
    if json["type"] == "Point"
        && let Some([longitude, latitude]) = json["coordinates"].as_array().map(Vec::as_slice)
        && let (Some(longitude), Some(latitude)) = (longitude.as_f64(), latitude.as_f64())
    {
        return Ok(Value::from(Point::new(Srid::Wgs84, [longitude, latitude, 0.0])));
    }
    from_json(&json)
}

/// A value of JSON as one of Cypher.
fn from_json(json: &Json) -> Result<Value> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Value::Int(number),
            (None, Some(number)) => Value::Float(number),
            (None, None) => Value::Null,
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(from_json).collect::<Result<_>>()?)?,
        Json::Object(members) => {
            let entry =
                |(key, value): (&String, &Json)| Ok((key.as_str().into(), from_json(value)?));
            Value::Map(Map::new(members.iter().map(entry).collect::<Result<_>>()?)?)
        }
    })
}
