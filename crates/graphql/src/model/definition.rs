//! A type that the deployer declared.

use apollo_compiler::ast;

use crate::model::{Argument, AuthRules, Field, Generate, LambdaOnMutate};

/// What a definition declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    Object,
    Interface,
    Union,
    Enum,
    Input,
}

impl Kind {
    /// The name as introspection and messages have it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Object => "OBJECT",
            Kind::Interface => "INTERFACE",
            Kind::Union => "UNION",
            Kind::Enum => "ENUM",
            Kind::Input => "INPUT_OBJECT",
        }
    }
}

/// A definition. Lists that its kind does not have are empty.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeDef {
    /// The name.
    pub name: String,
    /// What it declares.
    pub kind: Kind,
    /// The description; empty when there is none.
    pub description: String,
    /// The directives as they are to be printed, `@extends` for `extend type` with them.
    pub directives: ast::DirectiveList,
    /// Of an object type or interface: the fields, those of interfaces first.
    pub fields: Vec<Field>,
    /// Of an input: the fields.
    pub input_fields: Vec<InputField>,
    /// Of an object type: its interfaces, in the order they are listed.
    pub interfaces: Vec<String>,
    /// Of an interface: the types that implement it, in the order of the schema.
    pub implementors: Vec<String>,
    /// Of a union: its members.
    pub members: Vec<String>,
    /// Of an enum: its values.
    pub values: Vec<EnumValue>,
    /// Of an object type or interface: its name in the store, the value of `dgraph.type`.
    pub dgraph_type: String,
    /// `@remote`: not stored, no operations.
    pub remote: bool,
    /// `@secret`, the interface's where the type has none itself.
    pub secret: Option<Secret>,
    /// `@generate` and `@withSubscription`.
    pub generate: Generate,
    /// `@auth`, with the rules of all interfaces: each has to hold.
    pub auth: AuthRules,
    /// `@lambdaOnMutate`.
    pub lambda_on_mutate: LambdaOnMutate,
    /// `@key`.
    pub key: Option<Key>,
    /// `extend type` or `@extends`: another service declares the type.
    pub extended: bool,
}

impl TypeDef {
    /// The field of a name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The field of type `ID`: the node's uid, or the key of another service's entity where it has
    /// a predicate.
    pub fn id_field(&self) -> Option<&Field> {
        self.fields.iter().find(|field| field.is_id() && !field.foreign)
    }

    /// The fields with `@id`, in their order.
    pub fn unique_fields(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.unique.is_some())
    }

    /// True when nodes of it are stored: an object type or interface that is not `@remote`.
    pub fn is_stored(&self) -> bool {
        matches!(self.kind, Kind::Object | Kind::Interface) && !self.remote
    }
}

/// `@secret`: a password beside the fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// The name in inputs.
    pub field: String,
    /// Where it is stored.
    pub predicate: String,
}

/// `@key(fields:)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The field that names an entity.
    pub field: String,
}

/// A value of an enum.
#[derive(Debug, Clone, PartialEq)]
pub struct EnumValue {
    /// The name.
    pub name: String,
    /// The description; empty when there is none.
    pub description: String,
    /// The directives as they were written.
    pub directives: ast::DirectiveList,
    /// `@deprecated`: the reason.
    pub deprecated: Option<String>,
}

/// A field of an input has what an argument has.
pub(super) type InputField = Argument;
