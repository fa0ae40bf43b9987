//! The words of the language, as the lexer hands them to the grammar.

use hexgraph_base::plan::MathFunction;

/// A piece of the text: a slice of it, or an own string where the meaning differs from the letters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    /// The first byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
    /// The meaning, where it is not the slice itself.
    pub owned: Option<Box<str>>,
}

impl Text {
    /// The slice from `start` to `end`.
    pub(crate) fn slice(start: usize, end: usize) -> Text {
        Text { start: start as u32, end: end as u32, owned: None }
    }

    /// The meaning, given the whole text.
    pub(crate) fn of<'a>(&'a self, source: &'a str) -> &'a str {
        match &self.owned {
            Some(owned) => owned,
            None => &source[self.start as usize..self.end as usize],
        }
    }
}

/// The functions that may stand where a field stands, but for `count` and `math`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldFunction {
    /// `val(x)`.
    Val,
    /// `uid(x)`, which is an error.
    Uid,
    /// `expand(...)`.
    Expand,
    /// `min(...)`.
    Min,
    /// `max(...)`.
    Max,
    /// `sum(...)`.
    Sum,
    /// `avg(...)`.
    Avg,
    /// `checkpwd(...)`.
    CheckPassword,
}

/// What a block of raw RDF is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RdfKind {
    /// `set { ... }`.
    Set,
    /// `delete { ... }`.
    Delete,
}

/// One word of the language. Those that end in `Open` have taken the bracket behind them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    /// A name, an IRI without its brackets, or a number.
    Name(Text),
    /// `name as`.
    Define(Text),
    /// `name :`.
    Alias(Text),
    /// A string, decoded.
    String(Text),
    /// `/pattern/flags`, all of it.
    Regex(Text),
    /// `$name`, all of it.
    Variable(Text),
    /// `@en:fr:.`, without the `@`.
    Langs(Text),
    /// The body of `set {...}` or `delete {...}`.
    Rdf(RdfKind, Text),
    /// `count(`.
    CountOpen,
    /// `math(`.
    MathOpen,
    /// `val(` and its like.
    CallOpen(FieldFunction),
    /// `@filter(`.
    FilterOpen,
    /// `@if(`.
    IfOpen,
    /// `@groupby(`.
    GroupByOpen,
    /// `@cascade`.
    Cascade,
    /// `@cascade(`.
    CascadeOpen,
    /// `@recurse`.
    Recurse,
    /// `@recurse(`.
    RecurseOpen,
    /// `@normalize`.
    Normalize,
    /// `@ignorereflex`.
    IgnoreReflex,
    /// `@facets`.
    Facets,
    /// `@facets(` before a list.
    FacetListOpen,
    /// `@facets(` before a condition.
    FacetFilterOpen,
    /// An operator of `math` but for the minus sign before an operand.
    Operator(MathFunction),
    /// The minus sign before an operand.
    Negate,
    /// `and`.
    And,
    /// `or`.
    Or,
    /// `not`.
    Not,
    /// `query`.
    Query,
    /// `fragment`.
    Fragment,
    /// `schema`.
    Schema,
    /// `upsert`.
    Upsert,
    /// `mutation`.
    Mutation,
    /// `{`.
    BraceOpen,
    /// `}`.
    BraceClose,
    /// `(`.
    RoundOpen,
    /// `)`.
    RoundClose,
    /// `[`.
    SquareOpen,
    /// `]`.
    SquareClose,
    /// `,`.
    Comma,
    /// `:` that belongs to no name.
    Colon,
    /// `=`.
    Equals,
    /// `!`.
    Bang,
    /// `...`.
    Spread,
}
