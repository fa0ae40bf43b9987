//! What words are, for editors.

/// What a word of DQL is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeywordKind {
    /// A function that selects nodes, as the function of a block or in a filter: `eq`.
    Condition,
    /// An aggregate function: `sum`.
    Aggregate,
    /// A function within `math`: `sqrt`.
    Math,
    /// A function that is a field or an argument of another one: `expand`.
    Field,
    /// An argument of a block: `first`.
    Argument,
    /// A directive, which begins with `@`: `@filter`.
    Directive,
    /// A type of values: `datetime`.
    Type,
    /// Any other word: `fragment`.
    Word,
}

impl KeywordKind {
    /// All kinds.
    pub const ALL: [KeywordKind; 8] = [
        KeywordKind::Condition,
        KeywordKind::Aggregate,
        KeywordKind::Math,
        KeywordKind::Field,
        KeywordKind::Argument,
        KeywordKind::Directive,
        KeywordKind::Type,
        KeywordKind::Word,
    ];

    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            KeywordKind::Condition => "condition",
            KeywordKind::Aggregate => "aggregate",
            KeywordKind::Math => "math",
            KeywordKind::Field => "field",
            KeywordKind::Argument => "argument",
            KeywordKind::Directive => "directive",
            KeywordKind::Type => "type",
            KeywordKind::Word => "word",
        }
    }
}
