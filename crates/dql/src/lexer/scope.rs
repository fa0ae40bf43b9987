//! The brackets that are open around a place: they say what letters mean there.

/// What an open bracket holds.
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
    /// `[`.
    List,
}

/// An operation whose `{` is still to come.
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

/// What kind of word came last, where it matters to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Previous {
    /// A name, so that `(` opens the arguments of a function.
    Name,
    /// A comma, so that `/` starts a regular expression.
    Comma,
    /// Another operand, so that `-` subtracts.
    Operand,
    /// An operator that can't be followed by the minus sign of an operand.
    Comparison,
    /// Anything else.
    Other,
}

/// An open bracket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    /// What it holds.
    pub scope: Scope,
    /// Where it is.
    pub at: usize,
}

impl Scope {
    /// The bracket that closes it.
    pub(super) fn closing(self) -> u8 {
        match self {
            Scope::Blocks | Scope::Fields | Scope::Schema | Scope::Upsert | Scope::Mutation => b'}',
            Scope::List => b']',
            _ => b')',
        }
    }
}
