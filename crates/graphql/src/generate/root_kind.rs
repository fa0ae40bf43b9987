//! What the fields of `Query`, `Mutation` and `Subscription` do.

use apollo_compiler::Name;

/// A root field of the generated API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// What it does.
    pub kind: RootKind,
    /// The declared type that it is about; the type of the result for a custom field and for those of a federation.
    pub type_name: Name,
}

/// What a root field does. A subscription's field does what the query's of the same name does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RootKind {
    /// `getT`: one node by its ID or its `@id` fields.
    Get,
    /// `queryT`: all nodes that pass a filter.
    Query,
    /// `aggregateT`.
    Aggregate,
    /// `checkTPassword`.
    CheckPassword,
    /// `querySimilarTById`.
    SimilarById,
    /// `querySimilarTByEmbedding`.
    SimilarByEmbedding,
    /// `addT`.
    Add,
    /// `updateT`.
    Update,
    /// `deleteT`.
    Delete,
    /// A field that the deployer declared with `@custom` or `@lambda`.
    Custom,
    /// `_entities` of a federation.
    Entities,
    /// `_service` of a federation.
    Service,
}
