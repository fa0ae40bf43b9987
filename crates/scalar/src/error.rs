//! What can go wrong while an expression is evaluated: what it is for programs, what it is for
//! people, and what to do.

use hexgraph_base::types::Error;
use std::fmt;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Box<ScalarError>>;

/// What is wrong, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A value is of a kind that is not possible there.
    Type,
    /// A value is of a possible kind and still has no meaning there.
    Argument,
    /// A result is outside of the values of its kind.
    Overflow,
    /// An integer is divided by zero.
    DivisionByZero,
    /// A limit is exceeded.
    Limit,
}

/// An error of an operator or function. The caller adds the position in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScalarError {
    /// What is wrong, for programs.
    pub fault: Fault,
    /// What is wrong, for people. Values are named by their kinds, or shown shortened.
    pub message: String,
    /// What to do; empty when there is nothing to propose.
    pub hint: String,
}

impl ScalarError {
    pub(crate) fn new(
        fault: Fault,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Box<ScalarError> {
        Box::new(ScalarError { fault, message: message.into(), hint: hint.into() })
    }

    /// A value of a kind that is not possible there.
    pub(crate) fn kind(message: impl Into<String>, hint: impl Into<String>) -> Box<ScalarError> {
        ScalarError::new(Fault::Type, message, hint)
    }

    /// A value that has no meaning there.
    pub(crate) fn argument(
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Box<ScalarError> {
        ScalarError::new(Fault::Argument, message, hint)
    }

    /// A result outside of the values of its kind.
    pub(crate) fn overflow(message: impl Into<String>) -> Box<ScalarError> {
        ScalarError::new(Fault::Overflow, message, "")
    }
}

impl fmt::Display for ScalarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, "; {}", self.hint) }
    }
}

impl std::error::Error for ScalarError {}

impl From<Box<ScalarError>> for Error {
    fn from(error: Box<ScalarError>) -> Error {
        let ScalarError { fault, message, hint } = *error;
        match fault {
            Fault::Limit => Error::Limit {
                message: if hint.is_empty() { message } else { format!("{message}; {hint}") },
            },
            _ => Error::Query { message, at: None, hint },
        }
    }
}
