//! The tests that rules make of a single claim: `eq`, `in` and `regexp`. A claim that is a list
//! passes when one of its elements does.

use regex::Regex;
use serde_json::Value;

/// Returns true if the claim, or one element of it, is this value.
pub(super) fn equals(claim: &Value, expected: &Value) -> bool {
    any(claim, |claim| same(claim, expected))
}

/// Returns true if the claim, or one element of it, is one of these values.
pub(super) fn is_in(claim: &Value, expected: &[Value]) -> bool {
    any(claim, |claim| expected.iter().any(|expected| same(claim, expected)))
}

/// Returns true if the claim, or one element of it, is a text in which the pattern matches
/// somewhere.
pub(super) fn matches(claim: &Value, pattern: &Regex) -> bool {
    any(claim, |claim| claim.as_str().is_some_and(|text| pattern.is_match(text)))
}

/// Tests a claim, or each element of one that is a list until one passes.
fn any(claim: &Value, holds: impl Fn(&Value) -> bool) -> bool {
    match claim {
        Value::Array(items) => items.iter().any(holds),
        other => holds(other),
    }
}

/// Returns true for equal values of JSON. Numbers are compared as JavaScript does, so `5` equals
/// `5.0`.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let member = |(key, value): (&String, &Value)| {
                other.get(key).is_some_and(|result| same(value, result))
            };
            one.len() == other.len() && one.iter().all(member)
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexgraph_base::text::compile_plain;
    use serde_json::json;

    #[test]
    fn values_are_compared_by_type() {
        assert!(equals(&json!(5), &json!(5.0)));
        assert!(!equals(&json!(5), &json!("5")));
        assert!(!equals(&json!("true"), &json!(true)));
        assert!(equals(&json!({"a": [1, {"b": 2}]}), &json!({"a": [1, {"b": 2.0}]})));
        assert!(!equals(&json!({"a": 1, "b": 2}), &json!({"a": 1})));
    }

    #[test]
    fn one_element_of_a_list_is_enough() {
        assert!(equals(&json!(["x", 5]), &json!(5)));
        assert!(is_in(&json!([1, 2]), &[json!(3), json!(2)]));
        assert!(!is_in(&json!([]), &[json!(1)]));
        let pattern = compile_plain("^a$").expect("a pattern");
        assert!(matches(&json!(["b", "a"]), &pattern));
        assert!(!matches(&json!(1), &pattern));
    }

    #[test]
    fn patterns_end_with_the_text() {
        let pattern = compile_plain("^(.*)@dgraph.io$").expect("a pattern");
        assert!(matches(&json!("a@dgraph.io"), &pattern));
        assert!(!matches(&json!("a@dgraph.io\nb"), &pattern));
        assert!(!matches(&json!("b\na@dgraph.io"), &pattern));
    }
}
