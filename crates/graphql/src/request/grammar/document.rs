//! The tree of a request's text. Names are slices of the text. All fields lie in one table, so that
//! a set of fields is a list of numbers.

use apollo_compiler::ast::Type;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use crate::request::{OperationKind, Position};

/// The number of a field in [`Document::fields`].
pub(in crate::request) type FieldId = u32;

/// An entire request text.
#[derive(Debug, Default)]
pub(in crate::request) struct Document<'t> {
    pub operations: Vec<OperationNode<'t>>,
    pub fragments: Vec<FragmentNode<'t>>,
    pub fields: Vec<FieldNode<'t>>,
    /// The number of the first fragment of each name.
    pub fragment_numbers: HashMap<&'t str, usize>,
}

#[derive(Debug)]
pub(in crate::request) struct OperationNode<'t> {
    pub kind: OperationKind,
    /// The name; empty for an operation without one.
    pub name: &'t str,
    pub variables: Vec<VariableNode<'t>>,
    pub directives: Vec<DirectiveNode<'t>>,
    pub selections: Vec<SelectionNode<'t>>,
    pub at: Position,
}

#[derive(Debug)]
pub(in crate::request) struct VariableNode<'t> {
    pub name: &'t str,
    pub ty: Type,
    pub default: Option<ValueNode<'t>>,
    pub directives: Vec<DirectiveNode<'t>>,
    pub at: Position,
}

#[derive(Debug)]
pub(in crate::request) struct FragmentNode<'t> {
    pub name: &'t str,
    pub condition: &'t str,
    pub directives: Vec<DirectiveNode<'t>>,
    pub selections: Vec<SelectionNode<'t>>,
    pub at: Position,
}

#[derive(Debug)]
pub(in crate::request) enum SelectionNode<'t> {
    Field(FieldId),
    Inline(InlineNode<'t>),
    Spread(SpreadNode<'t>),
}

#[derive(Debug)]
pub(in crate::request) struct FieldNode<'t> {
    pub key: &'t str,
    pub name: &'t str,
    /// The type of the fragment that it is in; `None` where no fragment is between it and the field
    /// around.
    pub on: Option<&'t str>,
    pub arguments: Vec<ArgumentNode<'t>>,
    pub directives: Vec<DirectiveNode<'t>>,
    pub selections: Vec<SelectionNode<'t>>,
    pub at: Position,
}

#[derive(Debug)]
pub(in crate::request) struct InlineNode<'t> {
    pub condition: Option<&'t str>,
    pub directives: Vec<DirectiveNode<'t>>,
    pub selections: Vec<SelectionNode<'t>>,
    pub at: Position,
}

#[derive(Debug)]
pub(in crate::request) struct SpreadNode<'t> {
    pub name: &'t str,
    pub directives: Vec<DirectiveNode<'t>>,
    pub at: Position,
}

#[derive(Debug)]
pub(in crate::request) struct DirectiveNode<'t> {
    pub name: &'t str,
    pub arguments: Vec<ArgumentNode<'t>>,
    pub at: Position,
}

/// An argument, or a key of an object, with its value.
#[derive(Debug)]
pub(in crate::request) struct ArgumentNode<'t> {
    pub name: &'t str,
    pub value: ValueNode<'t>,
    pub at: Position,
}

#[derive(Debug)]
pub(in crate::request) struct ValueNode<'t> {
    pub kind: ValueKind<'t>,
    pub at: Position,
}

#[derive(Debug, PartialEq)]
pub(in crate::request) enum ValueKind<'t> {
    Variable(&'t str),
    Int(&'t str),
    Float(&'t str),
    String(Cow<'t, str>),
    Boolean(bool),
    Null,
    Enum(&'t str),
    List(Vec<ValueNode<'t>>),
    Object(Vec<ArgumentNode<'t>>),
}

/// Values are equal wherever they stand.
impl PartialEq for ValueNode<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl PartialEq for ArgumentNode<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.value == other.value
    }
}

impl<'t> Document<'t> {
    /// Returns a field by its number.
    pub(in crate::request) fn field(&self, id: FieldId) -> &FieldNode<'t> {
        &self.fields[id as usize]
    }

    /// Returns the first fragment of a name, with its number.
    pub(in crate::request) fn fragment(&self, name: &str) -> Option<(usize, &FragmentNode<'t>)> {
        let number = *self.fragment_numbers.get(name)?;
        Some((number, &self.fragments[number]))
    }
}

impl ValueKind<'_> {
    /// Returns the word for the kind of value in messages.
    pub(in crate::request) fn word(&self) -> &'static str {
        match self {
            ValueKind::Variable(_) => "Variable",
            ValueKind::Int(_) => "Int",
            ValueKind::Float(_) => "Float",
            ValueKind::String(_) => "String",
            ValueKind::Boolean(_) => "Boolean",
            ValueKind::Null => "Null",
            ValueKind::Enum(_) => "Enum",
            ValueKind::List(_) => "List",
            ValueKind::Object(_) => "Object",
        }
    }
}

impl fmt::Display for ValueKind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueKind::Variable(name) => write!(f, "${name}"),
            ValueKind::Int(text) | ValueKind::Float(text) | ValueKind::Enum(text) => {
                f.write_str(text)
            }
            ValueKind::String(text) => write!(f, "{text:?}"),
            ValueKind::Boolean(value) => write!(f, "{value}"),
            ValueKind::Null => f.write_str("null"),
            ValueKind::List(values) => write_joined(f, "[", values.iter().map(|v| &v.kind), "]"),
            ValueKind::Object(fields) => write_joined(f, "{", fields.iter(), "}"),
        }
    }
}

impl fmt::Display for ArgumentNode<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.value.kind)
    }
}

fn write_joined<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    open: &str,
    items: impl Iterator<Item = T>,
    close: &str,
) -> fmt::Result {
    f.write_str(open)?;
    // Without blanks, as Dgraph prints values.
    for (at, item) in items.enumerate() {
        if at > 0 {
            f.write_str(",")?;
        }
        write!(f, "{item}")?;
    }
    f.write_str(close)
}
