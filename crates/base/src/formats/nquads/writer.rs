//! Writes values and facets as N-Quads. Reading the text gives the same values again.

use super::scanner::mark_of;
use crate::types::{ValueRef, ValueType, write_int};
use std::io::Write;

/// Writes a value as a literal, followed by its language or its type. `existing` is the type that
/// the schema gives the predicate: a text of that type is written without one. A float has the
/// fewest digits that are read as the same number. A password is written as its hash.
pub fn write_literal(value: ValueRef<'_>, lang: &str, existing: ValueType, out: &mut Vec<u8>) {
    out.push(b'"');
    write_plain(value, out);
    out.push(b'"');
    if !lang.is_empty() {
        out.push(b'@');
        out.extend_from_slice(lang.as_bytes());
        return;
    }
    let value_type = value.value_type();
    if value_type == ValueType::String && existing == ValueType::String {
        return;
    }
    let Some((prefix, name)) = mark_of(value_type) else { return };
    out.extend_from_slice(b"^^<");
    out.extend_from_slice(prefix.as_bytes());
    out.extend_from_slice(name.as_bytes());
    out.push(b'>');
}

/// Writes the facets of a value or an edge in parentheses, or nothing when there are none.
pub fn write_facets(facets: &[(&str, ValueRef<'_>)], out: &mut Vec<u8>) {
    for (at, (key, value)) in facets.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b" (" } else { b", " });
        out.extend_from_slice(key.as_bytes());
        out.push(b'=');
        let is_text = matches!(value, ValueRef::String(_) | ValueRef::Default(_));
        out.extend_from_slice(if is_text { b"\"" } else { b"" });
        let start = out.len();
        write_plain(*value, out);
        // A float of digits alone would be read as an integer.
        let is_complete = out[start..].iter().all(|byte| byte.is_ascii_digit() || *byte == b'-');
        if matches!(value, ValueRef::Float(_)) && is_complete {
            out.extend_from_slice(b".0");
        }
        out.extend_from_slice(if is_text { b"\"" } else { b"" });
    }
    if !facets.is_empty() {
        out.push(b')');
    }
}

fn write_plain(value: ValueRef<'_>, out: &mut Vec<u8>) {
    match value {
        ValueRef::Int(number) => write_int(number, out),
        ValueRef::Float(number) => write_number(out, number),
        ValueRef::Bool(truth) => out.extend_from_slice(if truth { b"true" } else { b"false" }),
        ValueRef::DateTime(time) => time.write(out),
        _ => write_escaped(&value.to_text(), out),
    }
}

/// Writes a number. For floats Rust's `Display` gives the shortest decimal that is read as the same
/// number.
fn write_number(out: &mut Vec<u8>, number: impl std::fmt::Display) {
    write!(out, "{number}").expect("memory takes all that is written");
}

fn write_escaped(text: &str, out: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    let is_special = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\\' | 0x7f);
    while let Some(at) = rest.iter().position(is_special) {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            byte @ (b'"' | b'\\') => out.extend_from_slice(&[b'\\', byte]),
            byte => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{Object, literal_value, parse_line};
    use crate::types::{BigFloat, DateTime, Value};
    use proptest::prelude::*;

    #[test]
    fn each_type_of_literals_has_a_mark() {
        for value_type in ValueType::ALL {
            let is_unmarked = matches!(value_type, ValueType::Default | ValueType::Uid);
            assert_eq!(mark_of(value_type).is_none(), is_unmarked, "{value_type:?}");
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let float = any::<f64>().prop_filter("no NaN is stored", |number| !number.is_nan());
        let text = "\\PC*|[\\x00-\\x7f]{0,9}";
        prop_oneof![
            text.prop_map(Value::String),
            text.prop_map(Value::Default),
            // A hash is never empty.
            "\\PC+".prop_map(Value::Password),
            any::<i64>().prop_map(Value::Int),
            float.prop_map(Value::Float),
            any::<bool>().prop_map(Value::Bool),
            (-62_000_000_000..253_000_000_000_i64, 0..1_000_000_000_i64)
                .prop_map(|(seconds, nanos)| Value::DateTime(DateTime::from_unix(seconds, nanos))),
            proptest::collection::vec(-1e30f32..1e30, 1..4).prop_map(Value::Vector),
            any::<i64>().prop_map(|number| Value::BigFloat(BigFloat::from_i64(number))),
        ]
    }

    proptest! {
        #[test]
        fn literals_are_read_as_they_were(value in any_value()) {
            let mut line = b"<0x1> <p> ".to_vec();
            write_literal(value.as_ref(), "", ValueType::Default, &mut line);
            line.extend_from_slice(b" .");
            let line = String::from_utf8(line).unwrap();
            let quad = parse_line(&line).unwrap().unwrap();
            let Object::Literal { text, value_type } = quad.object else { panic!("{line}") };
            prop_assert_eq!(literal_value(&text, value_type).unwrap(), value);
        }

        #[test]
        fn facets_are_read_as_they_were(value in any_value()) {
            let value = match value {
                Value::Default(text) | Value::Password(text) => Value::String(text),
                Value::Vector(_) | Value::BigFloat(_) => Value::Int(1),
                other => other,
            };
            let mut line = b"<0x1> <p> <0x2>".to_vec();
            write_facets(&[("a", value.as_ref()), ("b", value.as_ref())], &mut line);
            line.extend_from_slice(b" .");
            let line = String::from_utf8(line).unwrap();
            let facets = parse_line(&line).unwrap().unwrap().facets;
            prop_assert_eq!(facets, vec![("a", value.clone()), ("b", value)]);
        }
    }
}
