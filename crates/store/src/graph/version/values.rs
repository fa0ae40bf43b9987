//! The values of a predicate at one version, in one language: base and changes as one.

use super::delta::{FacetList, Postings, Row, ValueDelta, set_member};
use crate::index::{IndexKind, TokenIndex, TokenKey, VectorIndex, tokens_of};
use crate::storage::{Column, NodeSet};
use hexgraph_base::types::{ValueRef, ValueType};
use imbl::OrdMap;
use roaring::RoaringBitmap;
use std::ops::{Bound, Range};
use std::sync::Arc;

/// What was built at the last load, alter or compaction.
pub struct ValueBase {
    /// The values.
    pub column: Column,
    /// The indexes, one a kind.
    pub indexes: Vec<(IndexKind, TokenIndex)>,
    /// The index of the nearest vectors.
    pub vectors: Option<VectorIndex>,
}

/// The values in one language.
#[derive(Clone)]
pub struct LangValues {
    /// The language, empty for untagged values.
    pub lang: Arc<str>,
    /// The built part.
    pub base: Arc<ValueBase>,
    /// What changed since.
    pub delta: ValueDelta,
}

/// The values of one node.
#[derive(Clone)]
pub enum ValueList<'a> {
    /// As built.
    Stored(&'a Column, Range<usize>),
    /// As changed.
    Changed(&'a Row),
}

impl<'a> ValueList<'a> {
    /// No values.
    pub fn none(column: &'a Column) -> ValueList<'a> {
        ValueList::Stored(column, 0..0)
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            ValueList::Stored(_, positions) => positions.len(),
            ValueList::Changed(row) => row.values.len(),
        }
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at a place in the list, as stored: its type may be another than the schema's.
    pub fn get(&self, place: usize) -> ValueRef<'a> {
        match self {
            ValueList::Stored(column, positions) => column.values.get(positions.start + place),
            ValueList::Changed(row) => row.values[place].0.as_ref(),
        }
    }

    /// All values.
    pub fn iter(&self) -> impl Iterator<Item = ValueRef<'a>> + '_ {
        (0..self.len()).map(|place| self.get(place))
    }

    /// One facet of the value at a place.
    pub fn facet(&self, place: usize, key: &str) -> Option<ValueRef<'a>> {
        match self {
            ValueList::Stored(column, positions) => column
                .facets
                .iter()
                .filter(|facet| facet.key == key)
                .find_map(|facet| facet.get(positions.start + place)),
            ValueList::Changed(row) => facet_in(&row.values[place].1, key),
        }
    }

    /// All facets of the value at a place, by key.
    pub fn facets(&self, place: usize) -> Vec<(&'a str, ValueRef<'a>)> {
        match self {
            ValueList::Stored(column, positions) => column
                .facets
                .iter()
                .filter_map(|facet| {
                    facet.get(positions.start + place).map(|value| (facet.key.as_str(), value))
                })
                .collect(),
            ValueList::Changed(row) => facets_in(&row.values[place].1),
        }
    }

    /// The whole row, to be changed.
    pub fn to_row(&self) -> Row {
        if let ValueList::Changed(row) = self {
            return Row::clone(row);
        }
        let value_at = |place| {
            let facets = self.facets(place).into_iter();
            let facets = facets.map(|(key, value)| (Arc::from(key), value.to_value()));
            (self.get(place).to_value(), facets.collect())
        };
        Row { values: (0..self.len()).map(value_at).collect() }
    }
}

/// One facet of a list.
pub(super) fn facet_in<'a>(facets: &'a FacetList, key: &str) -> Option<ValueRef<'a>> {
    facets.iter().find(|(name, _)| &**name == key).map(|(_, value)| value.as_ref())
}

/// All facets of a list, borrowed.
pub(super) fn facets_in(facets: &FacetList) -> Vec<(&str, ValueRef<'_>)> {
    facets.iter().map(|(key, value)| (&**key, value.as_ref())).collect()
}

impl LangValues {
    /// A language just built.
    pub fn new(lang: Arc<str>, base: ValueBase) -> LangValues {
        let delta =
            ValueDelta { tokens: vec![OrdMap::new(); base.indexes.len()], ..Default::default() };
        LangValues { lang, base: Arc::new(base), delta }
    }

    /// The nodes that have a value.
    pub fn subjects(&self) -> NodeSet {
        NodeSet::overlay(&self.base.column.subjects, &self.delta.gained, &self.delta.lost)
    }

    /// Whether a node has a value.
    pub fn has(&self, node: u32) -> bool {
        if !self.delta.rows.is_empty()
            && let Some(row) = self.delta.rows.get(&node)
        {
            return row.is_some();
        }
        self.base.column.subjects.contains(node)
    }

    /// The values of a node, ascending.
    pub fn values(&self, node: u32) -> ValueList<'_> {
        if !self.delta.rows.is_empty()
            && let Some(row) = self.delta.rows.get(&node)
        {
            return match row {
                Some(row) => ValueList::Changed(row),
                None => ValueList::none(&self.base.column),
            };
        }
        let positions = self.base.column.positions(node).unwrap_or(0..0);
        ValueList::Stored(&self.base.column, positions)
    }

    /// The first value of a node.
    pub fn first(&self, node: u32) -> Option<ValueRef<'_>> {
        if self.delta.rows.is_empty() {
            return self.base.column.first(node);
        }
        let values = self.values(node);
        (!values.is_empty()).then(|| values.get(0))
    }

    /// True when nothing changed since the base was built.
    pub fn is_settled(&self) -> bool {
        self.delta.rows.is_empty()
    }

    /// The index of a kind.
    pub fn index(&self, kind: IndexKind) -> Option<IndexView<'_>> {
        let place = self.base.indexes.iter().position(|(other, _)| *other == kind)?;
        Some(IndexView {
            index: &self.base.indexes[place].1,
            changes: self.delta.tokens.get(place)?,
        })
    }

    /// Replaces the values of a node; `None` or an empty row removes them. The indexes follow.
    pub fn set_row(&mut self, node: u32, row: Option<Row>, value_type: ValueType) {
        let row = row.filter(|row| !row.values.is_empty()).map(Arc::new);
        let base = Arc::clone(&self.base);
        for (place, (kind, index)) in base.indexes.iter().enumerate() {
            let old = self.tokens_at(node, *kind, value_type);
            let mut new = Vec::new();
            for (value, _) in row.iter().flat_map(|row| &row.values) {
                tokens_of(*kind, value.as_ref(), value_type, &self.lang, &mut new);
            }
            new.sort_unstable();
            new.dedup();
            let changes = &mut self.delta.tokens[place];
            for token in old.iter().filter(|token| new.binary_search(token).is_err()) {
                change_posting(changes, index, token, node, false);
            }
            for token in new.iter().filter(|token| old.binary_search(token).is_err()) {
                change_posting(changes, index, token, node, true);
            }
        }
        let in_base = base.column.subjects.contains(node);
        let ValueDelta { gained, lost, rows, .. } = &mut self.delta;
        set_member(gained, lost, node, in_base, row.is_some());
        rows.insert(node, row);
    }

    fn tokens_at(&self, node: u32, kind: IndexKind, value_type: ValueType) -> Vec<TokenKey> {
        let mut tokens = Vec::new();
        for value in self.values(node).iter() {
            tokens_of(kind, value, value_type, &self.lang, &mut tokens);
        }
        tokens.sort_unstable();
        tokens.dedup();
        tokens
    }
}

fn change_posting(
    changes: &mut OrdMap<TokenKey, Postings>,
    index: &TokenIndex,
    token: &TokenKey,
    node: u32,
    member: bool,
) {
    let in_base = index.find(token).is_some_and(|place| index.nodes(place).contains(node));
    // Changed in place where this commit changed the posting before; it may be long.
    if let Some(postings) = changes.get_mut(token) {
        set_member(&mut postings.gained, &mut postings.lost, node, in_base, member);
        if postings.gained.is_empty() && postings.lost.is_empty() {
            changes.remove(token);
        }
    } else if in_base != member {
        let mut postings = Postings::default();
        set_member(&mut postings.gained, &mut postings.lost, node, in_base, member);
        changes.insert(token.clone(), postings);
    }
}

/// An index at one version: base and changes as one.
#[derive(Clone, Copy)]
pub struct IndexView<'a> {
    /// The built part.
    pub index: &'a TokenIndex,
    changes: &'a OrdMap<TokenKey, Postings>,
}

impl IndexView<'_> {
    /// The nodes of one token.
    pub fn nodes(&self, token: &TokenKey) -> NodeSet {
        let stored = self.index.find(token).map(|place| self.index.nodes(place));
        let stored = stored.unwrap_or_default();
        match self.changes.get(token) {
            Some(change) => merge_postings(&stored, change),
            None => stored,
        }
    }

    /// True when nothing changed since the index was built.
    pub fn is_settled(&self) -> bool {
        self.changes.is_empty()
    }

    /// The places of the tokens between two bounds.
    pub fn places(&self, low: Bound<&TokenKey>, high: Bound<&TokenKey>) -> Range<usize> {
        let start = match low {
            Bound::Included(key) => self.index.lower_bound(key),
            Bound::Excluded(key) => self.index.upper_bound(key),
            Bound::Unbounded => 0,
        };
        let end = match high {
            Bound::Included(key) => self.index.upper_bound(key),
            Bound::Excluded(key) => self.index.lower_bound(key),
            Bound::Unbounded => self.index.len(),
        };
        start..end.max(start)
    }

    /// The nodes of all tokens between two bounds.
    pub fn range(&self, low: Bound<&TokenKey>, high: Bound<&TokenKey>) -> NodeSet {
        let places = self.places(low, high);
        if places.len() == 1 && self.changes.is_empty() {
            return self.index.nodes(places.start);
        }
        if range_is_empty(low, high) {
            return NodeSet::default();
        }
        let mut nodes = Vec::new();
        let mut done = places.start;
        for (token, change) in self.changes.range::<_, TokenKey>((low, high)) {
            let place = self.index.lower_bound(token).clamp(done, places.end);
            self.push_span(done..place, &mut nodes);
            done = place;
            let known = usize::from(self.index.find(token).is_some());
            let stored = self.index.postings.slice(self.index.span(place..place + known));
            push_changed(stored, change, &mut nodes);
            done += known;
        }
        self.push_span(done..places.end, &mut nodes);
        union_of(nodes)
    }

    /// About how many nodes are between two bounds: exact for the built part.
    pub fn estimate(&self, low: Bound<&TokenKey>, high: Bound<&TokenKey>) -> usize {
        self.index.span(self.places(low, high)).len() + self.changes.len()
    }

    fn push_span(&self, places: Range<usize>, nodes: &mut Vec<u32>) {
        if places.start < places.end {
            nodes.extend_from_slice(self.index.postings.slice(self.index.span(places)));
        }
    }
}

fn range_is_empty(low: Bound<&TokenKey>, high: Bound<&TokenKey>) -> bool {
    match (low, high) {
        (Bound::Included(low), Bound::Included(high)) => high < low,
        (
            Bound::Included(low) | Bound::Excluded(low),
            Bound::Included(high) | Bound::Excluded(high),
        ) => high <= low,
        _ => false,
    }
}

fn merge_postings(stored: &NodeSet, change: &Postings) -> NodeSet {
    let mut nodes = stored.to_bitmap();
    nodes |= &*change.gained;
    nodes -= &*change.lost;
    NodeSet::from(nodes)
}

/// Adds the nodes of one token, in runs between those that it lost.
fn push_changed(stored: &[u32], change: &Postings, nodes: &mut Vec<u32>) {
    let mut rest = stored;
    for lost in change.lost.iter() {
        let (kept, later) = rest.split_at(count_below(rest, lost));
        nodes.extend_from_slice(kept);
        rest = &later[usize::from(later.first() == Some(&lost))..];
    }
    nodes.extend_from_slice(rest);
    nodes.extend(change.gained.iter());
}

/// How many of a sorted list are below a bound that is likely near its front: steps that double.
fn count_below(nodes: &[u32], bound: u32) -> usize {
    let mut step = 1;
    while step < nodes.len() && nodes[step] < bound {
        step *= 2;
    }
    let (low, high) = (step / 2, nodes.len().min(step + 1));
    low + nodes[low..high].partition_point(|node| *node < bound)
}

/// The set of an unsorted list with repeats, in the form in which members are found fastest.
pub(crate) fn union_of(nodes: Vec<u32>) -> NodeSet {
    match bits_of(&nodes) {
        Some((first, words)) => {
            let bytes = bytemuck::cast_slice(&words);
            NodeSet::from(RoaringBitmap::from_lsb0_bytes(first, bytes))
        }
        None => NodeSet::from(sorted(nodes)),
    }
}

/// The members of an unsorted list with repeats, ascending.
pub(crate) fn distinct_of(nodes: Vec<u32>) -> Vec<u32> {
    let Some((first, words)) = bits_of(&nodes) else { return sorted(nodes) };
    let mut members = Vec::with_capacity(nodes.len());
    for (base, mut word) in (first..).step_by(64).zip(words) {
        while word != 0 {
            members.push(base + word.trailing_zeros());
            word &= word - 1;
        }
    }
    members
}

/// A plain set of bits of a list that is long and dense in its range, and its first node: one
/// pass, no comparisons.
fn bits_of(nodes: &[u32]) -> Option<(u32, Vec<u64>)> {
    let (low, high) = (*nodes.iter().min()?, *nodes.iter().max()?);
    let span = (high - low) as usize / 64 + 2;
    if nodes.len() < 512 || 4 * nodes.len() < span {
        return None;
    }
    let first = low & !63;
    let mut words = vec![0u64; span];
    for node in nodes {
        words[((node - first) / 64) as usize] |= 1 << (node % 64);
    }
    Some((first, words))
}

/// From this length on, dealing nodes out by their bytes is faster than comparing them.
const RADIX_LEN: usize = 128;

fn sorted(mut nodes: Vec<u32>) -> Vec<u32> {
    if nodes.len() < RADIX_LEN {
        nodes.sort_unstable();
    } else {
        radix_sort(&mut nodes);
    }
    nodes.dedup();
    nodes
}

/// Sorts by one byte after the other, the lowest first; bytes that are the same in all are skipped.
fn radix_sort(nodes: &mut Vec<u32>) {
    let differ = nodes.iter().fold(0, |differ, node| differ | (node ^ nodes[0]));
    let mut dealt = vec![0; nodes.len()];
    for shift in [0, 8, 16, 24] {
        if differ >> shift & 255 == 0 {
            continue;
        }
        let mut ends = [0usize; 256];
        nodes.iter().for_each(|node| ends[(node >> shift & 255) as usize] += 1);
        let mut end = 0;
        for slot in &mut ends {
            end += *slot;
            *slot = end;
        }
        for &node in nodes.iter().rev() {
            let slot = &mut ends[(node >> shift & 255) as usize];
            *slot -= 1;
            dealt[*slot] = node;
        }
        std::mem::swap(nodes, &mut dealt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_changed_posting_is_what_it_was_and_what_changed(
            stored in proptest::collection::btree_set(0u32..300, 0..100),
            gained in proptest::collection::btree_set(0u32..300, 0..50),
            lost in proptest::collection::btree_set(0u32..300, 0..50),
        ) {
            let stored: Vec<u32> = stored.into_iter().collect();
            let change = Postings {
                gained: Arc::new(gained.iter().copied().collect()),
                lost: Arc::new(lost.iter().copied().collect()),
            };
            let mut nodes = Vec::new();
            push_changed(&stored, &change, &mut nodes);
            let kept = stored.iter().copied().filter(|node| !lost.contains(node));
            prop_assert_eq!(nodes, kept.chain(gained).collect::<Vec<u32>>());
            for bound in 0..302 {
                let below = stored.iter().filter(|node| **node < bound).count();
                prop_assert_eq!(count_below(&stored, bound), below);
            }
        }
    }

    proptest! {
        #[test]
        fn lists_become_sets(
            nodes in prop::collection::vec(0u32..1 << 20, 0..2000),
            shift in 0u32..12,
        ) {
            // Short and long ones, close together and far apart.
            let nodes: Vec<u32> = nodes.iter().map(|node| node << shift).collect();
            let mut expected = nodes.clone();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(&distinct_of(nodes.clone()), &expected);
            prop_assert_eq!(union_of(nodes).to_vec(), expected);
        }
    }
}
