//! The scopes of the lexer: what the open brackets around a position contain, which decides how
//! characters are read there.

/// The content of an open bracket. The lexer has a stack of these, the innermost bracket last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// `{` around root blocks.
    Blocks,
    /// `{` around fields.
    Fields,
    /// `{` around the properties of a schema query.
    Schema,
    /// `{` around the parts of an upsert.
    Upsert,
    /// `{` around `set` and `delete`.
    Mutation,
    /// `(` around `key: value` pairs and lists of names.
    Arguments,
    /// `(` around the arguments of a function.
    Function,
    /// `(` around a filter.
    Filter,
    /// `(` around a list of facets.
    Facets,
    /// `(` around an expression.
    Math,
    /// `(` around what is counted.
    Count,
    /// `[` around the items of a list.
    List,
}

/// An operation whose opening brace has not been read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    /// `query name(...)`.
    Query,
    /// `fragment name`.
    Fragment,
    /// `schema(...)`.
    Schema,
    /// `upsert`.
    Upsert,
    /// `mutation @if(...)`.
    Mutation,
}

/// The kind of the last token, as far as it decides how the next one is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Previous {
    /// A name: a `(` after it opens the arguments of a function.
    Name,
    /// A comma: a `/` after it begins a regular expression.
    Comma,
    /// An operand: a `-` after it subtracts.
    Operand,
    /// A comparison in a `math` expression: as in Dgraph, the minus sign of an operand is not
    /// allowed after it, except in brackets.
    Comparison,
    /// Anything else.
    Other,
}

/// An open bracket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    /// Its content.
    pub scope: Scope,
    /// Its byte offset in the text, for the error when it is never closed.
    pub at: usize,
}

impl Scope {
    /// Returns the closing bracket.
    pub(super) fn closing(self) -> u8 {
        match self {
            Scope::Blocks | Scope::Fields | Scope::Schema | Scope::Upsert | Scope::Mutation => b'}',
            Scope::List => b']',
            _ => b')',
        }
    }
}
