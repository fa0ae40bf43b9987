//! The error of arguments that can't be lowered.

/// The reason why an argument of a field can't become part of a plan. The caller knows the field,
/// and makes a fault of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::lower) struct Refusal {
    message: String,
}

impl Refusal {
    /// Creates a refusal. The message is a part of a sentence: the fault has words before it.
    pub(in crate::lower) fn new(message: impl Into<String>) -> Refusal {
        Refusal { message: message.into() }
    }

    /// Returns the message.
    pub(in crate::lower) fn message(&self) -> &str {
        &self.message
    }
}
