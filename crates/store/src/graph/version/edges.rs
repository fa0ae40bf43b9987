//! The edges of a predicate at one version, in one direction: base and changes as one.

use super::delta::{EdgeDelta, EdgeRow, FacetList, pays_to_look_up, set_member};
use super::unions::union_of;
use super::values::{facet_in, facets_in};
use crate::storage::{Edges, NodeSet, gallop, is_negative};
use hexgraph_base::types::ValueRef;
use roaring::RoaringBitmap;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The edges of a predicate in one direction.
#[derive(Clone)]
pub struct Direction {
    /// The built part.
    pub base: Arc<Edges>,
    /// What changed since.
    pub delta: EdgeDelta,
}

/// The edges of a predicate in both directions.
#[derive(Clone)]
pub struct EdgeStore {
    /// From subject to object.
    pub forward: Direction,
    /// From object to subject, with `@reverse`.
    pub reverse: Option<Direction>,
}

impl Direction {
    /// A direction just built.
    pub fn new(base: Edges) -> Direction {
        Direction { base: Arc::new(base), delta: EdgeDelta::default() }
    }

    /// The edges as they were built, without what changed since: those of nodes that did not
    /// change.
    #[inline]
    pub fn stored(&self) -> &Edges {
        &self.base
    }

    /// The nodes that have an edge.
    pub fn subjects(&self) -> NodeSet {
        NodeSet::overlay(self.base.subjects.clone().into(), &self.delta.gained, &self.delta.lost)
    }

    /// An upper bound of the nodes with an edge: those of the base, and those that gained one.
    /// O(1).
    pub fn subjects_max(&self) -> usize {
        self.base.subjects.len() + self.delta.gained.len() as usize
    }

    /// The number of edges of all nodes. O(1).
    pub fn total(&self) -> u64 {
        (self.base.targets.len() as i64 + self.delta.excess) as u64
    }

    /// True when nothing changed since the base was built.
    pub fn is_clean(&self) -> bool {
        self.delta.rows.is_empty()
    }

    /// The numbers of changed and of stored rows, which decide about compaction.
    pub(in crate::graph) fn merge_sizes(&self) -> (usize, usize) {
        (self.delta.rows.len(), self.base.subjects.len())
    }

    /// All targets. Costs a scan of the edges: those stored between two changed nodes are copied as
    /// one slice.
    pub fn all_targets(&self) -> RoaringBitmap {
        let stored = &self.base.targets;
        let mut targets = Vec::with_capacity(stored.len());
        let mut done = 0;
        for &node in self.delta.rows.keys() {
            let positions = self.base.positions(node);
            // A node without stored edges has no position among them.
            if !positions.is_empty() {
                targets.extend_from_slice(stored.slice(done..positions.start));
                done = positions.end;
            }
            targets.extend_from_slice(&self.targets(node));
        }
        targets.extend_from_slice(stored.slice(done..stored.len()));
        let mut nodes = union_of(targets).to_bitmap();
        nodes.optimize();
        nodes
    }

    /// Whether a node has an edge.
    pub fn has(&self, node: u32) -> bool {
        match self.base.subjects.contains(node) {
            true => !self.delta.lost.contains(node),
            false => self.delta.gained.contains(node),
        }
    }

    /// The targets of a node, ascending.
    pub fn targets(&self, node: u32) -> Cow<'_, [u32]> {
        if let Some(row) = self.delta.row(node) {
            let stored =
                NodeSet::Slice(self.base.targets.clone(), self.stored_positions(node, row));
            return Cow::Owned(NodeSet::overlay(stored, &row.gained, &row.lost).to_vec());
        }
        Cow::Borrowed(self.base.targets.slice(self.base.positions(node)))
    }

    /// The targets of a node as a set that is read in place: a page of it reads no more.
    pub fn target_set(&self, node: u32) -> NodeSet {
        if let Some(row) = self.delta.row(node) {
            let stored =
                NodeSet::Slice(self.base.targets.clone(), self.stored_positions(node, row));
            return NodeSet::overlay(stored, &row.gained, &row.lost);
        }
        NodeSet::Slice(self.base.targets.clone(), self.base.positions(node))
    }

    /// The number of a node's edges.
    pub fn count(&self, node: u32) -> usize {
        match self.delta.row(node) {
            Some(row) => row.count(self.base.positions(node).len() as i64) as usize,
            None => self.base.positions(node).len(),
        }
    }

    /// The nodes that have an edge, and at least `low` and at most `high` of them, ascending. Costs
    /// one pass over the stored rows, and a step for each changed one; no edge is read.
    pub fn nodes_with_count(&self, low: i64, high: i64) -> Vec<u32> {
        let expected = low.max(1)..=high;
        let stored = self.base.subjects.nodes_of_rows(&self.base.offsets.rows_of_len(&expected));
        if self.delta.rows.is_empty() {
            return stored;
        }
        // Copied from change to change: few changes cost few copies of long ranges.
        let mut nodes = Vec::with_capacity(stored.len() + self.delta.gained.len() as usize);
        let mut rest = stored.as_slice();
        for (&node, row) in &self.delta.rows {
            let (before, behind) = rest.split_at(gallop(rest, |&other| other < node));
            nodes.extend_from_slice(before);
            rest = &behind[usize::from(behind.first() == Some(&node))..];
            if expected.contains(&row.count(self.base.positions(node).len() as i64)) {
                nodes.push(node);
            }
        }
        nodes.extend_from_slice(rest);
        nodes
    }

    /// The changes of the nodes between two, inclusive, since the base was built, ascending by
    /// node.
    pub(crate) fn changed_between(
        &self,
        first: u32,
        last: u32,
    ) -> impl Iterator<Item = (u32, &EdgeRow)> {
        let rows = (first <= last).then(|| self.delta.rows.range(first..=last));
        rows.into_iter().flatten().map(|(node, row)| (*node, &**row))
    }

    /// Calls `visit` with changed nodes and their changes since the base was built, ascending by
    /// node: all of those in `nodes`, which ascend, and perhaps others between them. O(changes
    /// between the first and the last node), or O(nodes · log changes) if that is less.
    pub(crate) fn changed_near<'a>(
        &'a self,
        nodes: &[u32],
        mut visit: impl FnMut(u32, &'a EdgeRow),
    ) {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return };
        if pays_to_look_up(&self.delta.rows, nodes) {
            for &node in nodes {
                if let Some(row) = self.delta.row(node) {
                    visit(node, row);
                }
            }
            return;
        }
        self.changed_between(first, last).for_each(|(node, row)| visit(node, row));
    }

    /// Calls `visit` with the position and the current number of edges of each node of `nodes`,
    /// which ascend, that changed since the base was built. A node may occur twice; the last call
    /// counts. O(changes between the first and the last node) at most, and O(nodes · log changes)
    /// at most.
    pub(crate) fn changed_counts(&self, nodes: &[u32], visit: impl FnMut(usize, i64)) {
        self.delta.counts.near(nodes, visit);
    }

    /// Whether there is an edge from `node` to `target`.
    pub fn contains(&self, node: u32, target: u32) -> bool {
        match self.delta.row(node) {
            Some(row) if row.gained.contains(target) => true,
            Some(row) if row.cleared || row.lost.contains(target) => false,
            _ => self.base.position_of(node, target).is_some(),
        }
    }

    /// One facet of an edge.
    pub fn facet(&self, node: u32, target: u32, key: &str) -> Option<ValueRef<'_>> {
        if let Some(row) = self.delta.row(node)
            && let Some(facets) = row.added.get(&target)
        {
            return facet_in(facets, key);
        }
        let columns = self.base.facets.iter().filter(|facet| facet.key == key);
        let mut columns = columns.peekable();
        columns.peek()?;
        let position = self.base.position_of(node, target)?;
        columns.find_map(|facet| facet.get(position))
    }

    /// Calls `visit` with one facet of each of some edges, pairs of a node and a target. O(1) for
    /// an edge that follows the one before it in the list of its node, else O(log edges of the
    /// node).
    pub fn for_each_facet<'a>(
        &'a self,
        pairs: &[(u32, u32)],
        key: &str,
        mut visit: impl FnMut(Option<ValueRef<'a>>),
    ) {
        let columns: Vec<_> = self.base.facets.iter().filter(|it| it.key == key).collect();
        for of_node in pairs.chunk_by(|one, other| one.0 == other.0) {
            let node = of_node[0].0;
            let (changed, positions) = (self.delta.row(node), self.base.positions(node));
            let list = self.base.targets.slice(positions.clone());
            let mut next = 0;
            for &(_, target) in of_node {
                if let Some(facets) = changed.and_then(|row| row.added.get(&target)) {
                    visit(facet_in(facets, key));
                    continue;
                }
                let index = match list.get(next) {
                    Some(other) if *other == target => Ok(next),
                    _ => list.binary_search(&target),
                };
                next = index.map_or(next, |at| at + 1);
                let position = index.ok().map(|at| positions.start + at);
                visit(position.and_then(|it| columns.iter().find_map(|facet| facet.get(it))));
            }
        }
    }

    /// All facets of an edge, by key.
    pub fn facets(&self, node: u32, target: u32) -> Vec<(&str, ValueRef<'_>)> {
        if let Some(row) = self.delta.row(node)
            && let Some(facets) = row.added.get(&target)
        {
            return facets_in(facets);
        }
        if self.base.facets.is_empty() {
            return Vec::new();
        }
        let Some(position) = self.base.position_of(node, target) else { return Vec::new() };
        let columns = self.base.facets.iter();
        columns
            .filter_map(|facet| facet.get(position).map(|value| (facet.key.as_str(), value)))
            .collect()
    }

    /// True when some edge may have facets.
    pub fn has_facets(&self) -> bool {
        !self.base.facets.is_empty() || self.delta.has_facets
    }

    /// Sets an edge with its facets.
    pub fn add(&mut self, node: u32, target: u32, facets: FacetList) {
        self.delta.has_facets |= !facets.is_empty();
        self.delta.has_negative |= facets.iter().any(|(_, value)| is_negative(value.as_ref()));
        self.change(node, |row, base| {
            let in_base = !row.cleared && base.position_of(node, target).is_some();
            set_member(&mut row.gained, &mut row.lost, target, in_base, true);
            row.added.insert(target, Arc::new(facets));
        });
    }

    /// Deletes an edge.
    pub fn remove(&mut self, node: u32, target: u32) {
        self.change(node, |row, base| {
            let in_base = !row.cleared && base.position_of(node, target).is_some();
            set_member(&mut row.gained, &mut row.lost, target, in_base, false);
            row.added.remove(&target);
        });
    }

    /// Deletes all edges of a node.
    pub fn clear(&mut self, node: u32) {
        self.change(node, |row, _| {
            *row = EdgeRow { cleared: true, ..EdgeRow::default() };
        });
    }

    fn change(&mut self, node: u32, apply: impl FnOnce(&mut EdgeRow, &Edges)) {
        let old = self.delta.rows.get(&node);
        let mut row = old.map(|row| EdgeRow::clone(row)).unwrap_or_default();
        apply(&mut row, &self.base);
        row.note_excess();
        self.put_row(node, Arc::new(row));
    }

    /// Replaces the changes of a node.
    pub(in crate::graph) fn put_row(&mut self, node: u32, row: Arc<EdgeRow>) {
        let in_base = self.base.positions(node).len() as i64;
        let now = row.count(in_base);
        let old = self.delta.put_row(node, row, now);
        let EdgeDelta { gained, lost, excess, .. } = &mut self.delta;
        set_member(gained, lost, node, in_base != 0, 0 < now);
        *excess += now - old.map_or(in_base, |old| old.count(in_base));
    }

    /// The range of the stored edges of a changed node, including those that `row` lost.
    fn stored_positions(&self, node: u32, row: &EdgeRow) -> Range<usize> {
        if row.cleared { 0..0 } else { self.base.positions(node) }
    }
}

impl EdgeStore {
    /// The edges in one direction; `None` for a reverse one that the schema does not have.
    pub fn direction(&self, reverse: bool) -> Option<&Direction> {
        if reverse { self.reverse.as_ref() } else { Some(&self.forward) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Array, FrozenBitmap, Offsets, catch_corrupt};

    #[test]
    fn a_row_of_negative_length_is_damage() {
        let base = Edges {
            subjects: FrozenBitmap::from_roaring(&RoaringBitmap::from([1, 2])),
            offsets: Offsets::Narrow(Array::from_vec(vec![0, 5, 3])),
            targets: Array::from_vec(vec![1, 2, 3]),
            facets: Vec::new(),
        };
        let counted = catch_corrupt(|| Direction::new(base).nodes_with_count(1, 9));
        let error = counted.unwrap_err().to_string();
        assert!(error.contains("row 1 has the reversed offsets 5..3"), "{error}");
    }
}
