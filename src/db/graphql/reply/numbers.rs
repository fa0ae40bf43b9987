//! Aggregates over nodes whose values were fetched.

use super::leaf::{Misfit, write_leaf};
use hexgraph_base::answer::write_json_text;
use hexgraph_base::plan::FieldKind;
use hexgraph_base::types::{Value, ValueRef, write_int};
use hexgraph_graphql::lower::{AggregateOp, AggregateShape, Leaf};
use hexgraph_graphql::request::Field;
use hexgraph_store::exec::{FieldData, Level, Sum, first_value};
use std::cmp::Ordering;

/// Writes the object of an aggregate. Numbers that don't fit their type are null; the fields and what is wrong are returned.
pub(super) fn write_aggregate<'a>(
    type_name: &str,
    shape: &AggregateShape<'a>,
    level: &Level,
    nodes: &[u32],
    count: usize,
    out: &mut Vec<u8>,
) -> Vec<(&'a Field, String)> {
    let mut told = Vec::new();
    out.push(b'{');
    for (index, key) in shape.keys.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let field = key.field;
        write_json_text(&field.shape.key, out);
        out.push(b':');
        if shape.is_hidden && !matches!(key.op, AggregateOp::TypeName) {
            out.extend_from_slice(b"null");
            continue;
        }
        let value = match key.op {
            AggregateOp::TypeName => {
                write_json_text(type_name, out);
                continue;
            }
            AggregateOp::Count => {
                write_int(count as i64, out);
                continue;
            }
            AggregateOp::Min(at) => extreme(level, at, nodes, Ordering::Less),
            AggregateOp::Max(at) => extreme(level, at, nodes, Ordering::Greater),
            AggregateOp::Sum(at) => match sum(level, at, nodes).map(Sum::value).transpose() {
                Ok(sum) => sum,
                Err(error) => {
                    out.extend_from_slice(b"null");
                    told.push((field, error.to_string()));
                    continue;
                }
            },
            AggregateOp::Avg(at) => sum(level, at, nodes).and_then(Sum::mean),
        };
        let leaf = leaf_of(field.shape.ty.inner_named_type());
        match value {
            None => out.extend_from_slice(b"null"),
            Some(value) => {
                if let Err(Misfit(shown)) = write_leaf(value.as_ref(), leaf, out) {
                    out.extend_from_slice(b"null");
                    let (name, ty) = (&field.shape.name, &field.shape.ty);
                    let message =
                        format!("Error coercing value '{shown}' for field '{name}' to type {ty}.");
                    told.push((field, message));
                }
            }
        }
    }
    out.push(b'}');
    told
}

/// The scalar of an aggregate. A sum of `Int` is any whole number, as in the reference.
fn leaf_of(scalar: &str) -> Leaf<'static> {
    match scalar {
        "Int" | "Int64" => Leaf::Int64,
        "Float" => Leaf::Float,
        "DateTime" => Leaf::DateTime,
        _ => Leaf::Text,
    }
}

/// Returns the values that the nodes have in the field with the index `at` of a level. Nodes without a value are left
/// out.
fn values(level: &Level, at: usize, nodes: &[u32]) -> impl Iterator<Item = Value> {
    let result = level.fields.get(at);
    let found = result.and_then(|result| match (&result.data, &result.field.kind) {
        (FieldData::Values(values), FieldKind::Predicate { langs, .. }) => Some((values, langs)),
        _ => None,
    });
    found.into_iter().flat_map(move |(values, langs)| {
        nodes.iter().filter_map(move |&node| first_value(&values.predicate, langs, node))
    })
}

fn extreme(level: &Level, at: usize, nodes: &[u32], wanted: Ordering) -> Option<Value> {
    let better = |best: &Value, other: &Value| compare(other.as_ref(), best.as_ref()) == wanted;
    values(level, at, nodes).reduce(|best, other| if better(&best, &other) { other } else { best })
}

/// Compares two values: texts by their bytes, all others by their value.
fn compare(one: ValueRef<'_>, other: ValueRef<'_>) -> Ordering {
    match (one, other) {
        (
            ValueRef::String(one) | ValueRef::Default(one),
            ValueRef::String(other) | ValueRef::Default(other),
        ) => one.cmp(other),
        _ => one.compare(other).unwrap_or(Ordering::Equal),
    }
}

/// Returns the sum of the numbers.
fn sum(level: &Level, at: usize, nodes: &[u32]) -> Option<Sum> {
    let is_number = |value: &Value| matches!(value, Value::Int(_) | Value::Float(_));
    let numbers: Vec<Value> = values(level, at, nodes).filter(is_number).collect();
    Sum::over(numbers.iter().map(Value::as_ref))
}
