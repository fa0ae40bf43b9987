//! The whole schema.

use std::collections::HashMap;

use apollo_compiler::{Node, ast};

use crate::model::{Authorization, Field, TypeDef};

/// A schema that passed all checks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    /// The text that was read.
    pub text: String,
    /// The definitions in the order of the text, those of `extend type` last. `Query` and
    /// `Mutation` are not among them.
    pub types: Vec<TypeDef>,
    /// The fields of `type Query`: custom queries.
    pub queries: Vec<Field>,
    /// The fields of `type Mutation`: custom mutations.
    pub mutations: Vec<Field>,
    /// Directives that the deployer declared. They mean nothing to the engine.
    pub directive_definitions: Vec<Node<ast::DirectiveDefinition>>,
    /// `# Dgraph.Authorization`.
    pub authorization: Option<Authorization>,
    /// `# Dgraph.Allow-Origin`: the origins, in the order of the text.
    pub allowed_origins: Vec<String>,
    /// `# Dgraph.Secret`: name and value.
    pub secrets: Vec<(String, String)>,
    /// True when a type has `@key`: the schema takes part in a federation.
    pub federated: bool,
    /// Where each type is.
    pub(crate) by_name: HashMap<String, usize>,
}

impl Model {
    /// The definition of a name. O(1).
    pub fn get(&self, name: &str) -> Option<&TypeDef> {
        self.by_name.get(name).map(|&index| &self.types[index])
    }

    /// The object types and interfaces whose nodes are stored, in the order of the text.
    pub fn stored_types(&self) -> impl Iterator<Item = &TypeDef> {
        self.types.iter().filter(|def| def.is_stored())
    }
}
