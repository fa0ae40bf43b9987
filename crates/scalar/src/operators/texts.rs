//! Tests of strings.

use crate::context::Context;
use crate::error::Result;
use crate::values::Value;

/// A test of a string by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextTest {
    /// `STARTS WITH`.
    StartsWith,
    /// `ENDS WITH`.
    EndsWith,
    /// `CONTAINS`.
    Contains,
}

/// Evaluates a test of a string; `None`, which is null, where one of the two is no string.
///
/// ```
/// use hexgraph_scalar::{TextTest, Value, text_test};
///
/// let text = Value::from("hexgraph");
/// assert_eq!(text_test(&text, TextTest::StartsWith, &Value::from("hex")), Some(true));
/// assert_eq!(text_test(&text, TextTest::Contains, &Value::Int(1)), None);
/// ```
pub fn text_test(text: &Value, test: TextTest, part: &Value) -> Option<bool> {
    let (Value::String(text), Value::String(part)) = (text, part) else { return None };
    Some(match test {
        TextTest::StartsWith => text.starts_with(&**part),
        TextTest::EndsWith => text.ends_with(&**part),
        TextTest::Contains => text.contains(&**part),
    })
}

/// Evaluates `text =~ pattern`: whether all of a string matches a regular expression; `None` where
/// one of the two is no string.
///
/// # Errors
///
/// [`Fault::Argument`](crate::Fault::Argument) when the pattern is not in the syntax of RE2.
pub fn matches(text: &Value, pattern: &Value, context: &Context) -> Result<Option<bool>> {
    let (Value::String(text), Value::String(pattern)) = (text, pattern) else { return Ok(None) };
    context.matches(text, pattern).map(Some)
}
