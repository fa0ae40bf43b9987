//! Scalars of other servers and of queries in DQL: a value of JSON becomes one of the scalar that
//! the schema names, as Dgraph coerces it, and nothing of it may be lost.

use hexgraph_base::answer::write_json_text;
use hexgraph_base::types::{DateTime, Value, ValueRef, ValueType};
use hexgraph_graphql::model::{Kind, Model};
use serde_json::{Number, Value as Json};

/// Returns the JSON of a value as the scalar or the enum `ty`; `None` when it can't become one.
///
/// `result` is no null, list or object.
pub(super) fn coerced(model: &Model, ty: &str, result: &Json) -> Option<String> {
    let text = shown(result);
    match ty {
        "String" | "ID" => Some(json_text(&text)),
        "Boolean" => Some(truth(result)?.to_string()),
        "Int" => int(result).map(|it| it.to_string()),
        "Int64" => int64(result).map(|it| it.to_string()),
        "Float" => float(result).map(|it| it.to_string()),
        "DateTime" => moment(result),
        _ => match model.get(ty).filter(|def| def.kind == Kind::Enum) {
            Some(def) => {
                let is_named = result.is_string() && def.values.iter().any(|it| it.name == text);
                is_named.then(|| json_text(&text))
            }
            None => Some(result.to_string()),
        },
    }
}

/// Returns a value as messages show it: texts without quotes.
pub(super) fn shown(result: &Json) -> String {
    match result {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn truth(result: &Json) -> Option<bool> {
    match result {
        Json::Bool(truth) => Some(*truth),
        Json::String(text) => Some(!text.is_empty()),
        Json::Number(number) => Some(number.as_f64() != Some(0.0)),
        _ => None,
    }
}

fn int(result: &Json) -> Option<i32> {
    let float = match result {
        Json::Bool(truth) => f64::from(*truth),
        Json::String(text) => text.parse().ok()?,
        other => other.as_f64()?,
    };
    // The cast saturates: what is lost by it shows in the comparison.
    let full = float as i32;
    (f64::from(full) == float).then_some(full)
}

fn int64(result: &Json) -> Option<i64> {
    match result {
        Json::Bool(truth) => Some(i64::from(*truth)),
        Json::String(text) => text.parse().ok(),
        other => other.as_i64(),
    }
}

fn float(result: &Json) -> Option<Number> {
    match result {
        Json::Bool(truth) => Some(Number::from(u8::from(*truth))),
        // JSON has fewer notations of numbers than a text may use.
        Json::String(text) => Number::from_f64(text.parse().ok()?),
        Json::Number(number) => Some(number.clone()),
        _ => None,
    }
}

/// Reads a time: a text, or seconds as an integer, since 1970.
fn moment(result: &Json) -> Option<String> {
    let time = match result {
        Json::String(text) => match ValueRef::String(text).convert(ValueType::DateTime) {
            Ok(Value::DateTime(time)) => time,
            _ => return None,
        },
        other => {
            let seconds = other.as_f64().filter(|it| it.fract() == 0.0)? as i64;
            DateTime::from_unix(seconds, 0)
        }
    };
    let mut out = Vec::new();
    time.is_writable().then(|| time.write(&mut out))?;
    Some(json_text(&String::from_utf8_lossy(&out)))
}

fn json_text(text: &str) -> String {
    let mut out = Vec::new();
    write_json_text(text, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_of_other_types() {
        let model = Model::default();
        let is = |ty: &str, result: Json| coerced(&model, ty, &result);
        let want = |text: &str| Some(text.to_owned());
        assert_eq!(is("String", json!(true)), want("\"true\""));
        assert_eq!(is("ID", json!(7)), want("\"7\""));
        assert_eq!(is("Boolean", json!("no")), want("true"));
        assert_eq!(is("Boolean", json!("")), want("false"));
        assert_eq!(is("Boolean", json!(0)), want("false"));
        assert_eq!(is("Int", json!(true)), want("1"));
        assert_eq!(is("Int", json!("7.0")), want("7"));
        assert_eq!(is("Int", json!(1.5)), None);
        assert_eq!(is("Int", json!(3_000_000_000_u32)), None);
        assert_eq!(is("Int64", json!(false)), want("0"));
        assert_eq!(is("Int64", json!("9007199254740993")), want("9007199254740993"));
        assert_eq!(is("Int64", json!("7.0")), None);
        assert_eq!(is("Float", json!("+.5")), want("0.5"));
        assert_eq!(is("Float", json!("5.")), want("5.0"));
        assert_eq!(is("Float", json!("inf")), None);
        assert_eq!(is("Float", json!(true)), want("1"));
        assert_eq!(is("DateTime", json!("2020")), want("\"2020-01-01T00:00:00Z\""));
        assert_eq!(is("DateTime", json!(1_500_000_000)), want("\"2017-07-14T02:40:00Z\""));
        assert_eq!(is("DateTime", json!(1.5)), None);
        assert_eq!(is("DateTime", json!(1e18)), None);
        assert_eq!(is("DateTime", json!(true)), None);
    }
}
