//! The definition of a type in the schema.

use apollo_compiler::ast;

use crate::model::{Argument, AuthRules, Field, Generate, LambdaOnMutate};

/// The kind of a type.
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
    /// Returns the name that introspection and messages use.
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

/// The definition of a type. A list that types of its kind do not have is empty.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeDef {
    /// The name in the schema.
    pub name: String,
    /// The kind of the type.
    pub kind: Kind,
    /// The description; empty when there is none.
    pub description: String,
    /// The directives in the form in which the generated schema prints them. A type that is
    /// declared by `extend type` has `@extends`.
    pub directives: ast::DirectiveList,
    /// The fields of an object type or interface. An object type has those of its interfaces too,
    /// and first.
    pub fields: Vec<Field>,
    /// The fields of an input type.
    pub input_fields: Vec<InputField>,
    /// The interfaces of an object type, in the order of its definition.
    pub interfaces: Vec<String>,
    /// The object types that implement an interface, in the order of the schema.
    pub implementors: Vec<String>,
    /// The members of a union.
    pub members: Vec<String>,
    /// The values of an enum.
    pub values: Vec<EnumValue>,
    /// The name of an object type or interface in the store: the value of `dgraph.type` that its
    /// nodes have.
    pub dgraph_type: String,
    /// `@remote`: other servers answer objects of the type, so none is stored and it has no
    /// operations.
    pub remote: bool,
    /// `@secret` of the type, or else that of an interface.
    pub secret: Option<Secret>,
    /// `@generate` and `@withSubscription`.
    pub generate: Generate,
    /// `@auth` of the type and of its interfaces; all have to hold.
    pub auth: AuthRules,
    /// `@lambdaOnMutate`.
    pub lambda_on_mutate: LambdaOnMutate,
    /// `@key`.
    pub key: Option<Key>,
    /// `extend type` or `@extends`: another service declares the type.
    pub extended: bool,
}

impl TypeDef {
    /// Returns the field of a name. Costs a comparison for each field.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns the field of type `ID`. It is the node's uid, or, where it has a predicate, the key
    /// of an entity that another service declares.
    pub fn id_field(&self) -> Option<&Field> {
        self.fields.iter().find(|field| field.is_id() && !field.stored_elsewhere)
    }

    /// Returns the fields with `@id`, in the order of the definition.
    pub fn unique_fields(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.unique.is_some())
    }

    /// Returns true for types whose nodes are stored: object types and interfaces that are not
    /// `@remote`.
    pub fn is_stored(&self) -> bool {
        matches!(self.kind, Kind::Object | Kind::Interface) && !self.remote
    }
}

/// `@secret`: a password that a node has in addition to its fields. It can be set and checked, and
/// never read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// The name of the password in inputs.
    pub field: String,
    /// The predicate that holds its hash.
    pub predicate: String,
}

/// `@key(fields:)`: how services of a federation name a node of the type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The name of the field whose value names the node.
    pub field: String,
}

/// A value of an enum.
#[derive(Debug, Clone, PartialEq)]
pub struct EnumValue {
    /// The name of the value.
    pub name: String,
    /// The description; empty when there is none.
    pub description: String,
    /// The directives as they were written.
    pub directives: ast::DirectiveList,
    /// The reason of `@deprecated`; `None` without the directive.
    pub deprecated: Option<String>,
}

/// A field of an input type. It has all that an argument has.
pub(super) type InputField = Argument;
