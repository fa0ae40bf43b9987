//! One side of a search by weight: Dijkstra's algorithm, a node at a time.
//!
//! The labels of the nodes that were reached lie in a list; a hash map leads from a node to its place there. One edge
//! costs one look at the map, and O(log reached) where it makes a node lighter.

use super::path_edges::Hop;
use crate::exec::control::stop::Control;
use hexgraph_base::types::Result;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The bytes that are charged for each time that a node becomes lighter: an entry of a map, a label, an entry of a heap,
/// each with as much room again.
pub(super) const REACHED_BYTES: usize = 120;

/// The bytes that are charged at a time.
const PIECE_BYTES: usize = 64 << 10;

/// Memory that is charged in pieces, and given back when it is dropped.
pub(super) struct Meter<'c> {
    control: &'c Control,
    charged: usize,
    used: usize,
}

impl<'c> Meter<'c> {
    pub(super) fn new(control: &'c Control) -> Meter<'c> {
        Meter { control, charged: 0, used: 0 }
    }

    /// Counts memory that is about to be used.
    pub(super) fn take(&mut self, bytes: usize) -> Result<()> {
        self.used += bytes;
        if self.used <= self.charged {
            return Ok(());
        }
        // As much again as is used, up to a piece: so a short search charges little more than it needs.
        let more = (self.used - self.charged).max(PIECE_BYTES.min(self.used));
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

/// A node reached with a total weight; the least comes off a heap first.
pub(super) struct Reached {
    pub(super) weight: f64,
    pub(super) hops: u32,
    pub(super) node: u32,
    /// The place of the node's label.
    pub(super) place: u32,
}

impl PartialEq for Reached {
    fn eq(&self, other: &Reached) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Reached {}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Reached) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Reached {
    fn cmp(&self, other: &Reached) -> Ordering {
        let by_weight = other.weight.total_cmp(&self.weight);
        // Turned round, since a heap gives its greatest first: the least weight, of equal ones
        // the most hops, then the least node.
        by_weight.then(self.hops.cmp(&other.hops)).then(other.node.cmp(&self.node))
    }
}

/// What a search knows of a node that it has reached.
pub(super) struct Label {
    pub(super) node: u32,
    /// The place of the label of the node before it; its own for the start.
    pub(super) before: u32,
    /// The number of the field that led to it.
    pub(super) field: u32,
    /// The least weight so far.
    pub(super) weight: f64,
    /// True when nothing can make the node lighter any more.
    pub(super) is_done: bool,
}

/// The nodes that were reached from one end.
pub(super) struct Front<'c> {
    places: FxHashMap<u32, u32>,
    pub(super) labels: Vec<Label>,
    pub(super) heap: BinaryHeap<Reached>,
    /// What the edges cost that were read so far, in reads of an edge in place.
    pub(super) cost: usize,
    meter: Meter<'c>,
}

impl<'c> Front<'c> {
    /// A search that starts at a node.
    pub(super) fn new(control: &'c Control, start: u32) -> Front<'c> {
        let label = Label { node: start, before: 0, field: 0, weight: 0.0, is_done: false };
        Front {
            places: FxHashMap::from_iter([(start, 0)]),
            labels: vec![label],
            heap: BinaryHeap::from([Reached { weight: 0.0, hops: 0, node: start, place: 0 }]),
            cost: 0,
            meter: Meter::new(control),
        }
    }

    /// Takes the lightest node that is not done with, and is done with it. A node is on the heap once for each time that
    /// it became lighter; only the lightest counts. That it is done with keeps a negative weight from sending the search
    /// in circles.
    pub(super) fn pop(&mut self) -> Option<Reached> {
        loop {
            let reached = self.heap.pop()?;
            let label = &mut self.labels[reached.place as usize];
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

    /// Notes that an edge leads from a node that was taken to another. The weight there, when it became lighter.
    pub(super) fn reach(&mut self, from: &Reached, hop: &Hop) -> Result<Option<f64>> {
        let weight = from.weight + hop.weight;
        let next = self.labels.len() as u32;
        let place = *self.places.entry(hop.to).or_insert(next);
        let hops = from.hops + 1;
        let (before, field) = (from.place, hop.field);
        let label = Label { node: hop.to, before, field, weight, is_done: false };
        match self.labels.get_mut(place as usize) {
            Some(known) if known.is_done => return Ok(None),
            Some(known) if weight < known.weight => *known = label,
            Some(_) => return Ok(None),
            None => self.labels.push(label),
        }
        self.meter.take(REACHED_BYTES)?;
        self.heap.push(Reached { weight, hops, node: hop.to, place });
        Ok(Some(weight))
    }

    /// The label of a node that was reached.
    pub(super) fn label(&self, node: u32) -> Option<&Label> {
        self.places.get(&node).map(|&place| &self.labels[place as usize])
    }

    /// The least weight of a node that is done with.
    pub(super) fn settled(&self, node: u32) -> Option<f64> {
        self.label(node).filter(|label| label.is_done).map(|label| label.weight)
    }
}
