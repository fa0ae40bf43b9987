//! Why a regular expression is refused, in the words of Go's `regexp`.

/// Why a regular expression is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoRegexError {
    /// Something else than `i` stands after the pattern.
    #[error("`{modifier}` is no modifier of a regular expression")]
    Modifier {
        /// What stands there.
        modifier: String,
    },
    /// The pattern has more than 65,536 bytes.
    #[error("wrong regular expression: expression too large")]
    TooLong,
    /// The last character of the pattern is a backslash.
    #[error("wrong regular expression: trailing backslash at end of expression")]
    TrailingBackslash,
    /// A chunk of the pattern can't be read.
    #[error("wrong regular expression: {fault}{}", chunk_suffix(chunk))]
    Syntax {
        /// What is wrong with it.
        fault: GoRegexFault,
        /// The chunk, or the pattern where the fault is of all of it.
        chunk: String,
    },
}

fn chunk_suffix(chunk: &str) -> String {
    if chunk.is_empty() { String::new() } else { format!(": `{chunk}`") }
}

/// What is wrong with a chunk of a regular expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoRegexFault {
    /// A group is not closed.
    #[error("missing closing )")]
    MissingParenthesis,
    /// A `)` closes no group.
    #[error("unexpected )")]
    UnexpectedParenthesis,
    /// There is nothing before `*`, `+`, `?` or `{`.
    #[error("missing argument to repetition operator")]
    MissingRepeatArgument,
    /// Groups are nested more than 250 deep.
    #[error("expression nests too deeply")]
    NestedTooDeep,
    /// A repetition is repeated again.
    #[error("invalid nested repetition operator")]
    NestedRepetition,
    /// A count of a repetition is above 1000, or the first is above the second.
    #[error("invalid repeat count")]
    RepeatCount,
    /// The name of a group is empty, not closed, or no name.
    #[error("invalid named capture")]
    NamedCapture,
    /// A group of a kind that Go does not have, such as a look-ahead.
    #[error("invalid or unsupported Perl syntax")]
    PerlSyntax,
    /// An escape means nothing.
    #[error("invalid escape sequence")]
    Escape,
    /// A range of a class runs backwards, or a class has an unknown name.
    #[error("invalid character class range")]
    ClassRange,
    /// A class in brackets is not closed.
    #[error("missing closing ]")]
    MissingBracket,
    /// Any other fault, in the words of the crate `regex-syntax`.
    #[error("{0}")]
    Other(String),
}
