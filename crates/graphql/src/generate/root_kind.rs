//! The kinds of root fields: what the fields of `Query`, `Mutation` and `Subscription` do.

use apollo_compiler::Name;

/// A root field of the generated API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// What it does.
    pub kind: RootKind,
    /// The name of the declared type that it is about; for a custom field, and for those of a
    /// federation, that of the result.
    pub type_name: Name,
}

/// What a root field does. A subscription's field does what the query's of the same name does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RootKind {
    /// `getT`: one node by its ID or its `@id` fields.
    Get,
    /// `queryT`: all nodes that pass a filter.
    Query,
    /// `aggregateT`: the number of nodes that pass a filter, and aggregates of their values.
    Aggregate,
    /// `checkTPassword`: a node, if the password is right.
    CheckPassword,
    /// `querySimilarTById`: the nodes whose vectors are nearest to that of a node.
    SimilarById,
    /// `querySimilarTByEmbedding`: the nodes whose vectors are nearest to a vector.
    SimilarByEmbedding,
    /// `addT`: adds nodes, or changes those that exist.
    Add,
    /// `updateT`: changes the nodes that pass a filter.
    Update,
    /// `deleteT`: deletes the nodes that pass a filter.
    Delete,
    /// A field that the schema declares with `@custom` or `@lambda`.
    Custom,
    /// `_entities` of a federation: the nodes that a gateway names by their keys.
    Entities,
    /// `_service` of a federation: the text of the schema for a gateway.
    Service,
}
