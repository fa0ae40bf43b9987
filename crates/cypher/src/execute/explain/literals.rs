//! Constants as a query would write them.

use crate::print::{Quoted, Text};
use hexgraph_scalar::Value;

/// A constant as a literal of at most about so many characters, or as the call that makes it. What
/// is longer has `…` for the rest.
pub(super) fn literal(value: &Value, characters: usize) -> String {
    let call = |function: &str| format!("{function}('{value}')");
    match value {
        Value::String(text) => match text.char_indices().nth(characters) {
            Some((end, _)) => Text(&format!("{}…", &text[..end])).to_string(),
            None => Text(text).to_string(),
        },
        // Each level has fewer characters, so the depth is bounded.
        Value::List(items) => {
            let items = items.iter().map(|it| (String::new(), it));
            format!("[{}]", joined(items, characters))
        }
        Value::Map(map) => {
            let entries = map.entries().iter();
            let entries = entries.map(|(key, it)| (format!("{}: ", Quoted(key)), it));
            format!("{{{}}}", joined(entries, characters))
        }
        Value::Date(_) => call("date"),
        Value::LocalTime(_) => call("localtime"),
        Value::Time(_) => call("time"),
        Value::LocalDateTime(_) => call("localdatetime"),
        Value::DateTime(_) => call("datetime"),
        Value::Duration(_) => call("duration"),
        // A parameter may have these; no literal does.
        Value::Float(number) if !number.is_finite() => format!("toFloat('{value}')"),
        other => other.to_string(),
    }
}

/// Values, each after its key, as long as there are characters for them.
fn joined<'v>(values: impl Iterator<Item = (String, &'v Value)>, characters: usize) -> String {
    let mut text = String::new();
    for (key, value) in values {
        if !text.is_empty() {
            text.push_str(", ");
        }
        let used = text.chars().count() + key.chars().count() + 1;
        let Some(left) = characters.checked_sub(used) else {
            text.push('…');
            break;
        };
        text.push_str(&key);
        text.push_str(&literal(value, left));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::literal;
    use hexgraph_scalar::{Map, Value};

    fn list(items: Vec<Value>) -> Value {
        Value::list(items).unwrap()
    }

    #[test]
    fn constants_are_literals() {
        let text = |text: &str| Value::String(text.into());
        let map = |entries: Vec<(&str, Value)>| {
            let entries = entries.into_iter().map(|(key, value)| (key.into(), value));
            Value::Map(Map::new(entries.collect()).unwrap())
        };
        let deep = (0..100).fold(Value::Int(1), |inside, _| list(vec![inside]));
        for (value, expected) in [
            (Value::Null, "null"),
            (Value::Float(2.0), "2.0"),
            (Value::Float(f64::NEG_INFINITY), "toFloat('-Infinity')"),
            (text("1"), "'1'"),
            (text("it's\n\\"), "'it\\'s\\n\\\\'"),
            (text("0123456789abcdef"), "'0123456789…'"),
            (list(vec![text("a"), Value::Int(2)]), "['a', 2]"),
            (list((0..9).map(Value::Int).collect()), "[0, 1, 2, 3, …]"),
            (map(vec![("a b", text("c")), ("d", list(Vec::new()))]), "{`a b`: 'c', …}"),
            (map(vec![("a", Value::Bool(true))]), "{a: true}"),
            (deep, "[[[[[[[[[[[…]]]]]]]]]]]"),
        ] {
            assert_eq!(literal(&value, 10), expected);
        }
    }
}
