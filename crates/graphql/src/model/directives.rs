//! What the small directives say.

/// An index word of `@search`, as it was written or as the type implies it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SearchIndex {
    /// The word: `hash`, `regexp`, `int64`, `point`, `hnsw` ...
    pub word: String,
    /// The options of `hnsw`, by name.
    pub options: Vec<(String, String)>,
}

/// `@id`: the value names a node of the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UniqueId {
    /// The value is unique among all types that implement the interface.
    pub interface: bool,
}

/// The other end of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inverse {
    /// The type at the other end, as the field's type names it.
    pub type_name: String,
    /// Its field.
    pub field: String,
}

/// The value that a field gets by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultValue {
    /// `$now`: the moment of the mutation.
    Now,
    /// A text that converts to the field's type.
    Text(String),
}

/// Which operations a type has, and whether they can be subscribed to.
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
    /// The queries are subscriptions too: here or by `@withSubscription`.
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

/// `@lambdaOnMutate`: which mutations are told to the lambda server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LambdaOnMutate {
    /// Of new nodes.
    pub add: bool,
    /// Of changed nodes.
    pub update: bool,
    /// Of deleted nodes.
    pub delete: bool,
}
