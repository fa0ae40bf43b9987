//! Stored values as scalars of the schema.

use hexgraph_base::answer::write_json_text;
use hexgraph_base::types::{DateTime, Value, ValueRef, ValueType, write_float, write_int};
use hexgraph_graphql::lower::Leaf;
use hexgraph_store::exec::typed;

/// A stored value that does not belong to the scalar type of its field, as messages show it.
#[derive(Debug, PartialEq)]
pub(in crate::db::graphql) struct Mismatch(pub(super) String);

/// Writes a stored value as JSON: as the predicate is typed by now, as DQL reads it, and then as
/// the scalar.
///
/// # Errors
///
/// As [`write_leaf`].
pub(in crate::db::graphql) fn write_stored(
    value: ValueRef<'_>,
    expected: ValueType,
    leaf: Leaf<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Mismatch> {
    if value.value_type() == expected {
        return write_leaf(value, leaf, out);
    }
    let typed = typed(value, expected).map_err(|_| mismatch(value))?;
    write_leaf(typed.as_ref(), leaf, out)
}

fn mismatch(value: ValueRef<'_>) -> Mismatch {
    Mismatch(match value.convert(ValueType::String) {
        Ok(Value::String(text)) => text,
        _ => String::new(),
    })
}

/// Writes a value as JSON.
///
/// # Errors
///
/// When the value is none of the scalar.
pub(super) fn write_leaf(
    value: ValueRef<'_>,
    leaf: Leaf<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Mismatch> {
    match (leaf, value) {
        (Leaf::Text, ValueRef::String(text) | ValueRef::Default(text)) => {
            write_json_text(text, out)
        }
        (Leaf::Int, ValueRef::Int(number)) if i32::try_from(number).is_ok() => {
            write_int(number, out)
        }
        (Leaf::Int64, ValueRef::Int(number)) => write_int(number, out),
        (Leaf::Float, ValueRef::Float(number)) if number.is_finite() => write_float(number, out),
        (Leaf::Float, ValueRef::Int(number)) => write_int(number, out),
        (Leaf::Boolean, ValueRef::Bool(truth)) => {
            out.extend_from_slice(if truth { b"true" } else { b"false" });
        }
        (Leaf::DateTime, ValueRef::DateTime(time)) => write_time(time, out),
        (Leaf::Enum(def), ValueRef::String(text) | ValueRef::Default(text)) => {
            if !def.values.iter().any(|value| value.name == text) {
                return Err(Mismatch(format!("\"{text}\"")));
            }
            write_json_text(text, out);
        }
        _ => return write_converted(value, leaf, out),
    }
    Ok(())
}

/// Converts a value whose type in the store differs from that of the GraphQL schema.
fn write_converted(value: ValueRef<'_>, leaf: Leaf<'_>, out: &mut Vec<u8>) -> Result<(), Mismatch> {
    let expected = match leaf {
        Leaf::Text | Leaf::Enum(_) => ValueType::String,
        Leaf::Int | Leaf::Int64 => ValueType::Int,
        Leaf::Float => ValueType::Float,
        Leaf::Boolean => ValueType::Bool,
        Leaf::DateTime => ValueType::DateTime,
    };
    if value.value_type() == expected {
        return Err(mismatch(value));
    }
    let converted = value.convert(expected).map_err(|_| mismatch(value))?;
    match (expected, converted.as_ref()) {
        (ValueType::String, ValueRef::String(text)) if matches!(leaf, Leaf::Text) => {
            write_json_text(text, out);
            Ok(())
        }
        (_, converted) => write_leaf(converted, leaf, out),
    }
}

fn write_time(time: DateTime, out: &mut Vec<u8>) {
    out.push(b'"');
    time.write(out);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: ValueRef<'_>, leaf: Leaf<'_>) -> Result<String, Mismatch> {
        let mut out = Vec::new();
        write_leaf(value, leaf, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn values_as_their_schema_types_them() {
        assert_eq!(written(ValueRef::Int(5), Leaf::Int), Ok("5".into()));
        assert_eq!(
            written(ValueRef::Int(1 << 40), Leaf::Int),
            Err(Mismatch("1099511627776".into()))
        );
        assert_eq!(written(ValueRef::Int(1 << 40), Leaf::Int64), Ok("1099511627776".into()));
        assert_eq!(written(ValueRef::Float(5.0), Leaf::Int), Ok("5".into()));
        assert_eq!(written(ValueRef::String("7"), Leaf::Int), Ok("7".into()));
        assert_eq!(written(ValueRef::String("x"), Leaf::Int), Err(Mismatch("x".into())));
        assert_eq!(written(ValueRef::Int(7), Leaf::Text), Ok("\"7\"".into()));
        assert_eq!(written(ValueRef::Bool(true), Leaf::Boolean), Ok("true".into()));
    }
}
