//! A field of an object type, of an interface, of `Query` or of `Mutation`.

use apollo_compiler::{Node, ast};

use crate::model::{Custom, DefaultValue, Inverse, Predicate, SearchIndex, TypeRef, UniqueId};

/// The definition of a field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The name in the schema.
    pub name: String,
    /// The description; empty when there is none.
    pub description: String,
    /// The type of the values.
    pub ty: TypeRef,
    /// The arguments that the schema declares.
    pub arguments: Vec<Argument>,
    /// The directives in the form in which the generated schema prints them: for a field of an
    /// interface those of the interface, and with the `@hasInverse` that only the other end of the
    /// link declares.
    pub directives: ast::DirectiveList,
    /// The name of the interface that the field was copied from; `None` for a field of the type
    /// itself.
    pub inherited_from: Option<String>,
    /// The predicate of the values; `None` for `ID`, for custom fields, and in types that are not
    /// stored.
    pub predicate: Option<Predicate>,
    /// `@id`, with its option.
    pub unique: Option<UniqueId>,
    /// The indexes that filters use, ordered by name: those of `@search`, the one that the type
    /// implies where `@search` names none, and the one that `@id` needs. Empty when nodes can't be
    /// filtered by the field.
    pub search: Vec<SearchIndex>,
    /// `@hasInverse`, whether it is written here or at the other end.
    pub inverse: Option<Inverse>,
    /// `@default(add:)`: the value in new nodes.
    pub default_add: Option<DefaultValue>,
    /// `@default(update:)`: the value in changed nodes.
    pub default_update: Option<DefaultValue>,
    /// `@embedding`: the list of numbers is stored as a vector.
    pub embedding: bool,
    /// The reason of `@deprecated`; `None` without the directive.
    pub deprecated: Option<String>,
    /// `@custom`: how another server, or a query in DQL, gives the value.
    pub custom: Option<Custom>,
    /// `@lambda`: the lambda server gives the value.
    pub lambda: bool,
    /// `@remoteResponse(name:)`: the key of the value in the answer of another server.
    pub remote_name: Option<String>,
    /// `@withSubscription` of a custom query: it can be subscribed to.
    pub subscription: bool,
    /// `@external`: another service of the federation has the value.
    pub external: bool,
    /// True for an `@external` field that is neither a key nor provided here: it is not stored, and
    /// has no input and no filter.
    pub stored_elsewhere: bool,
    /// The names of the external fields in `@requires`.
    pub requires: Vec<String>,
    /// The names of the fields, of the type that the field points to, in `@provides`.
    pub provides: Vec<String>,
}

impl Field {
    /// Returns true for a field of the type `ID`.
    pub fn is_id(&self) -> bool {
        self.ty.name() == "ID"
    }

    /// Returns true for a field with `@custom` or `@lambda`, whose value is not stored.
    pub fn is_custom(&self) -> bool {
        self.custom.is_some() || self.lambda
    }

    /// Returns true for a field that reads the reverse edges of its predicate.
    pub fn is_reverse(&self) -> bool {
        self.predicate.as_ref().is_some_and(|predicate| predicate.reverse)
    }

    /// Returns the key of the value in the answer of another server.
    pub fn remote_key(&self) -> &str {
        self.remote_name.as_deref().unwrap_or(&self.name)
    }
}

/// The definition of an argument of a field, or of a field of an input type.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// The name in the schema.
    pub name: String,
    /// The description; empty when there is none.
    pub description: String,
    /// The type of the values.
    pub ty: TypeRef,
    /// The default: the value where a request gives none.
    pub default_value: Option<Node<ast::Value>>,
    /// The directives as they were written.
    pub directives: ast::DirectiveList,
}
