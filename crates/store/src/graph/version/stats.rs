//! How much there is of each predicate.

use super::graph_version::Version;
use super::predicate::{Predicate, PredicateData};
use super::values::LangValues;
use crate::storage::facets_byte_len;
use std::sync::Arc;

/// How much there is of a predicate. Bytes are those of the built part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PredicateStats {
    /// The predicate's name.
    pub name: Arc<str>,
    /// The number of nodes that have it.
    pub subjects: u64,
    /// The number of values in all languages, or of edges.
    pub values: u64,
    /// The bytes of values, or of edges from subject to object, without facets.
    pub column_bytes: u64,
    /// The bytes of all indexes.
    pub index_bytes: u64,
    /// The bytes of the reverse edges.
    pub reverse_bytes: u64,
    /// The bytes of the facets.
    pub facet_bytes: u64,
}

/// The statistics of all predicates with data, by name. Costs a few operations each, whatever the
/// number of changes.
pub fn stats(version: &Version) -> Vec<PredicateStats> {
    let predicates = version.predicates();
    let mut all: Vec<_> = predicates.map(|(name, it)| stats_of(name, it)).collect();
    all.retain(|stats| 0 < stats.subjects);
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

fn stats_of(name: &Arc<str>, predicate: &Predicate) -> PredicateStats {
    let mut stats = PredicateStats {
        name: Arc::clone(name),
        subjects: predicate.subjects().len() as u64,
        ..PredicateStats::default()
    };
    match &predicate.data {
        PredicateData::Values(langs) => langs.iter().for_each(|values| stats.add_values(values)),
        PredicateData::Edges(edges) => {
            let base = &edges.forward.base;
            stats.values = edges.forward.total();
            stats.facet_bytes = facets_byte_len(&base.facets) as u64;
            stats.column_bytes = base.byte_len() as u64 - stats.facet_bytes;
            stats.reverse_bytes =
                edges.reverse.as_ref().map_or(0, |reverse| reverse.base.byte_len() as u64);
        }
    }
    stats
}

impl PredicateStats {
    fn add_values(&mut self, values: &LangValues) {
        let column = &values.base.column;
        let facet_bytes = facets_byte_len(&column.facets) as u64;
        self.facet_bytes += facet_bytes;
        self.column_bytes += column.byte_len() as u64 - facet_bytes;
        self.index_bytes +=
            values.base.indexes.iter().map(|(_, index)| index.byte_len() as u64).sum::<u64>();
        self.index_bytes +=
            values.base.vectors.as_ref().map_or(0, |vectors| vectors.byte_len() as u64);
        self.values += values.total();
    }
}
