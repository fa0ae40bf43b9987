//! The values of the `$variables` of a request.

use std::fmt;

/// The value of a `$variable`: a string, or a list of strings, which is allowed where DQL allows a
/// list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterValue {
    text: String,
    items: Option<Vec<String>>,
}

impl ParameterValue {
    /// Creates a value that is a list. Where a single string is needed, as for a vector or for
    /// coordinates, the list is written `[one, other]`.
    pub fn list(items: Vec<String>) -> ParameterValue {
        ParameterValue { text: format!("[{}]", items.join(", ")), items: Some(items) }
    }

    /// Returns the value as one string.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the items of a list, or `None` when the value is a single string.
    pub fn items(&self) -> Option<&[String]> {
        self.items.as_deref()
    }
}

impl From<String> for ParameterValue {
    fn from(text: String) -> ParameterValue {
        ParameterValue { text, items: None }
    }
}

impl From<&str> for ParameterValue {
    fn from(text: &str) -> ParameterValue {
        ParameterValue::from(text.to_owned())
    }
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
