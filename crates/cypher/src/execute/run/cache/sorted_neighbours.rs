//! The relationships of nodes, sorted by a property.

use crate::ast::CompareOp;
use crate::execute::graph::Graph;
use crate::execute::plan::SlotIndex;
use crate::execute::run::rows::{Reservation, weight};
use crate::execute::sorted::{class_of, is_nan, matching};
use hexgraph_base::types::Result;
use hexgraph_scalar::{Relationship, Value};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::mem;
use std::rc::Rc;

/// The most bytes of all sorted relationships of a run.
const BYTES_MAX: usize = if cfg!(test) { 4 << 10 } else { 64 << 20 };

/// A relationship with its other endpoint.
pub(in crate::execute::run) type Neighbour = (Relationship, u64);

/// The bytes of a node in the table. Estimate.
const ENTRY_BYTES: usize = 48;

/// The bytes of a relationship without what is inside of its value.
const NEIGHBOUR_BYTES: usize = mem::size_of::<Neighbour>() + mem::size_of::<(Value, u32)>();

/// The sorted relationships of nodes, by the range and the node.
pub(in crate::execute::run) struct RangeCache<'a> {
    entries: RefCell<FxHashMap<(SlotIndex, u64), CachedRange>>,
    reserved: RefCell<Reservation<'a>>,
}

#[derive(Clone)]
pub(in crate::execute::run) enum CachedRange {
    /// The node came once.
    Once,
    Sorted(Rc<SortedNeighbours>),
    /// They have no values to sort by, or there is no memory for them.
    Refused,
}

/// The relationships of a node.
pub(in crate::execute::run) struct SortedNeighbours {
    /// In the order of the graph.
    pub(in crate::execute::run) neighbours: Vec<Neighbour>,
    /// In ascending order those with a value that has an order, by their positions.
    sorted: Vec<(Value, u32)>,
    /// The positions of those with another value: they are always there.
    others: Vec<u32>,
}

impl SortedNeighbours {
    fn new(neighbours: &[Neighbour], values: Vec<Value>) -> SortedNeighbours {
        let (mut sorted, mut others) = (Vec::with_capacity(values.len()), Vec::new());
        for (value, position) in values.into_iter().zip(0..) {
            if value.is_null() || is_nan(&value) {
                continue;
            }
            match class_of(&value) {
                Some(_) => sorted.push((value, position)),
                None => others.push(position),
            }
        }
        sorted.sort_by(|one, other| one.0.cmp(&other.0));
        SortedNeighbours { neighbours: neighbours.to_vec(), sorted, others }
    }

    /// Appends those whose value is in all bounds.
    pub(in crate::execute::run) fn choose(
        &self,
        bounds: &[(CompareOp, Value)],
        into: &mut Vec<Neighbour>,
    ) {
        let mut range = 0..self.sorted.len();
        for (op, bound) in bounds {
            if bound.is_null() {
                return;
            }
            if class_of(bound).is_some() {
                let bounded = matching(&self.sorted, |it| &it.0, *op, bound);
                range = range.start.max(bounded.start)..range.end.min(bounded.end);
            }
        }
        // Bounds may exclude each other.
        let chosen = self.sorted.get(range).unwrap_or_default();
        let mut positions: Vec<u32> = chosen.iter().map(|(_, position)| *position).collect();
        positions.extend(&self.others);
        positions.sort_unstable();
        into.extend(positions.iter().map(|it| self.neighbours[*it as usize]));
    }
}

impl<'a> RangeCache<'a> {
    pub(in crate::execute::run) fn new(graph: &'a dyn Graph) -> RangeCache<'a> {
        RangeCache { entries: RefCell::default(), reserved: RefCell::new(Reservation::new(graph)) }
    }

    pub(in crate::execute::run) fn get(&self, key: (SlotIndex, u64)) -> Option<CachedRange> {
        self.entries.borrow().get(&key).cloned()
    }

    /// Adds a node where there is memory for it: nothing depends on that.
    pub(in crate::execute::run) fn add(&self, key: (SlotIndex, u64)) -> Result<()> {
        if self.reserve(ENTRY_BYTES)? {
            self.entries.borrow_mut().insert(key, CachedRange::Once);
        }
        Ok(())
    }

    /// Replaces the entry of a node.
    pub(in crate::execute::run) fn set(&self, key: (SlotIndex, u64), entry: CachedRange) {
        self.entries.borrow_mut().insert(key, entry);
    }

    /// Sorts the relationships of a node by their values; `None` where there is no memory for it.
    pub(in crate::execute::run) fn sorted(
        &self,
        neighbours: &[Neighbour],
        values: Vec<Value>,
    ) -> Result<Option<Rc<SortedNeighbours>>> {
        let inside = values.iter().map(|it| weight(it) - mem::size_of::<Value>());
        let bytes = inside.sum::<usize>().saturating_add(neighbours.len() * NEIGHBOUR_BYTES);
        Ok(self.reserve(bytes)?.then(|| Rc::new(SortedNeighbours::new(neighbours, values))))
    }

    /// Reserves memory; false where there is none for this.
    fn reserve(&self, bytes: usize) -> Result<bool> {
        let mut reserved = self.reserved.borrow_mut();
        if BYTES_MAX < reserved.bytes().saturating_add(bytes) || !reserved.affords(bytes) {
            return Ok(false);
        }
        reserved.grow(bytes)?;
        Ok(true)
    }
}
