//! Values as JSON.

use hexgraph::types::{DateTime, Value};
use serde_json::Value as Json;

/// A value as it shows in an answer.
pub fn value(value: &Value) -> Json {
    match value {
        Value::Int(number) => Json::from(*number),
        Value::Float(number) => Json::from(*number),
        Value::Bool(truth) => Json::from(*truth),
        Value::DateTime(time) => Json::from(time_text(*time)),
        Value::String(text) | Value::Default(text) => Json::from(text.clone()),
        other => panic!("the twin has no {other:?}"),
    }
}

/// A uid as it shows in an answer.
pub fn uid(uid: u64) -> Json {
    Json::from(format!("{uid:#x}"))
}

/// RFC 3339.
pub fn time_text(time: DateTime) -> String {
    let mut text = Vec::new();
    time.write(&mut text);
    String::from_utf8(text).unwrap()
}
