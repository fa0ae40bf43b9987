//! A field of an object type, of an interface, of `Query` or of `Mutation`.

use apollo_compiler::{Node, ast};

use crate::model::{Custom, DefaultValue, Inverse, Predicate, SearchIndex, TypeRef, UniqueId};

/// A field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The description; empty when there is none.
    pub description: String,
    /// The type.
    pub ty: TypeRef,
    /// The arguments that the deployer declared.
    pub arguments: Vec<Argument>,
    /// All directives as they are to be printed: those of the interface where the field comes from
    /// one, with the `@hasInverse` that the other end declares.
    pub directives: ast::DirectiveList,
    /// The interface that the field was copied from.
    pub inherited_from: Option<String>,
    /// Where values are stored; none for `ID`, custom fields and what is not stored.
    pub predicate: Option<Predicate>,
    /// `@id`.
    pub unique: Option<UniqueId>,
    /// The indexes that filters use, ordered by name: those of `@search`, the one that the type
    /// implies where it has no word, and the one that `@id` needs. Empty when there is no filter.
    pub search: Vec<SearchIndex>,
    /// `@hasInverse`, written here or at the other end.
    pub inverse: Option<Inverse>,
    /// `@default(add:)`.
    pub default_add: Option<DefaultValue>,
    /// `@default(update:)`.
    pub default_update: Option<DefaultValue>,
    /// `@embedding`: the list is a vector.
    pub embedding: bool,
    /// `@deprecated`: the reason.
    pub deprecated: Option<String>,
    /// `@custom`.
    pub custom: Option<Custom>,
    /// `@lambda`.
    pub lambda: bool,
    /// `@remoteResponse(name:)`: the key of the value in a remote answer.
    pub remote_name: Option<String>,
    /// `@withSubscription`, on a custom query.
    pub subscription: bool,
    /// `@external`: another service has the value.
    pub external: bool,
    /// The field is `@external`, not a key and of no use here: not stored, no input, no filter.
    pub foreign: bool,
    /// `@requires`: names of external fields.
    pub requires: Vec<String>,
    /// `@provides`: names of fields of the field's type.
    pub provides: Vec<String>,
}

impl Field {
    /// True when the field is the node's uid.
    pub fn is_id(&self) -> bool {
        self.ty.name() == "ID"
    }

    /// True when the value comes from elsewhere: `@custom` or `@lambda`.
    pub fn is_custom(&self) -> bool {
        self.custom.is_some() || self.lambda
    }

    /// True when the field reads edges backwards.
    pub fn is_reverse(&self) -> bool {
        self.predicate.as_ref().is_some_and(|predicate| predicate.reverse)
    }

    /// The value's key in a remote answer.
    pub fn remote_key(&self) -> &str {
        self.remote_name.as_deref().unwrap_or(&self.name)
    }
}

/// An argument of a field.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// The name.
    pub name: String,
    /// The description; empty when there is none.
    pub description: String,
    /// The type.
    pub ty: TypeRef,
    /// The value where none is given.
    pub default_value: Option<Node<ast::Value>>,
    /// The directives as they were written.
    pub directives: ast::DirectiveList,
}
