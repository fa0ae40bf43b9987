//! The entire schema after all checks.

use std::collections::HashMap;

use apollo_compiler::{Node, ast};

use crate::model::{Authorization, Field, TypeDef};

/// A schema that passed all checks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    /// The text of the schema.
    pub text: String,
    /// The types in the order of the text, those that `extend type` declares last. `Query` and
    /// `Mutation` are not among them.
    pub types: Vec<TypeDef>,
    /// The fields of `type Query`, which are custom queries.
    pub queries: Vec<Field>,
    /// The fields of `type Mutation`, which are custom mutations.
    pub mutations: Vec<Field>,
    /// The directives that the text declares. They mean nothing to the engine.
    pub directive_definitions: Vec<Node<ast::DirectiveDefinition>>,
    /// The settings of tokens, from the line `# Dgraph.Authorization`.
    pub authorization: Option<Authorization>,
    /// The origins of the lines `# Dgraph.Allow-Origin`, in the order of the text.
    pub allowed_origins: Vec<String>,
    /// The names and values of the lines `# Dgraph.Secret`.
    pub secrets: Vec<(String, String)>,
    /// True if a type has `@key`, so that the schema takes part in a federation.
    pub federated: bool,
    /// The index in `types` of each type, by its name.
    pub(crate) by_name: HashMap<String, usize>,
}

impl Model {
    /// Returns the type of a name. O(1).
    pub fn get(&self, name: &str) -> Option<&TypeDef> {
        self.by_name.get(name).map(|&index| &self.types[index])
    }

    /// Returns the object types and interfaces whose nodes are stored, in the order of `types`.
    pub fn stored_types(&self) -> impl Iterator<Item = &TypeDef> {
        self.types.iter().filter(|def| def.is_stored())
    }
}
