//! Three-valued logic: `None` is null. `NOT` is `Option::map`.

use crate::error::{Result, ScalarError};
use crate::values::Value;

/// Returns a condition's value: true, false, or `None` for null.
///
/// ```
/// use hexgraph_scalar::{Value, and, truth};
///
/// assert_eq!(truth(&Value::Bool(true))?, Some(true));
/// assert_eq!(and(truth(&Value::Null)?, Some(false)), Some(false));
/// assert!(truth(&Value::Int(1)).is_err());
/// # Ok::<(), Box<hexgraph_scalar::ScalarError>>(())
/// ```
///
/// # Errors
///
/// [`Fault::Type`](crate::Fault::Type) when the value is neither a boolean nor null.
pub fn truth(value: &Value) -> Result<Option<bool>> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(*value)),
        other => Err(ScalarError::kind(
            format!("a condition is a BOOLEAN, and this is {}", other.kind().described()),
            "compare the value with another",
        )),
    }
}

/// Evaluates `AND`: false if either is, else null if either is.
pub fn and(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// Evaluates `OR`: true if either is, else null if either is.
pub fn or(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

/// Evaluates `XOR`: null if either is null.
pub fn xor(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    Some(one? != other?)
}
