//! Loop-free paths in ascending weight, by taking their root paths off a heap.
//!
//! This is exact whatever the edges weigh, and among equal paths it is what defines their order;
//! but there may be exponentially many root paths. It is used if an edge weighs less than 0, and
//! where edges of weight 0 are on several paths of one weight, so that their order is not settled
//! edge by edge.

use super::front::{Meter, Reached};
use super::ordered::compared_by_ord;
use super::path_edges::Hop;
use crate::exec::control::limits::past_limit;
use crate::exec::control::stop::RequestContext;
use crate::exec::control::tree::Path;
use hexgraph_base::types::{Error, Result};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// How many unfinished paths a search may retain, and the setting that says so.
#[derive(Clone, Copy)]
pub(super) struct Frontier {
    pub(super) max: usize,
    pub(super) setting: &'static str,
}

impl Frontier {
    /// Fails when a search retains more than it may.
    pub(super) fn check(&self, retained: usize) -> Result<()> {
        if retained <= self.max { Ok(()) } else { Err(self.error()) }
    }

    fn error(&self) -> Error {
        let what = format!("shortest keeps more than {} root paths", self.max);
        past_limit(&what, self.setting)
    }
}

/// The beginning of a path.
struct Beginning {
    reached: Reached,
    nodes: Vec<u32>,
    fields: Vec<usize>,
}

impl Beginning {
    /// The bytes that are charged for a root path with `nodes` nodes, with its slot on a heap that
    /// may have twice the capacity it needs.
    fn bytes(nodes: usize) -> usize {
        const ALLOCATION: usize = 16;
        let lists = (size_of::<u32>() + size_of::<usize>()) * nodes + 2 * ALLOCATION;
        lists + 3 * size_of::<Beginning>()
    }
}

compared_by_ord!(Beginning);

impl Ord for Beginning {
    fn cmp(&self, other: &Beginning) -> Ordering {
        self.reached.cmp(&other.reached).then_with(|| other.nodes.cmp(&self.nodes))
    }
}

/// The root paths from one node that are not finished yet.
pub(super) struct RootPaths<'c> {
    control: &'c RequestContext,
    frontier: Frontier,
    heap: BinaryHeap<Beginning>,
    meter: Meter<'c>,
    hops: Vec<Hop>,
}

impl<'c> RootPaths<'c> {
    /// The beginning that is a node alone, with the weight of what leads there.
    pub(super) fn new(
        control: &'c RequestContext,
        frontier: Frontier,
        from: u32,
        weight: f64,
    ) -> Result<RootPaths<'c>> {
        let mut meter = Meter::new(control);
        meter.take(Beginning::bytes(1))?;
        let reached = Reached { weight, hops: 0, node: from, position: 0 };
        let first = Beginning { reached, nodes: vec![from], fields: Vec::new() };
        let heap = BinaryHeap::from([first]);
        Ok(RootPaths { control, frontier, heap, meter, hops: Vec::new() })
    }

    /// Returns the next path to `to`. `read` gives the edges of a node, and `expects` says whether
    /// a root path is retained that ends in a node with a weight.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when there are more root paths than the frontier may have, and those of
    /// `read`.
    pub(super) fn next(
        &mut self,
        to: u32,
        read: &mut dyn FnMut(u32, usize, &mut Vec<Hop>) -> Result<()>,
        expects: &dyn Fn(u32, f64) -> bool,
    ) -> Result<Option<Path>> {
        while let Some(Beginning { reached, nodes, fields }) = self.heap.pop() {
            self.control.check()?;
            // It is off the heap now; each beginning that goes on from it is a copy and is counted
            // by itself.
            self.meter.give_back(Beginning::bytes(nodes.len()));
            if reached.node == to {
                return Ok(Some(Path { nodes, hops: fields, weight: reached.weight }));
            }
            self.hops.clear();
            read(reached.node, reached.hops as usize, &mut self.hops)?;
            // A node may be on many root paths, but only once on each: so there are no loops, and
            // the search ends.
            for hop in self.hops.iter().filter(|hop| !nodes.contains(&hop.to)) {
                let weight = reached.weight + hop.weight;
                if !expects(hop.to, weight) {
                    continue;
                }
                let reached = Reached { weight, hops: reached.hops + 1, node: hop.to, position: 0 };
                self.meter.take(Beginning::bytes(nodes.len() + 1))?;
                let nodes = [nodes.as_slice(), &[hop.to]].concat();
                let fields = [fields.as_slice(), &[hop.field as usize]].concat();
                self.heap.push(Beginning { reached, nodes, fields });
            }
            self.frontier.check(self.heap.len())?;
        }
        Ok(None)
    }
}
