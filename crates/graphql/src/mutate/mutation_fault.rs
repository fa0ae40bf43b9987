//! Faults of the inputs of a mutation.

use std::fmt;

/// Why a mutation can't be executed, in Dgraph's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MutationFault {
    /// The message.
    pub message: String,
    /// True if the message mentions a node that the caller may not be allowed to see. It is shown
    /// in debug mode alone; else the mutation appears to have done nothing.
    pub is_hidden: bool,
}

impl MutationFault {
    /// Makes a fault that is shown to every caller.
    pub fn new(message: impl Into<String>) -> MutationFault {
        MutationFault { message: message.into(), is_hidden: false }
    }

    /// Makes a fault that mentions a node. `is_hidden` says that not every caller may see nodes of
    /// its type.
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
