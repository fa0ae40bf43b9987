//! The conflict keys of a request: fingerprints of what it writes.
//!
//! Two concurrent transactions conflict if they have a key in common. The keys of a change depend
//! on its predicate:
//!
//! | predicate | its data | its index |
//! |---|---|---|
//! | one value or edge | (node): any two writers of the field conflict | none, the node says it |
//! | list | (node, element): only writers of one element conflict | (node, token) |
//! | `@upsert` | (node) | (token): two nodes with one value conflict |
//! | `@unique` | (node) | (token, language): so do two with it in one language |
//! | `@noconflict` | none | none |
//!
//! A delete has the keys of data even if it matches nothing: a concurrent transaction may commit
//! data that the delete would remove. The keys of an index are those of the deleted values.
//!
//! `@count` adds (node) where the number of elements changes, and the same for the other side of
//! edges with `@reverse`. Keys have uids, as node ids may differ from version to version.

use crate::graph::version::values::{LangValues, ValueList};
use crate::index::{IndexKind, TokenKey, tokens_of};
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::{Uid, ValueRef};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// A fingerprint. Two different things have the same one so rarely that a needless conflict now
/// and then is all that comes of it.
pub type ConflictKey = u64;

/// What a key is about, so that equal numbers of different kinds differ.
#[derive(Clone, Copy, Hash)]
enum Part {
    Data,
    Everything,
    Index(IndexKind),
    Reverse,
    Count,
    ReverseCount,
}

#[derive(Clone, Copy, PartialEq)]
enum Rule {
    None,
    Single,
    List,
    Upsert,
}

/// Collects the keys of changes of one predicate.
pub(in crate::graph) struct PredicateKeys<'k> {
    rule: Rule,
    def: &'k PredicateDef,
    /// The fingerprint of the predicate's name.
    base: u64,
    result: &'k mut Vec<ConflictKey>,
}

impl<'k> PredicateKeys<'k> {
    /// Adds to `result` what the changes of a predicate have as keys.
    pub(in crate::graph) fn new(
        def: &'k PredicateDef,
        result: &'k mut Vec<ConflictKey>,
    ) -> PredicateKeys<'k> {
        let rule = match def {
            PredicateDef { noconflict: true, .. } => Rule::None,
            PredicateDef { upsert: true, .. } | PredicateDef { unique: true, .. } => Rule::Upsert,
            PredicateDef { list: true, .. } => Rule::List,
            _ => Rule::Single,
        };
        PredicateKeys { rule, def, base: fingerprint(&def.name), result }
    }

    /// Everything of a node is deleted, be there something or not.
    pub(in crate::graph) fn all(&mut self, node: Uid) {
        match self.rule {
            // A separate key: two requests that delete an entire list conflict with each other by
            // this key, but not with one that adds an element.
            Rule::List => self.push((Part::Everything, node)),
            _ => self.node(node),
        }
    }

    /// A value of a node is set.
    pub(in crate::graph) fn value(&mut self, node: Uid, values: &LangValues, value: ValueRef<'_>) {
        self.value_written(node, value);
        self.tokens(node, values, value);
    }

    /// A value of a node is set or deleted, whether it is there or not.
    pub(super) fn value_written(&mut self, node: Uid, value: ValueRef<'_>) {
        let expected = self.def.value_type;
        self.element(node, |hasher| {
            // As a delete compares it: a predicate of type default contains values of any type, and
            // `5` is "5" there.
            match value.value_type() == expected {
                true => value.hash_content(hasher),
                false => match value.convert(expected) {
                    Ok(value) => value.as_ref().hash_content(hasher),
                    Err(_) => value.hash_content(hasher),
                },
            }
        });
    }

    /// False if a change of the predicate has only the keys of its node and element: nothing has to
    /// be read for them.
    pub(super) fn has_more_than_nodes(&self) -> bool {
        self.def.count || matches!(self.rule, Rule::List | Rule::Upsert)
    }

    /// A value of a node was there and is deleted.
    pub(super) fn value_gone(&mut self, node: Uid, values: &LangValues, value: ValueRef<'_>) {
        self.tokens(node, values, value);
    }

    /// The values of a node, as they were before a change that replaces them.
    pub(in crate::graph) fn replaced(
        &mut self,
        node: Uid,
        values: &LangValues,
        old: &ValueList<'_>,
    ) {
        for value in old.iter() {
            self.tokens(node, values, value);
        }
    }

    /// An edge is set or deleted, whether it is there or not.
    pub(in crate::graph) fn edge(&mut self, node: Uid, target: Uid) {
        self.element(node, |hasher| target.hash(hasher));
        if self.rule == Rule::Upsert && self.def.reverse {
            self.push((Part::Reverse, target));
        }
    }

    /// An edge is deleted or replaced.
    pub(super) fn edge_gone(&mut self, node: Uid, target: Uid) {
        if self.rule == Rule::Upsert && self.def.reverse {
            self.push((Part::Reverse, target));
        }
        self.count(node);
        self.reverse_count(target);
    }

    /// A node has more or fewer elements than before.
    pub(in crate::graph) fn count(&mut self, node: Uid) {
        if self.def.count {
            self.push((Part::Count, node));
        }
    }

    /// The number of edges to a node changes.
    pub(super) fn reverse_count(&mut self, target: Uid) {
        if self.def.count && self.def.reverse {
            self.push((Part::ReverseCount, target));
        }
    }

    fn node(&mut self, node: Uid) {
        self.push((Part::Data, node));
    }

    fn element(&mut self, node: Uid, hash: impl FnOnce(&mut FxHasher)) {
        match self.rule {
            Rule::List => {
                let mut hasher = FxHasher::default();
                hash(&mut hasher);
                self.push((Part::Data, node, hasher.finish()));
            }
            _ => self.node(node),
        }
    }

    fn tokens(&mut self, node: Uid, values: &LangValues, value: ValueRef<'_>) {
        if !matches!(self.rule, Rule::List | Rule::Upsert) {
            return;
        }
        let mut tokens: Vec<TokenKey> = Vec::new();
        for (kind, _) in &values.base.indexes {
            tokens.clear();
            tokens_of(*kind, value, self.def.value_type, &values.lang, &mut tokens);
            for token in &tokens {
                match self.rule {
                    // Two nodes may have one value in two languages.
                    Rule::Upsert if self.def.unique => {
                        self.push((Part::Index(*kind), token, &*values.lang));
                    }
                    // Without the node: two nodes with the same value are to conflict.
                    Rule::Upsert => self.push((Part::Index(*kind), token)),
                    _ => self.push((Part::Index(*kind), token, node)),
                }
            }
        }
    }

    fn push(&mut self, of: impl Hash) {
        if self.rule != Rule::None {
            self.result.push(fingerprint(&(self.base, of)));
        }
    }
}

fn fingerprint(of: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish()
}
