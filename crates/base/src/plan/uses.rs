//! What the definition of a predicate allows a query to do with it.
//!
//! The planner refuses a query by this table, and the grammar of a database has what it allows.

use super::Aggregate;
use crate::schema::{PredicateDef, Tokenizer};
use crate::types::ValueType;

/// A use of a predicate in a query that its type and its indexes decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredicateUse {
    /// `eq` as the function of a block.
    EqualAtRoot,
    /// `le`, `lt`, `ge`, `gt` and `between` as the function of a block.
    OrderedAtRoot,
    /// The comparison of `count(p)` as the function of a block.
    CountAtRoot,
    /// `anyofterms` and `allofterms`.
    Terms,
    /// `anyoftext` and `alloftext`.
    FullText,
    /// `ngram`.
    NGram,
    /// `match`, and `regexp` as the function of a block.
    Trigrams,
    /// `regexp` in a filter.
    Pattern,
    /// `near`, `within`, `contains` and `intersects`.
    Geo,
    /// `similar_to`.
    Similar,
    /// `~p`.
    Reverse,
    /// An order by its values.
    Sort,
    /// An aggregate of its values.
    Aggregate(Aggregate),
}

impl PredicateUse {
    /// Returns true when the definition allows the use.
    pub fn is_allowed(self, def: &PredicateDef) -> bool {
        let has = |index: Tokenizer| def.indexes.contains(&index);
        match self {
            // Any index but that of trigrams allows the function, as in Dgraph. That of vectors has
            // no single values.
            PredicateUse::EqualAtRoot => {
                let has_values =
                    |it: &Tokenizer| !matches!(it, Tokenizer::Trigram | Tokenizer::Hnsw(_));
                def.indexes.iter().any(has_values)
            }
            PredicateUse::OrderedAtRoot => {
                PredicateUse::EqualAtRoot.is_allowed(def)
                    && def.indexes.iter().any(Tokenizer::is_sortable)
            }
            PredicateUse::CountAtRoot => def.count,
            PredicateUse::Terms => has(Tokenizer::Term),
            PredicateUse::FullText => has(Tokenizer::FullText),
            PredicateUse::NGram => has(Tokenizer::NGram),
            PredicateUse::Trigrams => has(Tokenizer::Trigram),
            PredicateUse::Pattern => def.value_type == ValueType::String,
            // Any index satisfies the functions, as in Dgraph; values of other types have no
            // geometry.
            PredicateUse::Geo => !def.indexes.is_empty(),
            PredicateUse::Similar => {
                def.indexes.iter().any(|index| matches!(index, Tokenizer::Hnsw(_)))
            }
            PredicateUse::Reverse => def.value_type == ValueType::Uid && def.reverse,
            PredicateUse::Sort => !def.list && def.value_type.is_ordered(),
            PredicateUse::Aggregate(op) => op.function().types.allows(def.value_type),
        }
    }

    /// Returns the name of the index in schema text that allows the use; empty where none alone
    /// does.
    pub fn index(self) -> &'static str {
        match self {
            PredicateUse::Terms => Tokenizer::Term.name(),
            PredicateUse::FullText => Tokenizer::FullText.name(),
            PredicateUse::NGram => Tokenizer::NGram.name(),
            PredicateUse::Trigrams => Tokenizer::Trigram.name(),
            PredicateUse::Geo => Tokenizer::Geo.name(),
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Algebraic;
    use crate::schema::parse_schema;

    #[test]
    fn types_and_indexes_decide() {
        let allows = |schema: &str, what: PredicateUse| {
            what.is_allowed(&parse_schema(schema).unwrap().predicates[0])
        };
        assert!(allows("a: string @index(hash) .", PredicateUse::EqualAtRoot));
        assert!(!allows("a: string @index(hash) .", PredicateUse::OrderedAtRoot));
        assert!(!allows("a: string @index(trigram) .", PredicateUse::EqualAtRoot));
        assert!(allows("a: string @index(exact) .", PredicateUse::OrderedAtRoot));
        assert!(!allows("a: [string] @index(exact) .", PredicateUse::Sort));
        assert!(!allows("a: uid .", PredicateUse::Reverse));
        let sum = PredicateUse::Aggregate(Aggregate::Algebraic(Algebraic::Sum));
        assert!(allows("a: int .", sum) && !allows("a: datetime .", sum));
    }
}
