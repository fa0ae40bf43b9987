//! Conversions, times and orders that a real server gave, where the recordings are at hand.

use super::*;
use serde_json::Value as Json;

/// The cases that we answer otherwise, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("types-0005", "there is no value without a value"),
    ("types-0098", "a float is never NaN"),
    ("types-0021", "a stored bool is true or false; no bytes are false"),
];

fn cases() -> Option<Vec<Json>> {
    let root = std::env::var("HEXGRAPH_SHARED")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared").to_string());
    let path = format!("{root}/conformance/dql/types.jsonl");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no {path}");
        return None;
    };
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn kind(name: &Json) -> ValueType {
    ValueType::from_name(name.as_str().unwrap()).unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// The recorded bytes as the value that they are stored for.
fn stored(case: &Json) -> std::result::Result<Value, ConvertError> {
    let hex = case["from_hex"].as_str().unwrap_or("");
    Value::Binary(bytes(hex)).as_ref().convert(kind(&case["from"]["type"]))
}

fn as_recorded(value: &Value) -> Json {
    match value {
        Value::Int(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Bool(truth) => (*truth).into(),
        Value::Vector(numbers) => {
            numbers.iter().map(|number| Json::from(f64::from(*number))).collect()
        }
        Value::Binary(bytes) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            serde_json::json!({ "hex": hex })
        }
        other => match other.as_ref().convert(ValueType::String).unwrap() {
            Value::String(text) if other.value_type() == ValueType::Geo => {
                text.replace('\'', "\"").into()
            }
            Value::String(text) => text.into(),
            value => panic!("{value:?} is no text"),
        },
    }
}

fn is_same(expected: &Json, actual: &Json) -> bool {
    match (expected, actual) {
        (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        // A hash is salted: it is another each time.
        (Json::String(a), Json::String(b)) if a.starts_with("$2a$") => b.starts_with("$2a$10$"),
        _ => expected == actual,
    }
}

/// Says how the answer differs from the recorded one.
fn difference<E: std::fmt::Debug>(
    case: &Json,
    answer: std::result::Result<Json, E>,
) -> Option<String> {
    let agrees = match &answer {
        Ok(value) => case["ok"] == true && is_same(&case["result"], value),
        Err(_) => case["ok"] == false,
    };
    (!agrees).then(|| format!("{case}\n   we say {answer:?}"))
}

fn sorted(case: &Json) -> Json {
    let rows: Vec<Value> = case["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let text = match &row[0]["value"] {
                Json::String(text) => text.clone(),
                other => other.to_string(),
            };
            Value::parse(&text, kind(&row[0]["type"])).unwrap()
        })
        .collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| {
        let order = rows[a].as_ref().compare(rows[b].as_ref()).unwrap();
        if case["desc"][0] == true { order.reverse() } else { order }
    });
    order.into_iter().map(|at| case["uids"][at].clone()).collect()
}

#[test]
fn conversions_times_and_orders_are_as_recorded() {
    let Some(cases) = cases() else { return };
    let mut differences = Vec::new();
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        let result = match case["kind"].as_str().unwrap() {
            "convert" => {
                let converted =
                    stored(case).and_then(|from| from.as_ref().convert(kind(&case["to"])));
                difference(case, converted.map(|value| as_recorded(&value)))
            }
            "parse_time" => {
                let time = DateTime::parse(case["text"].as_str().unwrap());
                difference(case, time.map(|time| time.to_string().into()))
            }
            // Languages and values of several types are ordered elsewhere.
            "sort" if case["lang"] != "" || id == "types-0279" => continue,
            _ => {
                let uids = sorted(case);
                (uids != case["result_uids"]).then(|| format!("{case}\n   we say {uids}"))
            }
        };
        let is_listed = DIFFERENT.iter().any(|(existing, _)| *existing == id);
        match result {
            Some(text) if !is_listed => differences.push(text),
            None if is_listed => differences.push(format!("{id} agrees and need not be listed")),
            _ => {}
        }
    }
    assert!(
        differences.is_empty(),
        "{} of {}:\n{}",
        differences.len(),
        cases.len(),
        differences.join("\n")
    );
}
