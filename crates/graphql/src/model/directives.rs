//! The values of the directives that say one thing each: `@search`, `@id`, `@hasInverse`,
//! `@default`, `@generate`, `@lambdaOnMutate`.

/// An index word of `@search`, as it was written or as the type implies it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SearchIndex {
    /// The word, such as `hash`, `regexp`, `int64`, `point` or `hnsw`.
    pub word: String,
    /// The options of `hnsw` as pairs of name and value, ordered by name; empty for other words.
    pub options: Vec<(String, String)>,
}

/// `@id`: no two nodes of the type have the same value, so a value names a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UniqueId {
    /// True if no two nodes of all types that implement the interface have the same value.
    pub interface: bool,
}

/// `@hasInverse`: the field at the other end of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inverse {
    /// The type at the other end, as the field's type names it.
    pub type_name: String,
    /// The name of the field there.
    pub field: String,
}

/// `@default`: the value of a field that a mutation does not mention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultValue {
    /// `$now`: the time of the mutation.
    Now,
    /// A text that converts to the field's type.
    Text(String),
}

/// `@generate` and `@withSubscription`: the operations that the API has for a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generate {
    /// `getT`, and with it `querySimilarT...`.
    pub get: bool,
    /// `queryT`.
    pub query: bool,
    /// `checkTPassword`.
    pub password: bool,
    /// `aggregateT`.
    pub aggregate: bool,
    /// `addT`.
    pub add: bool,
    /// `updateT`.
    pub update: bool,
    /// `deleteT`.
    pub delete: bool,
    /// True if the queries can be subscribed to.
    pub subscription: bool,
}

impl Default for Generate {
    fn default() -> Generate {
        Generate {
            get: true,
            query: true,
            password: true,
            aggregate: true,
            add: true,
            update: true,
            delete: true,
            subscription: false,
        }
    }
}

/// `@lambdaOnMutate`: the mutations after which the lambda server is sent an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LambdaOnMutate {
    /// True for mutations that add nodes.
    pub add: bool,
    /// True for mutations that change nodes.
    pub update: bool,
    /// True for mutations that delete nodes.
    pub delete: bool,
}
