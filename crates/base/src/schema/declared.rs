//! Who declared what of a predicate or a type: `alter`, or a GraphQL schema.
//!
//! A definition says what holds, whoever asked for it: it is the union of what the two declared. What each asked for is
//! kept beside it, so that one of them can take back what is its own and nothing else. A definition that keeps nothing
//! beside it counts as declared by `alter` as it stands: so do those of directories that were written before this was
//! kept, and predicates that nobody declared, which came with data.

use crate::schema::Tokenizer;

/// Who declares predicates and types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A schema text that was given to `alter`, to a load or over HTTP.
    Alter,
    /// A GraphQL schema.
    Graphql,
}

/// What can be declared of a predicate beside its type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Values may have a language.
    pub lang: bool,
    /// Edges are kept in both directions.
    pub reverse: bool,
    /// The number of values or edges of a node is indexed.
    pub count: bool,
    /// Transactions that write the same indexed value conflict.
    pub upsert: bool,
    /// No two nodes have the same value.
    pub unique: bool,
    /// Writes never conflict.
    pub noconflict: bool,
    /// The indexes, in the order they were declared.
    pub indexes: Vec<Tokenizer>,
}

/// What each declared of a predicate; `None` for one who did not name it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declared {
    /// What `alter` declared.
    pub by_alter: Option<Options>,
    /// What the GraphQL schema declared.
    pub by_graphql: Option<Options>,
}

/// The fields that each declared of a type; `None` for one who did not name it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeclaredFields {
    /// What `alter` declared.
    pub by_alter: Option<Vec<String>>,
    /// What the GraphQL schema declared.
    pub by_graphql: Option<Vec<String>>,
}

impl Options {
    /// What either asks for. Indexes of `self` come first; of two vector indexes that of `self` is kept.
    pub fn union(&self, other: &Options) -> Options {
        let mut indexes = self.indexes.clone();
        for index in &other.indexes {
            if !indexes.iter().any(|known| known.name() == index.name()) {
                indexes.push(index.clone());
            }
        }
        Options {
            lang: self.lang | other.lang,
            reverse: self.reverse | other.reverse,
            count: self.count | other.count,
            upsert: self.upsert | other.upsert,
            unique: self.unique | other.unique,
            noconflict: self.noconflict | other.noconflict,
            indexes,
        }
    }
}
