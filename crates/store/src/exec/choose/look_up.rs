//! What an index of values has for a [`LookUp`].

use super::geo_function::{append_cells, cells_len};
use super::trigrams::{trigram_len, trigram_set};
use crate::graph::{IndexView, LangValues, union_of, union_of_sets};
use crate::index::{IndexKind, TokenKey};
use crate::storage::NodeSet;
use hexgraph_base::geo::GeoQuery;
use hexgraph_base::plan::{LookUp, LookUpIndex};
use hexgraph_base::text::{TrigramQuery, unicode_trigram_query};
use hexgraph_base::types::Value;
use std::ops::Bound;

/// Returns the nodes of an index, those of later changes included; `None` without an index, or
/// where it gives no bound.
pub fn look_up_nodes(part: &LangValues, look_up: &LookUp) -> Option<NodeSet> {
    let view = part.index(kind_of(look_up.index()))?;
    Some(match look_up {
        LookUp::AnyOf(values) => {
            let sets: Vec<NodeSet> = keys(values)?.iter().map(|it| view.nodes(it)).collect();
            union_of_sets(&sets)
        }
        LookUp::Between(low, high) => {
            let (low, high) = (key(low)?, key(high)?);
            view.range(low.as_ref(), high.as_ref())
        }
        LookUp::Containing(_) | LookUp::Matching(_) => trigram_set(view, &trigrams(look_up)?),
        LookUp::Near { .. } => {
            let mut nodes = Vec::new();
            append_cells(view, &circle(look_up)?, &mut nodes);
            union_of(nodes)
        }
    })
}

/// Returns about how many nodes [`look_up_nodes`] has, rather more than fewer. Reads no postings.
/// `None` as there.
pub fn look_up_estimate(part: &LangValues, look_up: &LookUp) -> Option<usize> {
    let view = part.index(kind_of(look_up.index()))?;
    match look_up {
        LookUp::AnyOf(values) => Some(keys(values)?.iter().map(|it| view.nodes(it).len()).sum()),
        LookUp::Between(low, high) => {
            let (low, high) = (key(low)?, key(high)?);
            Some(view.estimate(low.as_ref(), high.as_ref()))
        }
        LookUp::Containing(_) | LookUp::Matching(_) => trigram_len(view, &trigrams(look_up)?),
        LookUp::Near { .. } => Some(cells_len(view, &circle(look_up)?)),
    }
}

/// Returns the numbers of nodes and of tokens as an index was built; `None` without one. O(1).
pub fn index_size(part: &LangValues, index: LookUpIndex) -> Option<(u64, u64)> {
    let IndexView { index, .. } = part.index(kind_of(index))?;
    Some((index.postings.len() as u64, index.len() as u64))
}

fn kind_of(index: LookUpIndex) -> IndexKind {
    match index {
        LookUpIndex::Values => IndexKind::Ordered,
        LookUpIndex::Trigrams => IndexKind::Trigram,
        LookUpIndex::Geo => IndexKind::Geo,
    }
}

/// The trigrams of a text; `None` where any text may pass.
fn trigrams(look_up: &LookUp) -> Option<TrigramQuery> {
    let query = match look_up {
        LookUp::Containing(text) => TrigramQuery::containing(text),
        LookUp::Matching(pattern) => unicode_trigram_query(pattern)?,
        LookUp::AnyOf(_) | LookUp::Between(..) | LookUp::Near { .. } => return None,
    };
    match query {
        TrigramQuery::Any => None,
        query => Some(query),
    }
}

fn circle(look_up: &LookUp) -> Option<GeoQuery> {
    let LookUp::Near { longitude, latitude, metres } = look_up else { return None };
    GeoQuery::near(&format!("[{longitude},{latitude}]"), &metres.to_string()).ok()
}

/// The distinct tokens of values; `None` where one has none.
fn keys(values: &[Value]) -> Option<Vec<TokenKey>> {
    let keys = values.iter().map(|value| TokenKey::of(value.as_ref()));
    let mut keys = keys.collect::<Option<Vec<TokenKey>>>()?;
    keys.sort_unstable();
    keys.dedup();
    Some(keys)
}

/// The token of a bound; `None` where the value has none.
fn key(bound: &Bound<Value>) -> Option<Bound<TokenKey>> {
    Some(match bound {
        Bound::Included(value) => Bound::Included(TokenKey::of(value.as_ref())?),
        Bound::Excluded(value) => Bound::Excluded(TokenKey::of(value.as_ref())?),
        Bound::Unbounded => Bound::Unbounded,
    })
}
