//! The tokens that the lexer produces and the grammar consumes.

use hexgraph_base::plan::{Aggregate, MathFunction};

/// A fragment of the source text. Its content is the slice itself, or a separate string where
/// escapes or joined names make the content differ from the slice.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
    /// The content, if it differs from the slice.
    pub owned: Option<Box<str>>,
}

impl Text {
    /// Creates a fragment whose content is the slice from `start` to `end`.
    pub(crate) fn slice(start: usize, end: usize) -> Text {
        Text { start: start as u32, end: end as u32, owned: None }
    }

    /// Returns the content; `source` is the entire text.
    pub(crate) fn of<'a>(&'a self, source: &'a str) -> &'a str {
        match &self.owned {
            Some(owned) => owned,
            None => &source[self.start as usize..self.end as usize],
        }
    }
}

/// The functions that may occur instead of a field, except for `count` and `math`, which have
/// tokens of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldFunction {
    /// `val(x)`.
    Val,
    /// `uid(x)`, which is an error.
    Uid,
    /// `expand(...)`.
    Expand,
    /// `min(...)` and the other aggregates.
    Aggregate(Aggregate),
    /// `checkpwd(...)`.
    CheckPassword,
}

/// Whether a block of RDF is set or deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RdfKind {
    /// `set { ... }`.
    Set,
    /// `delete { ... }`.
    Delete,
}

/// A token. Those whose names end in `Open` include the bracket after the word.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    /// A name, an IRI without its brackets, or a number.
    Name(Text),
    /// `name as`.
    Define(Text),
    /// `name :`.
    Alias(Text),
    /// A string with its escapes replaced.
    String(Text),
    /// `/pattern/flags`, with its slashes.
    Regex(Text),
    /// `$name`, with its `$`.
    Variable(Text),
    /// `@en:fr:.`, without the `@`.
    Langs(Text),
    /// The body of `set {...}` or `delete {...}`.
    Rdf(RdfKind, Text),
    /// `count(`.
    CountOpen,
    /// The `distinct` of `count(distinct name)`.
    Distinct,
    /// `math(`.
    MathOpen,
    /// `val(`, `expand(`, an aggregate with `(`, or `checkpwd(`.
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
    /// An operator of `math` between two operands.
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
    /// `:` that is not part of an alias.
    Colon,
    /// `=`.
    Equals,
    /// `!`.
    Bang,
    /// `...`.
    Spread,
}
