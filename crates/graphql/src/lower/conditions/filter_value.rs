//! Values of arguments as texts, which the executor converts to the type of what they are compared
//! with.

use crate::request::Value;
use hexgraph_base::types::write_float;

/// The text of a scalar; `None` for null, lists and objects.
pub(in crate::lower) fn text_of(value: &Value) -> Option<String> {
    Some(match value {
        Value::Int(number) => number.to_string(),
        Value::Float(number) => float_text(*number),
        Value::Boolean(truth) => truth.to_string(),
        Value::String(text) => text.to_string(),
        Value::Enum(name) => name.to_string(),
        Value::Null | Value::List(_) | Value::Object(_) => return None,
    })
}

/// A number as text.
pub(super) fn float_text(number: f64) -> String {
    let mut text = Vec::new();
    write_float(number, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The number of a value.
pub(in crate::lower) fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}
