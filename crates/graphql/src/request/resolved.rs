//! A resolved operation, in which nothing is left of the text: fragments are flattened, `@skip` and
//! `@include` are executed, variables are replaced, and every value has the type that the schema
//! requests.
//!
//! Parts that no variable touches are made once for each text and shared between requests, hence
//! the `Arc`s.

use apollo_compiler::Name;
use apollo_compiler::ast::Type;
use std::sync::Arc;

use crate::generate::Root;
use crate::request::Position;

/// The one operation of a request that is to be executed.
#[derive(Debug, Clone)]
pub struct Operation {
    /// Query, mutation or subscription.
    pub kind: OperationKind,
    /// The name of the operation in the text.
    pub name: Option<Arc<str>>,
    /// The root fields, in the order of the text, each response key once.
    pub fields: Arc<[Field]>,
    /// The seconds of `@cacheControl(maxAge:)`.
    pub max_age: Option<i64>,
}

/// The kinds of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// A query: its root fields do not depend on each other.
    Query,
    /// A mutation: its root fields are executed in order.
    Mutation,
    /// A subscription: its one root field is answered again whenever the answer changes.
    Subscription,
}

/// A field that is to be answered.
#[derive(Debug, Clone)]
pub struct Field {
    /// What the text alone says of the field.
    pub shape: Arc<FieldShape>,
    /// The arguments that were given or have a default, as the schema types them.
    pub arguments: Arguments,
    /// `@cascade` unchanged at this very field; it is not handed down to children here.
    pub cascade: Option<Cascade>,
    /// The selection of the field's objects; empty for scalars and enums.
    pub selection: Arc<Selection>,
}

/// The part of a field that is the same in all requests with one text.
#[derive(Debug)]
pub struct FieldShape {
    /// The field's name in the schema.
    pub name: Name,
    /// The key in the answer: the alias, or the name.
    pub key: Name,
    /// The type condition of its fragment; `None` where the type of the enclosing field applies.
    pub on: Option<Name>,
    /// The type that the schema declares for it.
    pub ty: Type,
    /// Where the first mention is in the text.
    pub location: Position,
    /// What a field of `Query`, `Mutation` or `Subscription` does; `None` below the root and for
    /// `__typename`, `__schema` and `__type`.
    pub root: Option<Root>,
}

/// The arguments of a field.
#[derive(Debug, Clone, Default)]
pub struct Arguments(pub(super) Arc<[(Name, Value)]>);

impl Arguments {
    /// The argument of this name; `None` when it is absent. An explicit `null` is [`Value::Null`],
    /// and so is a variable that has no value.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The argument of this name unless it is absent or `null`.
    pub fn given(&self, name: &str) -> Option<&Value> {
        self.get(name).filter(|value| !matches!(value, Value::Null))
    }

    /// All of them, in the order of the text, then those that have their default.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Value)> {
        self.0.iter().map(|(name, value)| (name, value))
    }
}

/// `@cascade`: objects that lack one of the fields are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cascade {
    /// The fields that must be there; empty means all selected ones.
    pub fields: Arc<[Name]>,
}

/// The selection of an object, by the object types that it can have.
#[derive(Debug, Default)]
pub struct Selection {
    /// Every possible type is in exactly one branch; types that are requested the same are in one.
    pub branches: Vec<Branch>,
}

/// The selection of objects of some object types.
#[derive(Debug, Clone)]
pub struct Branch {
    /// The concrete types, in the order of the schema.
    pub types: Arc<[Name]>,
    /// The fields, in the order of the text, each response key once.
    pub fields: Arc<[Field]>,
}

impl Selection {
    /// Whether nothing is requested: the field is a scalar or an enum.
    pub fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// The fields for objects of the concrete type `name`; none for a type that can't stand here.
    /// Costs a comparison for each possible type.
    pub fn of(&self, name: &str) -> &[Field] {
        let branch = self.branches.iter().find(|branch| branch.types.iter().any(|ty| ty == name));
        branch.map_or(&[], |branch| &branch.fields)
    }

    /// The fields when all possible types are requested the same, as for every field of an object
    /// type.
    pub fn only(&self) -> Option<&[Field]> {
        match &self.branches[..] {
            [branch] => Some(&branch.fields),
            _ => None,
        }
    }
}

/// A value of an argument or of a variable, as its type in the schema says.
///
/// A single value for a list has become a list, an integer for `Float` a [`Value::Float`], text for
/// `Int`, `Int64` or `Float` a number, a number for `ID` text. `DateTime` is text still.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// `Int` and `Int64`.
    Int(i64),
    /// `Float`.
    Float(f64),
    /// `Boolean`.
    Boolean(bool),
    /// `String`, `ID`, `DateTime` and scalars that the schema says nothing about.
    String(Arc<str>),
    /// A value of an enum.
    Enum(Name),
    /// A list.
    List(Vec<Value>),
    /// An input object: keys as given, then those that have a default.
    Object(Vec<(Name, Value)>),
}

impl Value {
    /// The value of `key` when this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Object(fields) => {
                fields.iter().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The text of a string or the name of an enum's value.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            Value::Enum(name) => Some(name),
            _ => None,
        }
    }

    /// The number of an [`Value::Int`].
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The elements of a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(values) => Some(values),
            _ => None,
        }
    }
}
