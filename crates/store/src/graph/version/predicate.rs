//! One predicate at one version: its definition, and its values or edges.

use super::edges::{Direction, EdgeStore};
use super::values::LangValues;
use crate::storage::NodeSet;
use hexgraph_base::schema::PredicateDef;
use roaring::RoaringBitmap;
use std::sync::Arc;

/// One predicate at one version.
#[derive(Clone)]
pub struct Predicate {
    /// Its definition.
    pub def: Arc<PredicateDef>,
    /// Its data.
    pub data: PredicateData,
}

/// The data of a predicate.
#[derive(Clone)]
pub enum PredicateData {
    /// Values, one part for each language, sorted by language; untagged first.
    Values(Vec<LangValues>),
    /// Edges.
    Edges(EdgeStore),
}

impl Predicate {
    /// The values in one language; the empty one for untagged values.
    pub fn values(&self, lang: &str) -> Option<&LangValues> {
        let langs = self.langs();
        if lang.is_empty() {
            return langs.first().filter(|values| values.lang.is_empty());
        }
        let position = langs.binary_search_by(|values| (*values.lang).cmp(lang)).ok()?;
        Some(&langs[position])
    }

    /// The parts of a value predicate; none for edges.
    pub fn langs(&self) -> &[LangValues] {
        match &self.data {
            PredicateData::Values(langs) => langs,
            PredicateData::Edges(_) => &[],
        }
    }

    /// The parts that are read without a language: the untagged values, and all parts of a
    /// predicate without `@lang`. It may have had `@lang` earlier; its tagged values then remain
    /// but can no longer be selected by language.
    pub fn untagged(&self) -> &[LangValues] {
        match self.langs() {
            langs if !self.def.lang => langs,
            [first, ..] if first.lang.is_empty() => std::slice::from_ref(first),
            _ => &[],
        }
    }

    /// The part of [`Predicate::untagged`], where it is just one.
    pub fn only_untagged(&self) -> Option<&LangValues> {
        match self.untagged() {
            [part] => Some(part),
            _ => None,
        }
    }

    /// The edges in one direction.
    pub fn direction(&self, reverse: bool) -> Option<&Direction> {
        match &self.data {
            PredicateData::Edges(edges) => edges.direction(reverse),
            PredicateData::Values(_) => None,
        }
    }

    /// True if the values of the predicate are nodes.
    pub fn is_edges(&self) -> bool {
        matches!(self.data, PredicateData::Edges(_))
    }

    /// The nodes that have a value in any language, or an edge.
    pub fn subjects(&self) -> NodeSet {
        match &self.data {
            PredicateData::Edges(edges) => edges.forward.subjects(),
            PredicateData::Values(langs) => langs
                .iter()
                .map(LangValues::subjects)
                .reduce(|one, other| one.or(&other))
                .unwrap_or_default(),
        }
    }

    /// How many nodes at most have a value in each language, or an edge in each stored direction.
    pub fn subject_counts(&self) -> impl Iterator<Item = usize> {
        let directions = [false, true].into_iter().filter_map(|reverse| self.direction(reverse));
        let values = self.langs().iter().map(|part| part.subjects().len());
        directions.map(Direction::subjects_max).chain(values)
    }

    /// Adds the nodes that have a value, or an edge in either direction. Without `@reverse` it
    /// costs a scan of the edges.
    pub fn nodes_into(&self, nodes: &mut RoaringBitmap) {
        self.subjects().or_into(nodes);
        if let PredicateData::Edges(edges) = &self.data {
            match &edges.reverse {
                Some(reverse) => reverse.subjects().or_into(nodes),
                None => *nodes |= edges.forward.all_targets(),
            }
        }
    }

    /// Whether a node has anything.
    pub fn has(&self, node: u32) -> bool {
        match &self.data {
            PredicateData::Edges(edges) => edges.forward.has(node),
            PredicateData::Values(langs) => langs.iter().any(|values| values.has(node)),
        }
    }
}
