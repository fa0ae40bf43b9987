//! What is wrong with the inputs of a mutation.

use std::fmt;

/// Why a mutation can't be carried out, in the reference's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MutationFault {
    /// What is wrong.
    pub message: String,
    /// Whether it tells of a node that the caller might not be allowed to see: it is shown to
    /// those who debug, others get a mutation that did nothing.
    pub is_hidden: bool,
}

impl MutationFault {
    /// A fault that everybody may know of.
    pub fn new(message: impl Into<String>) -> MutationFault {
        MutationFault { message: message.into(), is_hidden: false }
    }

    /// A fault that tells of a node of a type whose nodes not everybody may see, if `is_hidden`.
    pub fn about_node(message: impl Into<String>, is_hidden: bool) -> MutationFault {
        let message = message.into();
        let message = if is_hidden { format!("GraphQL debug: {message}") } else { message };
        MutationFault { message, is_hidden }
    }
}

impl fmt::Display for MutationFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
