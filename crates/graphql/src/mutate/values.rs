//! Makes the objects of statements from values of inputs.

use serde_json::{Value as Json, json};
use std::borrow::Cow;

use crate::model::{Field, Language};
use crate::mutate::inputs::{entries, given};
use crate::request::Value;
use hexgraph_base::formats::{NQuad, Object, Predicate, Subject};
use hexgraph_base::types;
use hexgraph_base::types::{Position, ValueType};

/// Makes a statement about a predicate.
pub(super) fn statement<'a>(
    subject: Subject<'a>,
    predicate: &'a str,
    object: Object<'a>,
) -> NQuad<'a> {
    NQuad {
        subject,
        predicate: Predicate::Name(predicate),
        lang: "",
        object,
        facets: Vec::new(),
        in_list: None,
        at: Position::default(),
    }
}

/// Makes the statements that a field of a node has this value: one for each element of a list, and
/// none when the field is not stored.
pub(super) fn value_statements<'a>(
    subject: Subject<'a>,
    field: &'a Field,
    is_geo: bool,
    value: &'a Value,
) -> Vec<NQuad<'a>> {
    let Some(predicate) = &field.predicate else { return Vec::new() };
    let lang = language(field);
    let statement = |object| NQuad { lang, ..statement(subject, &predicate.name, object) };
    match value {
        Value::Null => Vec::new(),
        // A vector is one value, whatever its length.
        Value::List(values) if field.embedding => vec![statement(vector(values))],
        Value::List(values) => {
            let values = values.iter().filter(|value| **value != Value::Null);
            values.map(|value| statement(object_of(value, is_geo))).collect()
        }
        _ => vec![statement(object_of(value, is_geo))],
    }
}

/// Returns the language of a field's values; empty for none.
pub(super) fn language(field: &Field) -> &str {
    match field.predicate.as_ref().map(|predicate| &predicate.language) {
        Some(Language::Tagged(lang)) => lang,
        _ => "",
    }
}

/// Makes the object of a statement from a text, which the store converts to the type of the
/// predicate.
pub(super) fn text(text: &str) -> Object<'_> {
    Object::Literal { text: Cow::Borrowed(text), value_type: ValueType::Default }
}

/// Makes the object of a statement from a scalar, or from a position.
fn object_of(value: &Value, is_geo: bool) -> Object<'_> {
    match value {
        Value::String(content) => text(content),
        Value::Enum(name) => text(name),
        Value::Int(number) => Object::Value(types::Value::Int(*number)),
        Value::Float(number) => Object::Value(types::Value::Float(*number)),
        Value::Boolean(value) => Object::Value(types::Value::Bool(*value)),
        Value::Object(_) if is_geo => Object::Literal {
            text: Cow::Owned(geometry(value).to_string()),
            value_type: ValueType::Default,
        },
        Value::Null | Value::List(_) | Value::Object(_) => text(""),
    }
}

/// Makes a vector. One with a number that 32 bits can't hold stays text, which the store refuses
/// with its message.
fn vector<'a>(values: &[Value]) -> Object<'a> {
    let number = |value: &Value| match value {
        Value::Float(number) => *number,
        Value::Int(number) => *number as f64,
        _ => 0.0,
    };
    let numbers: Vec<f64> = values.iter().map(number).collect();
    let elements: Vec<f32> = numbers.iter().map(|number| *number as f32).collect();
    if elements.iter().all(|element| element.is_finite()) {
        return Object::Value(types::Value::Vector(elements));
    }
    Object::Literal { text: Cow::Owned(format!("{numbers:?}")), value_type: ValueType::Default }
}

/// Converts a `PointRef`, `PolygonRef` or `MultiPolygonRef` to GeoJSON.
fn geometry(value: &Value) -> Json {
    let given = |key| given(entries(value), key);
    if given("polygons").is_some() {
        let polygons = elements(value, "polygons").iter().map(rings).collect::<Vec<_>>();
        json!({"type": "MultiPolygon", "coordinates": polygons})
    } else if given("coordinates").is_some() {
        json!({"type": "Polygon", "coordinates": rings(value)})
    } else {
        json!({"type": "Point", "coordinates": position(value)})
    }
}

/// The coordinates of a polygon: a list of rings.
fn rings(polygon: &Value) -> Json {
    let ring = |ring| elements(ring, "points").iter().map(position).collect::<Json>();
    elements(polygon, "coordinates").iter().map(ring).collect()
}

/// The coordinates of a point: longitude, then latitude (RFC 7946, section 3.1.1).
fn position(point: &Value) -> Json {
    let number = |key| match point.get(key) {
        Some(Value::Float(number)) => *number,
        Some(Value::Int(number)) => *number as f64,
        _ => 0.0,
    };
    json!([number("longitude"), number("latitude")])
}

fn elements<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_list).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use apollo_compiler::Name;

    fn object(pairs: Vec<(&str, Value)>) -> Value {
        let pair = |(key, value)| (Name::new_unchecked(key), value);
        Value::Object(pairs.into_iter().map(pair).collect())
    }

    fn point(longitude: f64, latitude: f64) -> Value {
        object(vec![("longitude", Value::Float(longitude)), ("latitude", Value::Float(latitude))])
    }

    #[test]
    fn geometries_are_geojson() {
        let ring = object(vec![("points", Value::List(vec![point(1.5, 2.0), point(3.0, 4.0)]))]);
        let polygon = object(vec![("coordinates", Value::List(vec![ring]))]);
        let polygons = object(vec![("polygons", Value::List(vec![polygon.clone()]))]);
        let text = |value: &Value| geometry(value).to_string();
        assert_eq!(text(&point(1.5, 2.0)), r#"{"coordinates":[1.5,2.0],"type":"Point"}"#);
        assert_eq!(text(&polygon), r#"{"coordinates":[[[1.5,2.0],[3.0,4.0]]],"type":"Polygon"}"#);
        assert_eq!(
            text(&polygons),
            r#"{"coordinates":[[[[1.5,2.0],[3.0,4.0]]]],"type":"MultiPolygon"}"#
        );
    }
}
