//! The tokens that the lexer produces and the grammar consumes.
//!
//! The lexer decides what needs more than one token of lookahead, so that the grammar is LR(1):
//! which round bracket opens a pattern, which dashes are a relationship, which word is a keyword,
//! and which `|` separates the result of a comprehension.

use super::ast::{Name, QuantifierKind};

/// A token. Those whose names end in `Open` include the bracket after the word.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    /// A name, without backticks.
    Name(Box<str>),
    /// The name of a function or procedure with its dots, and `(`.
    FunctionOpen(Name),
    /// An integer without a sign; what is larger than `u64` is `u64::MAX`, which is refused later.
    Integer(u64),
    /// A float without a sign.
    Float(f64),
    /// A string with its escapes replaced.
    String(Box<str>),
    /// `$name`, without the `$`.
    Parameter(Box<str>),
    /// `(` that opens a pattern with a relationship.
    PatternOpen,
    /// `-[` or `<-[`, which has an arrow.
    RelationshipOpen(bool),
    /// `]-` or `]->`, which has an arrow.
    RelationshipClose(bool),
    /// `--`, `-->`, `<--` or `<-->`: whether there is an arrow on the left, and on the right.
    Dashes(bool, bool),
    /// `[` before `x IN`.
    ComprehensionOpen,
    /// `[` before `p = (...)-...`.
    PathComprehensionOpen,
    /// `|` before the result of a comprehension or of `reduce`.
    Bar,
    /// `all(` and the like before `x IN`.
    QuantifierOpen(QuantifierKind),
    /// `reduce(` before `x =`.
    ReduceOpen,
    /// `shortestPath(`, and `allShortestPaths(`, which is true.
    ShortestPathOpen(bool),
    /// `ANY SHORTEST`.
    AnyShortest,
    /// `ALL SHORTEST`.
    AllShortest,
    /// `SHORTEST k`, and whether `GROUPS` follow.
    Shortest(u64, bool),
    /// `EXISTS {`.
    ExistsOpen,
    /// `COUNT {`.
    CountOpen,
    /// `COLLECT {`.
    CollectOpen,
    /// `EXPLAIN`.
    Explain,
    /// `PROFILE`.
    Profile,
    /// `MATCH`.
    Match,
    /// `OPTIONAL MATCH`.
    OptionalMatch,
    /// `WHERE`.
    Where,
    /// `WITH`.
    With,
    /// `UNWIND`.
    Unwind,
    /// `FOR` before `x IN`.
    For,
    /// `FILTER`.
    Filter,
    /// `LET` before `x =`.
    Let,
    /// `RETURN`.
    Return,
    /// `DISTINCT`.
    Distinct,
    /// `ORDER BY`.
    OrderBy,
    /// `SKIP` or `OFFSET`.
    Skip,
    /// `LIMIT`.
    Limit,
    /// `UNION`, and `UNION ALL`, which is true.
    Union(bool),
    /// `CALL`.
    Call,
    /// `YIELD`.
    Yield,
    /// `AS`.
    As,
    /// `AND`.
    And,
    /// `OR`.
    Or,
    /// `XOR`.
    Xor,
    /// `NOT`.
    Not,
    /// `IN`.
    In,
    /// `STARTS WITH`.
    StartsWith,
    /// `ENDS WITH`.
    EndsWith,
    /// `CONTAINS`.
    Contains,
    /// `IS NULL`, and `IS NOT NULL`, which is true.
    IsNull(bool),
    /// `IS ::` and `IS TYPED`; with `NOT` it is true.
    IsType(bool),
    /// `NOT NULL` after the name of a type.
    NotNull,
    /// `LIST <` after `IS ::`.
    ListTypeOpen,
    /// `NULL`.
    Null,
    /// `TRUE`.
    True,
    /// `FALSE`.
    False,
    /// `CASE`.
    Case,
    /// `WHEN`.
    When,
    /// `THEN`.
    Then,
    /// `ELSE`.
    Else,
    /// `END`.
    End,
    /// `ASC` or `ASCENDING`.
    Ascending,
    /// `DESC` or `DESCENDING`.
    Descending,
    /// `NULLS FIRST`, which is true, or `NULLS LAST`.
    Nulls(bool),
    /// A character or bracket that means one thing wherever it is.
    Sign(Sign),
}

/// Characters and brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    RoundOpen,
    RoundClose,
    SquareOpen,
    SquareClose,
    BraceOpen,
    BraceClose,
    Comma,
    Semicolon,
    Colon,
    DoubleColon,
    Dot,
    DotDot,
    Equal,
    Matches,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Caret,
    Pipe,
    DoublePipe,
    Ampersand,
    Bang,
}
