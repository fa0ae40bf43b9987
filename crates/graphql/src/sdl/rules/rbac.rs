//! Reads rules that test a claim of the token alone, such as `{$ROLE: {eq: "ADMIN"}}`.

use hexgraph_base::types::stack;
use serde_json::Value;

use super::rule_error::RuleError;
use crate::model::{RbacTest, Rule};
use hexgraph_base::text::compile_plain;

/// Reads a rule whose text starts with `{`.
///
/// # Errors
///
/// When the text has another form, or its operator and operand do not go together.
pub(super) fn read(text: &str) -> Result<Rule, RuleError> {
    let invalid = || RuleError::NoClaimTest { text: text.to_owned() };
    let (claim, operator, operand) = split(text).ok_or_else(invalid)?;
    let not_a_variable = || RuleError::NoVariable { claim: claim.to_owned() };
    let operand: Value = serde_json::from_str(operand).map_err(|_| not_a_variable())?;
    // A claim that is null counts as missing, so no claim could pass the test.
    if operand.is_null() {
        return Err(RuleError::Null { operator: operator.to_owned() });
    }
    let test = test(operator, operand)?;
    let name = claim.strip_prefix('$').ok_or_else(not_a_variable)?.to_owned();
    if let RbacTest::Regexp(pattern) = &test {
        let unreadable = |_| RuleError::Pattern { claim: name.clone() };
        compile_plain(pattern).map_err(unreadable)?;
    }
    Ok(Rule::Claim { claim: name, test })
}

/// Splits `{ claim : { operator : operand } }` into its three parts. Blanks between them do not
/// matter.
fn split(text: &str) -> Option<(&str, &str, &str)> {
    let inside = text.trim_end().strip_prefix('{')?.strip_suffix('}')?;
    let (claim, rest) = split_before_brace(inside)?;
    let (operator, operand) = rest.trim_end().strip_suffix('}')?.split_once(':')?;
    let operator = operator.trim();
    let is_word = operator.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_word.then_some((claim.trim(), operator, operand.trim()))
}

/// Splits a text at the first colon that an opening brace follows, without both. The name of a
/// claim may have colons of its own.
fn split_before_brace(text: &str) -> Option<(&str, &str)> {
    let mut colons = text.match_indices(':');
    colons.find_map(|(at, _)| {
        let behind = text[at + 1..].trim_start().strip_prefix('{')?;
        Some((&text[..at], behind))
    })
}

/// Makes the test of an operator and its operand.
fn test(operator: &str, operand: Value) -> Result<RbacTest, RuleError> {
    let operator = operator.to_owned();
    let refused = |operand: &Value, why| {
        Err(RuleError::Operand { operator: operator.clone(), value: shown(operand), why })
    };
    match (operator.as_str(), operand) {
        ("eq", Value::Array(items)) => {
            refused(&Value::Array(items), " Array values in eq operator will not be supported.")
        }
        ("eq", value) => Ok(RbacTest::Eq(value)),
        ("in", Value::Array(items)) => Ok(RbacTest::In(items)),
        ("in", other) => refused(&other, " Value should be an array."),
        ("regexp", Value::String(pattern)) => Ok(RbacTest::Regexp(pattern)),
        ("regexp", other) => refused(&other, " Value should be of type String."),
        _ => Err(RuleError::Operator { operator }),
    }
}

/// Prints a JSON value as Dgraph does, without quotes and commas.
fn shown(value: &Value) -> String {
    stack::require();
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => {
            number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
        }
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(entries) => {
            let mut entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key}:{}", shown(value))).collect();
            entries.sort_unstable();
            format!("map[{}]", entries.join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn claim(text: &str) -> (String, RbacTest) {
        match read(text) {
            Ok(Rule::Claim { claim, test }) => (claim, test),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn blanks_are_free() {
        let expected = ("ROLE".to_owned(), RbacTest::Eq(json!("A: {B}")));
        for text in [
            "{$ROLE:{eq:\"A: {B}\"}}",
            "{ $ROLE : { eq : \"A: {B}\" } }",
            "{\n  $ROLE  :\n {  eq:   \"A: {B}\"  }  }\n",
        ] {
            assert_eq!(claim(text), expected, "{text}");
        }
    }

    #[test]
    fn operands_are_json() {
        assert_eq!(claim("{$A: {eq: {\"b\": [1]}}}").1, RbacTest::Eq(json!({"b": [1]})));
        assert_eq!(claim("{$A: {in: [1, \"x\"]}}").1, RbacTest::In(vec![json!(1), json!("x")]));
        assert_eq!(claim("{$A: {regexp: \"^a.*\"}}").1, RbacTest::Regexp("^a.*".to_owned()));
    }

    #[test]
    fn faults_are_reported() {
        let reported = |text: &str| read(text).expect_err(text).to_string();
        assert_eq!(reported("{A: {eq: 1}}"), "`A` is not a valid GraphQL variable.");
        assert_eq!(reported("{$A: {eq: b}}"), "`$A` is not a valid GraphQL variable.");
        assert_eq!(reported("{$A: {gt: 1}}"), "`gt` operator is not supported.");
        assert_eq!(
            reported("{$A: {eq: [1, 2]}}"),
            "`eq` operator has invalid value `[1 2]`. Array values in eq operator will not be \
             supported."
        );
        assert_eq!(
            reported("{$A: {regexp: \"(\"}}"),
            "`A` does not have a valid regex expression."
        );
        assert_eq!(reported("{$A}"), "`{$A}` is not a valid rule.");
        assert_eq!(reported("{}"), "`{}` is not a valid rule.");
    }
}
