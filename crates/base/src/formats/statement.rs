//! One statement of RDF, however it was written: subject, predicate, object, facets.

use std::borrow::Cow;
use std::fmt;

use crate::types::{Position, Value, ValueType};

/// A statement. Its texts are borrowed from its line, except for those with escapes.
#[derive(Debug, Clone, PartialEq)]
pub struct NQuad<'a> {
    /// The node that the statement is about.
    pub subject: Subject<'a>,
    /// What it says of the node.
    pub predicate: Predicate<'a>,
    /// The language tag of the value, or of the values to delete; empty for none.
    pub lang: &'a str,
    /// The node or value on the other side.
    pub object: Object<'a>,
    /// Properties of the edge or value, sorted by key; each key occurs once.
    pub facets: Vec<(&'a str, Value)>,
    /// Whether the source says that the predicate is a list: true for an array in JSON, false for a
    /// single value in JSON, `None` for N-Quads, which do not say.
    pub in_list: Option<bool>,
    /// The position of the object. [`parse_line`](super::parse_line) sets the column only; the line
    /// is 1.
    pub at: Position,
}

/// The subject of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject<'a> {
    /// A node by its number, never 0.
    Uid(u64),
    /// A node by a label of the request or file, without `_:`.
    Blank(&'a str),
    /// A node by its external id, as it is written between `<` and `>`: escapes are in it. Only
    /// [`parse_file_line`](super::parse_file_line) returns it.
    Name(&'a str),
    /// The new node of a JSON object without a uid, by its number in the request.
    New(u32),
    /// All nodes of a variable, `uid(v)`.
    Var(&'a str),
    /// `*`.
    Star,
}

/// The predicate of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Predicate<'a> {
    /// A name, without brackets and language.
    Name(&'a str),
    /// `*`.
    Star,
}

/// The object of a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Object<'a> {
    /// A node by its number, never 0.
    Uid(u64),
    /// A node by a label of the request or file, without `_:`.
    Blank(&'a str),
    /// A node by its external id, as [`Subject::Name`].
    Name(&'a str),
    /// The new node of a JSON object without a uid, by its number in the request.
    New(u32),
    /// All nodes of a variable, `uid(v)`.
    Var(&'a str),
    /// The value of a variable at the subject, `val(x)`.
    Val(&'a str),
    /// `*`.
    Star,
    /// A value as text. [`literal_value`](super::literal_value) reads it.
    Literal {
        /// The text between the quotes, without escapes.
        text: Cow<'a, str>,
        /// The type that is written after it, else [`ValueType::Default`].
        value_type: ValueType,
    },
    /// A value that is converted already: those of JSON and of variables.
    Value(Value),
}

impl<'a> From<Subject<'a>> for Object<'a> {
    fn from(subject: Subject<'a>) -> Object<'a> {
        match subject {
            Subject::Uid(uid) => Object::Uid(uid),
            Subject::Blank(label) => Object::Blank(label),
            Subject::Name(name) => Object::Name(name),
            Subject::New(number) => Object::New(number),
            Subject::Var(name) => Object::Var(name),
            Subject::Star => Object::Star,
        }
    }
}

/// The reason why a line is not a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineFault {
    /// The offset of the wrong byte in the line, from 0.
    pub column: u32,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for LineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column + 1, self.message)
    }
}
