//! The two sources of declarations: `alter` and a GraphQL schema.
//!
//! The definition of a predicate or a type is the union of what the two sources declared. The
//! declaration of each is retained beside the definition, so that a source can withdraw only its
//! own part. A definition without such a record counts as declared by `alter` alone. That covers
//! directories written before the record existed, and predicates that were never declared and came
//! with data.

use crate::schema::Tokenizer;

/// A source of declarations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A schema text that was given to `alter`, to a load or over HTTP.
    Alter,
    /// A GraphQL schema.
    Graphql,
}

/// Everything that can be declared of a predicate except for its name and its type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Values may have a language.
    pub lang: bool,
    /// Edges are retained in both directions.
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

/// What each source declared of a predicate; `None` for a source that does not mention it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declared {
    /// What `alter` declared.
    pub by_alter: Option<Options>,
    /// What the GraphQL schema declared.
    pub by_graphql: Option<Options>,
}

/// The fields of a type that each source declared; `None` for a source that does not mention it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeclaredFields {
    /// What `alter` declared.
    pub by_alter: Option<Vec<String>>,
    /// What the GraphQL schema declared.
    pub by_graphql: Option<Vec<String>>,
}

impl Options {
    /// Returns the options that `self` or `other` has. The indexes of `self` come first. When both
    /// have an index of the same name with other options, such as a vector index, that of `self` is
    /// retained.
    pub fn union(&self, other: &Options) -> Options {
        let mut indexes = self.indexes.clone();
        for index in &other.indexes {
            if !indexes.iter().any(|existing| existing.name() == index.name()) {
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
