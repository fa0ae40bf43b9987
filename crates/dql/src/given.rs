//! What a caller gives as the value of a `$variable`.

use std::fmt;

/// The value of a `$variable`: a text, or a list of texts, which may stand where a list may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    text: String,
    items: Option<Vec<String>>,
}

impl Given {
    /// A list. Where one text is wanted, as for a vector or for coordinates, it is
    /// `[one, other]`.
    pub fn list(items: Vec<String>) -> Given {
        Given { text: format!("[{}]", items.join(", ")), items: Some(items) }
    }

    /// The value as one text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The items of a list.
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
