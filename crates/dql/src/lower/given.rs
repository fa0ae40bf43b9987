//! The values that a request gives its `$variables`.

use std::fmt;

/// The value of a `$variable`: a text, or a list of texts, which is allowed where the language
/// allows a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    text: String,
    items: Option<Vec<String>>,
}

impl Given {
    /// Creates a value that is a list. Where a single text is needed, as for a vector or for
    /// coordinates, the list is written `[one, other]`.
    pub fn list(items: Vec<String>) -> Given {
        Given { text: format!("[{}]", items.join(", ")), items: Some(items) }
    }

    /// Returns the value as one text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the items of a list, or `None` when the value is a single text.
    pub fn items(&self) -> Option<&[String]> {
        self.items.as_deref()
    }
}

impl From<String> for Given {
    fn from(text: String) -> Given {
        Given { text, items: None }
    }
}

impl From<&str> for Given {
    fn from(text: &str) -> Given {
        Given::from(text.to_owned())
    }
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
