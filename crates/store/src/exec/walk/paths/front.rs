//! One side of a search by weight: Dijkstra's algorithm, a node at a time.
//!
//! The labels of the visited nodes are in a list, and [`NodeIndexes`] maps a node to its position
//! there. One edge costs one lookup there, and O(log visited) if it makes a node lighter.

use super::ordered::compared_by_ord;
use super::path_edges::Hop;
use crate::exec::control::pending::CHARGED_BYTES;
use crate::exec::control::stop::RequestContext;
use crate::exec::cost::{SLOTS_PER_ENTRY, is_dense};
use hexgraph_base::types::Result;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The bytes that are charged for each time that a node becomes lighter: an entry of a map, a
/// label, an entry of a heap, each with as much spare capacity.
pub(super) const REACHED_BYTES: usize = 128;

/// The nodes of a map from which on most are put into a table, where they are near each other.
const TABLE_FROM: usize = 4 << 10;

/// No position.
const NOWHERE: u32 = u32::MAX;

/// Memory that is charged in chunks, and given back when it is dropped.
pub(super) struct Meter<'c> {
    control: &'c RequestContext,
    charged: usize,
    used: usize,
}

impl<'c> Meter<'c> {
    pub(super) fn new(control: &'c RequestContext) -> Meter<'c> {
        Meter { control, charged: 0, used: 0 }
    }

    /// Counts memory that is about to be used.
    pub(super) fn take(&mut self, bytes: usize) -> Result<()> {
        self.used += bytes;
        if self.used <= self.charged {
            return Ok(());
        }
        // As much again as is used, up to a chunk: so a short search charges little more than it
        // needs.
        let more = (self.used - self.charged).max(CHARGED_BYTES.min(self.used));
        self.control.charge(more)?;
        self.charged += more;
        Ok(())
    }

    /// Takes back what was counted for memory that was freed.
    pub(super) fn give_back(&mut self, bytes: usize) {
        self.used -= bytes;
    }
}

impl Drop for Meter<'_> {
    fn drop(&mut self) {
        self.control.uncharge(self.charged);
    }
}

/// Positions of nodes: a map as long as they are few; when they are many, and near each other, a
/// table of the node ids that they span, and the map for others.
pub(super) struct NodeIndexes {
    map: FxHashMap<u32, u32>,
    /// The positions of the nodes from `first` on.
    table: Vec<u32>,
    first: u32,
    /// The nodes of the map at which a table is tried again.
    map_max: usize,
}

impl NodeIndexes {
    pub(super) fn new() -> NodeIndexes {
        let (map, table) = (FxHashMap::default(), Vec::new());
        NodeIndexes { map, table, first: 0, map_max: TABLE_FROM }
    }

    #[inline]
    fn cell(&self, node: u32) -> Option<&u32> {
        // A node before the first one wraps to a position after all others.
        self.table.get(node.wrapping_sub(self.first) as usize)
    }

    pub(super) fn get(&self, node: u32) -> Option<u32> {
        match self.cell(node) {
            Some(position) => Some(*position).filter(|position| *position != NOWHERE),
            None => self.map.get(&node).copied(),
        }
    }

    /// The position of a node, which is `next` where it has none yet.
    pub(super) fn get_or_put(
        &mut self,
        node: u32,
        next: u32,
        meter: &mut Meter<'_>,
    ) -> Result<u32> {
        if let Some(position) = self.table.get_mut(node.wrapping_sub(self.first) as usize) {
            if *position == NOWHERE {
                *position = next;
            }
            return Ok(*position);
        }
        let position = *self.map.entry(node).or_insert(next);
        if self.map_max <= self.map.len() {
            self.spread(meter)?;
        }
        Ok(position)
    }

    /// Makes a table of the nodes that the map has, and of those of the table before, if they are
    /// near each other.
    fn spread(&mut self, meter: &mut Meter<'_>) -> Result<()> {
        let existing = self.map.len() + self.table.len() / SLOTS_PER_ENTRY;
        let before = (!self.table.is_empty()).then(|| self.first + (self.table.len() - 1) as u32);
        let ends = self.map.keys().copied().chain(before).chain(before.map(|_| self.first));
        let (first, last) =
            ends.fold((u32::MAX, 0), |(first, last), node| (first.min(node), last.max(node)));
        let span = (last - first) as usize + 1;
        self.map_max = 2 * self.map.len();
        if !is_dense(span, existing) {
            return Ok(());
        }
        meter.take(size_of::<u32>() * (span - self.table.len()))?;
        let mut table = vec![NOWHERE; span];
        if let Some(start) = before.map(|_| (self.first - first) as usize) {
            table[start..start + self.table.len()].copy_from_slice(&self.table);
        }
        self.map.drain().for_each(|(node, position)| table[(node - first) as usize] = position);
        (self.table, self.first, self.map_max) = (table, first, TABLE_FROM);
        Ok(())
    }
}

/// A visited node with a total weight; the least comes off a heap first.
pub(super) struct Reached {
    pub(super) weight: f64,
    pub(super) hops: u32,
    pub(super) node: u32,
    /// The position of the node's label.
    pub(super) position: u32,
}

compared_by_ord!(Reached);

impl Ord for Reached {
    fn cmp(&self, other: &Reached) -> Ordering {
        let by_weight = other.weight.total_cmp(&self.weight);
        // Inverted, since a heap pops its greatest first: the least weight, of equal ones
        // the most hops, then the least node.
        by_weight.then(self.hops.cmp(&other.hops)).then(other.node.cmp(&self.node))
    }
}

/// The label of a visited node.
pub(super) struct NodeLabel {
    pub(super) node: u32,
    /// The position of the label of the node before it; its own for the start.
    pub(super) before: u32,
    /// The number of the field that led to it.
    pub(super) field: u32,
    /// The least weight so far.
    pub(super) weight: f64,
    /// True when nothing can make the node lighter any more.
    pub(super) is_done: bool,
}

/// The visited nodes of one side.
pub(super) struct Front<'c> {
    positions: NodeIndexes,
    pub(super) labels: Vec<NodeLabel>,
    pub(super) heap: BinaryHeap<Reached>,
    /// The cost of the edges that were read so far, in reads of an edge in place.
    pub(super) cost: usize,
    meter: Meter<'c>,
}

impl<'c> Front<'c> {
    /// A search that starts at a node.
    pub(super) fn new(control: &'c RequestContext, start: u32) -> Front<'c> {
        let label = NodeLabel { node: start, before: 0, field: 0, weight: 0.0, is_done: false };
        let mut positions = NodeIndexes::new();
        positions.map.insert(start, 0);
        let heap = BinaryHeap::from([Reached { weight: 0.0, hops: 0, node: start, position: 0 }]);
        Front { positions, labels: vec![label], heap, cost: 0, meter: Meter::new(control) }
    }

    /// Pops the lightest open node, and closes it. A node is on the heap once for each time that it
    /// became lighter; only the lightest counts. Because it is closed, a negative weight does not
    /// send the search in circles.
    pub(super) fn pop(&mut self) -> Option<Reached> {
        loop {
            let reached = self.heap.pop()?;
            let label = &mut self.labels[reached.position as usize];
            if !label.is_done {
                label.is_done = true;
                return Some(reached);
            }
        }
    }

    /// A bound below the weight of each node that is not done with; `None` when there are none.
    pub(super) fn least(&self) -> Option<f64> {
        self.heap.peek().map(|reached| reached.weight)
    }

    /// Notes that an edge leads from a node that was taken to another. The weight there, when it
    /// became lighter.
    pub(super) fn reach(&mut self, from: &Reached, hop: &Hop) -> Result<Option<f64>> {
        let weight = from.weight + hop.weight;
        let next = self.labels.len() as u32;
        let position = self.positions.get_or_put(hop.to, next, &mut self.meter)?;
        let hops = from.hops + 1;
        let (before, field) = (from.position, hop.field);
        let label = NodeLabel { node: hop.to, before, field, weight, is_done: false };
        match self.labels.get_mut(position as usize) {
            Some(existing) if existing.is_done => return Ok(None),
            Some(existing) if weight < existing.weight => *existing = label,
            Some(_) => return Ok(None),
            None => self.labels.push(label),
        }
        self.meter.take(REACHED_BYTES)?;
        self.heap.push(Reached { weight, hops, node: hop.to, position });
        Ok(Some(weight))
    }

    /// The label of a visited node.
    pub(super) fn label(&self, node: u32) -> Option<&NodeLabel> {
        self.positions.get(node).map(|position| &self.labels[position as usize])
    }

    /// The least weight of a node that is done with.
    pub(super) fn clean(&self, node: u32) -> Option<f64> {
        self.label(node).filter(|label| label.is_done).map(|label| label.weight)
    }
}
