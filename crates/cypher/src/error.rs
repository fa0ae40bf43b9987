//! What is wrong with a text: a code, where it is, what it is, and what to write instead.

use crate::span::Span;
use hexgraph_base::types::{Error, Position};
use std::fmt::{self, Write};

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, CypherError>;

/// What is wrong, by the names that the Technology Compatibility Kit of openCypher has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// An expression next to an aggregate is neither constant nor an item of its own.
    AmbiguousAggregationExpression,
    /// Two columns have one name.
    ColumnNameConflict,
    /// The queries of a `UNION` have different columns.
    DifferentColumnsInUnion,
    /// A float is larger than the largest.
    FloatingPointOverflow,
    /// An integer is outside of 64 bits.
    IntegerOverflow,
    /// An aggregate is where rows are not grouped.
    InvalidAggregation,
    /// A value is of a type that is not possible there.
    InvalidArgumentType,
    /// Clauses are in an order that means nothing.
    InvalidClauseComposition,
    /// A number is written wrongly.
    InvalidNumberLiteral,
    /// A function or procedure has too few or too many arguments.
    InvalidNumberOfArguments,
    /// A parameter is where a map is needed.
    InvalidParameterUse,
    /// A relationship is written wrongly.
    InvalidRelationshipPattern,
    /// A character that has no meaning.
    InvalidUnicodeCharacter,
    /// `\u` is not followed by the number of a character.
    InvalidUnicodeLiteral,
    /// A bound is below zero.
    NegativeIntegerArgument,
    /// An aggregate is inside of another.
    NestedAggregation,
    /// An item of `WITH` has no name.
    NoExpressionAlias,
    /// `*` has nothing that it could mean.
    NoVariablesInScope,
    /// A constant is needed.
    NonConstantExpression,
    /// One relationship is twice in a pattern.
    RelationshipUniquenessViolation,
    /// A variable does not exist.
    UndefinedVariable,
    /// The text is not Cypher.
    UnexpectedSyntax,
    /// There is no such function.
    UnknownFunction,
    /// A procedure has no option or column of that name.
    UnknownName,
    /// There is no such procedure.
    UnknownProcedure,
    /// A variable exists already.
    VariableAlreadyBound,
    /// A variable is of another kind.
    VariableTypeConflict,
    /// A limit is exceeded.
    Limit,
    /// The text would change data.
    Writes,
    /// The text is Cypher that is not part of what is read here.
    NotSupported,
}

/// An error in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct CypherError {
    /// What is wrong, for programs.
    pub code: Code,
    /// What is wrong, for people.
    pub message: String,
    /// Where it begins.
    pub at: Position,
    /// Where it is.
    pub span: Span,
    /// What to write instead; empty when there is nothing to propose.
    pub hint: String,
}

/// An error without its position, which needs the text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    pub code: Code,
    pub span: Span,
    pub message: String,
    pub hint: String,
}

impl Fault {
    /// Creates an error without a hint.
    pub(crate) fn new(code: Code, span: Span, message: impl Into<String>) -> Fault {
        Fault { code, span, message: message.into(), hint: String::new() }
    }

    /// Adds what to write instead.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Fault {
        self.hint = hint.into();
        self
    }

    /// Adds the position; `text` is the entire text.
    pub(crate) fn locate(self, text: &str) -> CypherError {
        let Fault { code, span, message, hint } = self;
        let at = Position::of(text, span.start as usize);
        CypherError { code, message: shortened(message), at, span, hint: shortened(hint) }
    }
}

/// A message without the middle of a long name or text that it quotes.
pub(crate) fn shortened(message: String) -> String {
    const BYTES_MAX: usize = 600;
    const BEFORE: usize = 300;
    const BEHIND: usize = 150;
    if message.len() <= BYTES_MAX {
        return message;
    }
    let (start, end) = (floor(&message, BEFORE), floor(&message, message.len() - BEHIND));
    format!("{}…{}", &message[..start], &message[end..])
}

impl CypherError {
    /// Renders the error with the line of the text and a mark below what is wrong:
    ///
    /// ```
    /// let text = "MATCH (person) RETRUN person";
    /// let error = hexgraph_cypher::parse(text).unwrap_err();
    /// assert_eq!(error.report(text), "\
    /// UnexpectedSyntax: unexpected `RETRUN`
    ///   line 1 column 16
    ///   | MATCH (person) RETRUN person
    ///   |                ^^^^^^
    ///   did you mean `RETURN`?
    /// ");
    /// ```
    pub fn report(&self, text: &str) -> String {
        let mut result = format!("{:?}: {}\n  {}\n", self.code, self.message, self.at);
        let start = self.span.start as usize;
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let end = (self.span.end as usize).clamp(start, line_end);
        // A line may be the entire text; what is around the mark is enough.
        let from = floor(text, start.saturating_sub(BEFORE_MAX).max(line_start));
        let to = floor(text, (end + AFTER_MAX).min(line_end));
        let end = end.min(to);
        let blanks = " ".repeat(text[from..start].chars().count());
        let marks = "^".repeat(text[start..end].chars().count().max(1));
        let shown = text[from..to].replace(['\t', '\r'], " ");
        writeln!(result, "  | {}\n  | {blanks}{marks}", shown.trim_end()).expect("a string grows");
        if !self.hint.is_empty() {
            writeln!(result, "  {}", self.hint).expect("a string grows");
        }
        result
    }
}

/// The most bytes of a line that are shown before and after what is wrong.
const BEFORE_MAX: usize = 80;
const AFTER_MAX: usize = 40;

/// The offset of the character that the byte at `at` belongs to.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl fmt::Display for CypherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, "; {}", self.hint) }
    }
}

impl std::error::Error for CypherError {}

impl From<CypherError> for Error {
    fn from(error: CypherError) -> Error {
        let CypherError { code, message, at, hint, .. } = error;
        match code {
            Code::Limit => Error::Limit { message },
            _ => Error::Syntax { message, at, hint },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn long_names_are_shortened_in_messages() {
        assert_eq!(shortened("ä".repeat(300)), "ä".repeat(300));
        let short = shortened(format!("the variable `{}` is not defined", "ä".repeat(100_000)));
        assert!(short.starts_with("the variable `ää") && short.ends_with("ä` is not defined"));
        assert!(short.len() < 500 && short.contains('…'), "{short}");
    }
}
