//! Whether two answers are the same.

use serde_json::Value as Json;

/// Where two answers differ first; `None` when they are the same: objects in any order, arrays in
/// order, numbers up to rounding.
pub fn difference(one: &Json, other: &Json) -> Option<String> {
    match (one, other) {
        (Json::Object(left), Json::Object(right)) => {
            let missing = left.keys().find(|key| !right.contains_key(*key));
            let extra = right.keys().find(|key| !left.contains_key(*key));
            if let Some(key) = missing.or(extra) {
                return Some(format!(".{key} is on one side only"));
            }
            left.iter().find_map(|(key, value)| {
                difference(value, &right[key]).map(|position| format!(".{key}{position}"))
            })
        }
        (Json::Array(left), Json::Array(right)) => {
            let pairs = left.iter().zip(right).enumerate();
            let mut positions = pairs.filter_map(|(position, (one, other))| {
                difference(one, other).map(|inner| format!("[{position}]{inner}"))
            });
            let lengths = || {
                (left.len() != right.len())
                    .then(|| format!(": {} or {} items", left.len(), right.len()))
            };
            positions.next().or_else(lengths)
        }
        (Json::Number(left), Json::Number(right)) => {
            if let (Some(left), Some(right)) = (left.as_i64(), right.as_i64()) {
                return (left != right).then(|| format!(": {left} or {right}"));
            }
            let (left, right) = (left.as_f64()?, right.as_f64()?);
            let scale = left.abs().max(right.abs()).max(1e-3);
            (1e-9 * scale < (left - right).abs()).then(|| format!(": {left} or {right}"))
        }
        (one, other) => (one != other).then(|| format!(": {one} or {other}")),
    }
}

/// True when an answer shows anything.
pub fn shows_anything(answer: &Json) -> bool {
    match answer {
        Json::Object(object) => object.values().any(shows_anything),
        Json::Array(array) => !array.is_empty(),
        Json::Null => false,
        _ => true,
    }
}
