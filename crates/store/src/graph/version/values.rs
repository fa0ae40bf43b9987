//! The values of a predicate at one version, in one language: base and changes as one.

pub(crate) mod patched_floats;
mod node_values;
mod number_lists;

use super::change_lists::{ChangedNumbers, ChangedTexts, ColumnChanges};
use super::delta::{FacetList, Row, TokenChanges, ValueDelta, pays_to_look_up, set_member};
use super::index_view::IndexView;
use crate::index::{IndexKind, TokenIndex, TokenKey, VectorIndex, tokens_of};
use crate::storage::{Column, NodeSet, Values, gallop};
use hexgraph_base::types::{Value, ValueRef, ValueType};
use std::ops::Range;
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

/// A part of a list of nodes, by whether their values changed since the base was built.
pub enum NumberRun<'a, 'n> {
    /// Nodes that did not change; there may be none.
    Stored(&'n [u32]),
    /// A node that changed, with its row; `None` when it has no value any more.
    Changed(u32, Option<&'a Row>),
}

/// The values of one node.
#[derive(Clone)]
pub enum ValueList<'a> {
    /// Those of a node that did not change since the column was built: their positions in it.
    Stored(&'a Column, Range<usize>),
    /// Those of a node that changed since then: all that it has now.
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
            ValueList::Changed(row) => row.len(),
        }
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at a position in the list, as stored: its type may be another than the schema's.
    pub fn get(&self, position: usize) -> ValueRef<'a> {
        match self {
            ValueList::Stored(column, positions) => column.values.get(positions.start + position),
            ValueList::Changed(row) => row.get(position),
        }
    }

    /// All values.
    pub fn iter(&self) -> impl Iterator<Item = ValueRef<'a>> + '_ {
        (0..self.len()).map(|position| self.get(position))
    }

    /// One facet of the value at a position.
    pub fn facet(&self, position: usize, key: &str) -> Option<ValueRef<'a>> {
        match self {
            ValueList::Stored(column, positions) => column
                .facets
                .iter()
                .filter(|facet| facet.key == key)
                .find_map(|facet| facet.get(positions.start + position)),
            ValueList::Changed(row) => facet_in(row.facets(position), key),
        }
    }

    /// All facets of the value at a position, by key.
    pub fn facets(&self, position: usize) -> Vec<(&'a str, ValueRef<'a>)> {
        match self {
            ValueList::Stored(column, positions) => column
                .facets
                .iter()
                .filter_map(|facet| {
                    facet.get(positions.start + position).map(|value| (facet.key.as_str(), value))
                })
                .collect(),
            ValueList::Changed(row) => facets_in(row.facets(position)),
        }
    }

    /// All values with their facets, to be changed.
    pub(in crate::graph) fn to_values(&self) -> Vec<(Value, FacetList)> {
        if let ValueList::Changed(row) = self {
            return row.to_values();
        }
        let value_at = |position| {
            let facets = self.facets(position).into_iter();
            let facets = facets.map(|(key, value)| (Arc::from(key), value.to_value()));
            (self.get(position).to_value(), facets.collect())
        };
        (0..self.len()).map(value_at).collect()
    }
}

/// One facet of a list.
pub(super) fn facet_in<'a>(facets: &'a [(Arc<str>, Value)], key: &str) -> Option<ValueRef<'a>> {
    facets.iter().find(|(name, _)| &**name == key).map(|(_, value)| value.as_ref())
}

/// All facets of a list, borrowed.
pub(super) fn facets_in(facets: &[(Arc<str>, Value)]) -> Vec<(&str, ValueRef<'_>)> {
    facets.iter().map(|(key, value)| (&**key, value.as_ref())).collect()
}

impl LangValues {
    /// A language just built.
    pub fn new(lang: Arc<str>, base: ValueBase) -> LangValues {
        let tokens = vec![TokenChanges::default(); base.indexes.len()];
        let list = ColumnChanges::of(&base.column.values);
        let delta = ValueDelta { tokens, list, ..ValueDelta::default() };
        LangValues { lang, base: Arc::new(base), delta }
    }

    /// The column as it was built, without what changed since: the values of nodes that did not
    /// change.
    #[inline]
    pub fn stored(&self) -> &Column {
        &self.base.column
    }

    /// The number of values of all nodes. O(1).
    pub(super) fn total(&self) -> u64 {
        (self.base.column.values.len() as i64 + self.delta.excess) as u64
    }

    /// The nodes that have a value.
    pub fn subjects(&self) -> NodeSet {
        NodeSet::overlay(
            self.base.column.subjects.clone().into(),
            &self.delta.gained,
            &self.delta.lost,
        )
    }

    /// Whether a node has a value.
    pub fn has(&self, node: u32) -> bool {
        match self.base.column.subjects.contains(node) {
            true => !self.delta.lost.contains(node),
            false => self.delta.gained.contains(node),
        }
    }

    /// The row of a node that changed since the base was built; `None` inside if it has none left.
    pub fn changed(&self, node: u32) -> Option<Option<&Row>> {
        self.delta.row(node)
    }

    /// The number of nodes that changed since the base was built.
    pub(crate) fn changes_len(&self) -> usize {
        self.delta.rows.len()
    }

    /// All nodes of a column of ints that changed since it was built, ascending, with their current
    /// ints. `None` for any other column, and if a change is no int. O(1), or a copy of the list.
    pub(crate) fn changed_ints(&self) -> Option<ChangedNumbers<i64>> {
        self.delta.list.ints()
    }

    /// The count of ints and their sum, each minus that of the base, for a column whose changes are
    /// [ints](LangValues::changed_ints). O(1).
    pub(crate) fn int_increase(&self) -> (i64, i128) {
        (self.delta.excess, self.delta.increase)
    }

    /// As [`LangValues::changed_ints`], of floats.
    pub(crate) fn changed_floats(&self) -> Option<ChangedNumbers<f64>> {
        self.delta.list.floats()
    }

    /// All nodes that changed since a column of few distinct texts was built; `None` for any other
    /// column, and if changes are more than few texts. O(1), or a copy of the list.
    pub(crate) fn changed_texts(&self) -> Option<ChangedTexts<'_>> {
        self.delta.list.texts()
    }

    /// The nodes between two, inclusive, that changed since the base was built, ascending, with
    /// their rows.
    pub fn changed_between(
        &self,
        first: u32,
        last: u32,
    ) -> impl Iterator<Item = (u32, Option<&Row>)> {
        let rows = (first <= last).then(|| self.delta.rows.range(first..=last));
        rows.into_iter().flatten().map(|(node, row)| (*node, row.as_ref()))
    }

    /// Calls `visit` with changed nodes and their rows since the base was built, ascending: all of
    /// those in `nodes`, which ascend, and perhaps others between them. O(changes between the first
    /// and the last node), or O(nodes · log changes) if that is less.
    pub(crate) fn changed_near<'a>(
        &'a self,
        nodes: &[u32],
        mut visit: impl FnMut(u32, Option<&'a Row>),
    ) {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return };
        if pays_to_look_up(&self.delta.rows, nodes) {
            for &node in nodes {
                if let Some(row) = self.changed(node) {
                    visit(node, row);
                }
            }
            return;
        }
        self.changed_between(first, last).for_each(|(node, row)| visit(node, row));
    }

    /// Iterates over nodes, which ascend, from change to change, so nodes without one need no
    /// lookup. O(changes between the first and the last node · log of the nodes between two of
    /// them), or O(nodes · log changes) if that is less, plus the cost of `visit`.
    pub fn by_changes<'a>(&'a self, nodes: &[u32], mut visit: impl FnMut(NumberRun<'a, '_>)) {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return };
        if pays_to_look_up(&self.delta.rows, nodes) {
            let mut start = 0;
            for (position, &node) in nodes.iter().enumerate() {
                if let Some(row) = self.changed(node) {
                    visit(NumberRun::Stored(&nodes[start..position]));
                    visit(NumberRun::Changed(node, row));
                    start = position + 1;
                }
            }
            visit(NumberRun::Stored(&nodes[start..]));
            return;
        }
        let mut rest = nodes;
        for (node, row) in self.changed_between(first, last) {
            // Both ascend, so the nodes before this change are not searched again; the next change
            // is usually near.
            let (before, behind) = rest.split_at(gallop(rest, |&other| other < node));
            visit(NumberRun::Stored(before));
            rest = behind;
            if behind.first() == Some(&node) {
                rest = &behind[1..];
                visit(NumberRun::Changed(node, row));
            }
        }
        visit(NumberRun::Stored(rest));
    }

    /// Calls `visit` with the position of each of some ascending nodes that has a value, with what
    /// reads its first value, and for a stored one of few distinct texts with the code of the text,
    /// which is below [`Values::code_count`]. O(nodes + changes between the first and the last
    /// node).
    pub fn for_each_first<'a>(
        &'a self,
        nodes: &[u32],
        mut visit: impl FnMut(usize, &dyn Fn() -> ValueRef<'a>, Option<usize>),
    ) {
        let column = &self.base.column;
        let mut start = 0;
        self.by_changes(nodes, |run| {
            let nodes = match run {
                NumberRun::Stored(nodes) => nodes,
                NumberRun::Changed(_, row) => {
                    if let Some(row) = row {
                        visit(start, &|| row.first(), None);
                    }
                    start += 1;
                    return;
                }
            };
            let codes = match &column.values {
                Values::Coded { codes, .. } if column.rows.is_none() => Some(codes),
                _ => None,
            };
            column.subjects.for_each_row(nodes, |at, row| {
                let value = || column.values.get(column.row_positions(row).start);
                visit(start + at, &value, codes.map(|codes| codes.get(row).into()));
            });
            start += nodes.len();
        });
    }

    /// The values of a node, ascending.
    pub fn values(&self, node: u32) -> ValueList<'_> {
        if let Some(row) = self.delta.row(node) {
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
        match self.delta.row(node) {
            Some(row) => row.map(Row::first),
            None => self.base.column.first(node),
        }
    }

    /// True when nothing changed since the base was built.
    pub fn is_clean(&self) -> bool {
        self.delta.rows.is_empty()
    }

    /// The numbers of changed and of stored rows, which decide about compaction.
    pub(in crate::graph) fn merge_sizes(&self) -> (usize, usize) {
        /// A vector search compares each changed vector, which costs about as much as passing so
        /// many changed values. So in a small base fewer changed vectors wait for compaction; in a
        /// large one the same fraction of rows.
        const VECTOR_WEIGHT: usize = 16;
        let weight = if self.base.vectors.is_some() { VECTOR_WEIGHT } else { 1 };
        (weight * self.delta.rows.len(), weight * self.base.column.subjects.len())
    }

    /// The index of a kind.
    pub fn index(&self, kind: IndexKind) -> Option<IndexView<'_>> {
        let position = self.base.indexes.iter().position(|(other, _)| *other == kind)?;
        Some(IndexView::new(&self.base.indexes[position].1, self.delta.tokens.get(position)?))
    }

    /// The index of entire values, if it has every value. After a change of the schema it lacks
    /// those that cannot be converted; later changes have tokens.
    pub fn complete_index(&self) -> Option<IndexView<'_>> {
        let view = self.index(IndexKind::Ordered)?;
        // Each node has at most one value, as lists are excluded: as many postings as nodes means
        // all of them.
        (view.index.postings.len() == self.base.column.subjects.len()).then_some(view)
    }

    /// The nodes that have a value, and perhaps others whose values have the same token: an index
    /// may be coarser than values. `None` without an index of entire values.
    pub fn nodes_equal(&self, value: ValueRef<'_>) -> Option<NodeSet> {
        let view = self.index(IndexKind::Ordered)?;
        Some(TokenKey::of(value).map(|token| view.nodes(&token)).unwrap_or_default())
    }

    /// Replaces the values of a node; `None` removes them. The indexes follow.
    pub fn set_row(&mut self, node: u32, row: Option<Row>, value_type: ValueType) {
        let base = Arc::clone(&self.base);
        let stored = base.column.positions(node);
        let in_base = stored.is_some();
        // The current row of the node is looked up once, and cached while the changes are written.
        let changed = self.delta.row(node).map(|row| row.cloned());
        let old = match &changed {
            Some(Some(row)) => ValueList::Changed(row),
            Some(None) => ValueList::none(&base.column),
            None => ValueList::Stored(&base.column, stored.unwrap_or(0..0)),
        };
        for ((kind, index), changes) in base.indexes.iter().zip(&mut self.delta.tokens) {
            let tokens = |values: &mut dyn Iterator<Item = ValueRef<'_>>| {
                let mut tokens = Vec::new();
                values.for_each(|it| tokens_of(*kind, it, value_type, &self.lang, &mut tokens));
                tokens.sort_unstable();
                tokens.dedup();
                tokens
            };
            let (old, new) = (tokens(&mut old.iter()), tokens(&mut row.iter().flat_map(Row::iter)));
            for token in old.iter().filter(|token| new.binary_search(token).is_err()) {
                changes.set(index, token, node, false);
            }
            for token in new.iter().filter(|token| old.binary_search(token).is_err()) {
                changes.set(index, token, node, true);
            }
        }
        let ValueDelta { gained, lost, excess, increase, .. } = &mut self.delta;
        set_member(gained, lost, node, in_base, row.is_some());
        *excess += row.as_ref().map_or(0, Row::len) as i64 - old.len() as i64;
        let first = if old.is_empty() { None } else { Some(old.get(0)) };
        *increase += row.as_ref().map_or(0, |row| int_of(row.first())) - first.map_or(0, int_of);
        self.delta.put_row(node, row);
    }
}

/// The int that a value is, and 0 for any other value.
fn int_of(value: ValueRef<'_>) -> i128 {
    if let ValueRef::Int(int) = value { int.into() } else { 0 }
}
