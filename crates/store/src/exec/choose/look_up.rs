//! [`LookUp`]: what an index of values has for a test, for languages that test values themselves.

use super::geo_function::{append_cells, cells_len};
use super::trigrams::{trigram_len, trigram_set};
use crate::graph::{IndexView, LangValues, union_of, union_of_sets};
use crate::index::{IndexKind, TokenKey};
use crate::storage::NodeSet;
use hexgraph_base::geo::GeoQuery;
use hexgraph_base::text::TrigramQuery;
use hexgraph_base::types::Value;
use std::ops::Bound;

/// A test of values that an index can answer. The nodes of an index are those that pass, and
/// perhaps others: the caller tests each.
#[derive(Debug)]
pub enum LookUp {
    /// Equal to one of these values, which are of the predicate's type. Index of entire values.
    AnyOf(Vec<Value>),
    /// Between two values of the predicate's type. Index of entire values.
    Between(Bound<Value>, Bound<Value>),
    /// A text with trigrams. Index of trigrams.
    Trigrams(TrigramQuery),
    /// A geometry in some cells. Index of cells.
    Cells(Box<GeoQuery>),
}

impl LookUp {
    /// Returns the nodes of an index, those of later changes included; `None` without an index, or
    /// where it gives no bound.
    pub fn nodes(&self, part: &LangValues) -> Option<NodeSet> {
        let view = part.index(self.index())?;
        Some(match self {
            LookUp::AnyOf(values) => {
                let sets: Vec<NodeSet> = keys(values)?.iter().map(|it| view.nodes(it)).collect();
                union_of_sets(&sets)
            }
            LookUp::Between(low, high) => {
                let (low, high) = (key(low)?, key(high)?);
                view.range(low.as_ref(), high.as_ref())
            }
            LookUp::Trigrams(TrigramQuery::Any) => return None,
            LookUp::Trigrams(query) => trigram_set(view, query),
            LookUp::Cells(query) => {
                let mut nodes = Vec::new();
                append_cells(view, query, &mut nodes);
                union_of(nodes)
            }
        })
    }

    /// Returns about how many nodes [`LookUp::nodes`] has, rather more than fewer. Reads no
    /// postings. `None` as there.
    pub fn estimate(&self, part: &LangValues) -> Option<usize> {
        let view = part.index(self.index())?;
        match self {
            LookUp::AnyOf(values) => {
                Some(keys(values)?.iter().map(|it| view.nodes(it).len()).sum())
            }
            LookUp::Between(low, high) => {
                let (low, high) = (key(low)?, key(high)?);
                Some(view.estimate(low.as_ref(), high.as_ref()))
            }
            LookUp::Trigrams(query) => trigram_len(view, query),
            LookUp::Cells(query) => Some(cells_len(view, query)),
        }
    }

    /// The index that answers it.
    fn index(&self) -> IndexKind {
        match self {
            LookUp::AnyOf(_) | LookUp::Between(..) => LookUpIndex::Values.kind(),
            LookUp::Trigrams(_) => LookUpIndex::Trigrams.kind(),
            LookUp::Cells(_) => LookUpIndex::Cells.kind(),
        }
    }
}

/// An index that answers look-ups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookUpIndex {
    /// Entire values, in their order.
    Values,
    /// Trigrams of texts.
    Trigrams,
    /// Cells of geometries.
    Cells,
}

impl LookUpIndex {
    /// Returns the numbers of nodes and of tokens as the index was built; `None` without one. O(1).
    pub fn size(self, part: &LangValues) -> Option<(u64, u64)> {
        let IndexView { index, .. } = part.index(self.kind())?;
        Some((index.postings.len() as u64, index.len() as u64))
    }

    fn kind(self) -> IndexKind {
        match self {
            LookUpIndex::Values => IndexKind::Ordered,
            LookUpIndex::Trigrams => IndexKind::Trigram,
            LookUpIndex::Cells => IndexKind::Geo,
        }
    }
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
