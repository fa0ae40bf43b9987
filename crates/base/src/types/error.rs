//! What can go wrong, named by what the caller can do about it.

use super::quoted_text::bounded;
use std::fmt;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A position in a text. It is shown with line and column from 1, as editors count them, the column
/// in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The byte within the line, from 0.
    pub column: u32,
}

impl Position {
    /// Returns the position of the byte `offset` of `text`. It scans the text up to there.
    pub fn of(text: &str, offset: usize) -> Position {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() as u32 + 1;
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() as u32;
        Position { line, column }
    }

    /// Returns the column from 1, as messages show it.
    pub fn shown_column(self) -> u32 {
        self.column + 1
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}", self.line, self.shown_column())
    }
}

/// Why a caller is refused where users have rights. The words are those of the status of a call, as
/// clients look for them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// The caller is not authenticated: there is no token, or one that does not hold.
    #[error("rpc error: code = Unauthenticated desc = {message}")]
    Unauthenticated {
        /// What is wrong with the token.
        message: String,
    },
    /// The caller is authenticated and has no permission.
    #[error("rpc error: code = PermissionDenied desc = {message}")]
    Denied {
        /// What the user has no right to.
        message: String,
    },
}

impl AccessError {
    /// The message without the code, which calls have in another position.
    pub fn message(&self) -> &str {
        match self {
            AccessError::Unauthenticated { message } | AccessError::Denied { message } => message,
        }
    }
}

/// What went wrong, named by what the caller can do about it.
///
/// Not `non_exhaustive`: every surface, in whatever crate, has to decide what a new variant is
/// there.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not valid DQL, schema or RDF. Fix the text.
    #[error("{at}: {message}{}", hint_suffix(hint))]
    Syntax {
        /// What is wrong, with the offending chunk of text.
        message: String,
        /// Where it is.
        at: Position,
        /// What to write instead; empty when there is nothing to propose.
        hint: String,
    },
    /// The schema forbids it. Fix the request or alter the schema.
    #[error("{}{message}{}", position_prefix(at), hint_suffix(hint))]
    Schema {
        /// Names the predicate or type and what is wrong with it.
        message: String,
        /// The position in the text, if there is one.
        at: Option<Position>,
        /// What to write or to do instead; empty when there is nothing to propose.
        hint: String,
    },
    /// The request is well formed but can't be executed. Fix the request.
    #[error("{}{message}{}", position_prefix(at), hint_suffix(hint))]
    Query {
        /// What can't be done.
        message: String,
        /// The position in the text, if there is one.
        at: Option<Position>,
        /// What to write or to do instead; empty when there is nothing to propose.
        hint: String,
    },
    /// A setting's limit was reached, or the request was cancelled. Request less, or raise it.
    #[error("{message}")]
    Limit {
        /// Names the setting, its value and what was needed.
        message: String,
    },
    /// The caller has to log in, or has no right to it.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The transaction was aborted: another one changed the same things first, the schema was
    /// changed under it, or nobody used it for too long. Begin again.
    #[error("Transaction has been aborted. Please retry")]
    Conflict,
    /// The database was closed. Open it again.
    #[error("the database is closed")]
    Closed,
    /// The database can't be changed from here: it is open read-only, or belongs to the process
    /// that this one was forked from. Open it for writing.
    #[error("{message}")]
    ReadOnly {
        /// Names the directory and what it is open for.
        message: String,
    },
    /// A file to be loaded holds something that can't be stored. Fix the file.
    #[error("{file}:{line}:{column}: {message}")]
    Load {
        /// The file's name, or `<bytes>`.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The byte within the line, from 1.
        column: u32,
        /// The reason.
        message: String,
    },
    /// A snapshot is damaged, truncated or not ours. Restore it or build it anew.
    #[error("{path}: {message}")]
    Corrupt {
        /// The file.
        path: String,
        /// The section and offset, and the data there.
        message: String,
    },
    /// The engine contradicts itself: nothing that was requested may lead here. Report it.
    #[error("a fault of hexgraph, please report it: {message}{}", position_suffix(position))]
    Internal {
        /// What did not hold.
        message: String,
        /// Where in the source, as file:line:column; empty if unavailable.
        position: String,
    },
    /// The operating system refused.
    #[error("{context}: {source}")]
    Io {
        /// What was being done, with the path.
        context: String,
        /// The system's reason.
        source: std::io::Error,
    },
}

fn hint_suffix(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!(" ({hint})") }
}

fn position_suffix(position: &str) -> String {
    if position.is_empty() { String::new() } else { format!(" ({position})") }
}

fn position_prefix(at: &Option<Position>) -> String {
    at.map_or_else(String::new, |at| format!("{at}: "))
}

impl Error {
    /// Returns an [`Error::Internal`] without its position.
    pub fn internal(message: impl fmt::Display) -> Error {
        Error::Internal { message: bounded(message), position: String::new() }
    }

    /// Returns an [`Error::Syntax`] without a hint. The message may be a text, or an error that is
    /// worded as one; as in all of these it is cut to [`MESSAGE_LEN_MAX`](super::MESSAGE_LEN_MAX)
    /// bytes.
    pub fn syntax(at: Position, message: impl fmt::Display) -> Error {
        Error::Syntax { message: bounded(message), at, hint: String::new() }
    }

    /// Returns an [`Error::Schema`] without position and hint.
    pub fn schema(message: impl fmt::Display) -> Error {
        Error::Schema { message: bounded(message), at: None, hint: String::new() }
    }

    /// Returns an [`Error::Query`] without position and hint.
    pub fn query(message: impl fmt::Display) -> Error {
        Error::Query { message: bounded(message), at: None, hint: String::new() }
    }

    /// Returns an [`Error::Query`] about a position in the text.
    pub fn query_at(at: Position, message: impl fmt::Display) -> Error {
        Error::Query { message: bounded(message), at: Some(at), hint: String::new() }
    }

    /// Returns the same error with `proposal` as its hint. Kinds of errors that have no hint stay
    /// as they are.
    #[must_use]
    pub fn with_hint(mut self, proposal: impl Into<String>) -> Error {
        if let Error::Query { hint, .. } | Error::Schema { hint, .. } | Error::Syntax { hint, .. } =
            &mut self
        {
            *hint = bounded(proposal.into());
        }
        self
    }

    /// Returns the same error with `proposal` as its hint, if it is of a kind that has a hint and
    /// has none yet.
    #[must_use]
    pub fn or_hint(self, proposal: impl Into<String>) -> Error {
        match &self {
            Error::Query { hint, .. } | Error::Schema { hint, .. } | Error::Syntax { hint, .. }
                if hint.is_empty() =>
            {
                self.with_hint(proposal)
            }
            _ => self,
        }
    }

    /// Returns the same error about a position in the text, if it is of a kind that has a position
    /// and has none yet.
    #[must_use]
    pub fn or_at(mut self, position: Position) -> Error {
        if let Error::Query { at, .. } | Error::Schema { at, .. } = &mut self {
            *at = at.or(Some(position));
        }
        self
    }

    /// Returns an [`Error::Io`]. `context` says what was being done, with the path.
    pub fn io(context: impl Into<String>, source: std::io::Error) -> Error {
        Error::Io { context: context.into(), source }
    }
}
