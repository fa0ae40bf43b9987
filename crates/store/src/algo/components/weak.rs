//! Weakly connected components, by union and find with halved paths: a tree of nodes for each part,
//! whose root is its least node.
//!
//! Mostly one part has nearly all nodes, and a few edges of each node are enough to find it. Then
//! only nodes that have an edge to or from the rest are left to be joined (Sutton, Ben-Nun, Barak:
//! Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling. IPDPS, 2018). All
//! threads join at the same time. A root is hung below a lesser one if it is a root still, and else
//! both are looked for again; so in the end the parts are those that the edges join, whoever came
//! first.

use crate::algo::bits::Bits;
use crate::algo::lowered::LoweredInts;
use crate::algo::run::{Outcome, Output, Run};
use hexgraph_base::types::Result;

/// The bytes for each node: its parent, the nodes that are left, and twice a number for its part.
const BYTES_A_NODE: usize = 3 * size_of::<u32>() + size_of::<i64>();

/// The edges of each node that are joined at first.
const FIRST_EDGES: usize = 2;

/// The nodes that are looked at to find the largest part.
const SAMPLES: usize = 1024;

pub(in crate::algo) fn components(run: &Run<'_>) -> Result<Outcome> {
    let _capacity = run.capacity_per_node(BYTES_A_NODE)?;
    let rows = run.graph.outgoing();
    let nodes = run.graph.len() as u32;
    let trees = Trees::new(nodes);
    run.task.blocks(rows.blocks().len(), |number| {
        for node in rows.block(number) {
            let row = rows.of(node);
            trees.join_all(node, &row[..row.len().min(FIRST_EDGES)]);
        }
        Ok(())
    })?;
    let largest = trees.largest();
    let is_in_largest =
        Bits::of(nodes as usize, &run.task, |node| Some(trees.root(node as u32)) == largest)?;
    join_rest(run, &trees, &is_in_largest)?;
    let numbers = trees.numbered(run)?;
    Ok(Outcome::once(Output::Ints(numbers), rows.edges()))
}

/// Joins what the first edges have not joined: the nodes outside of the largest part with all
/// others, and with them the nodes of that part.
fn join_rest(run: &Run<'_>, trees: &Trees, is_in_largest: &Bits) -> Result<()> {
    let rows = run.graph.outgoing();
    let is_in = |node: &u32| is_in_largest.has(*node as usize);
    // If the incoming edges are available, nodes of the largest part need no scan. Without
    // directions each edge is at its other endpoint, too.
    let transposed = run.graph.transposed_rows();
    let knows_both = run.graph.is_undirected() || transposed.is_some();
    run.task.blocks(rows.blocks().len(), |number| {
        for node in rows.block(number) {
            let row = rows.of(node);
            if is_in(&node) {
                if !knows_both && !row.iter().all(is_in) {
                    trees.join_all(node, row);
                }
                continue;
            }
            trees.join_all(node, &row[row.len().min(FIRST_EDGES)..]);
            if let Some(transposed) = transposed {
                trees.join_all(node, transposed.of(node));
            }
        }
        Ok(())
    })?;
    Ok(())
}

pub(in crate::algo) struct Trees {
    /// The node above each one; a root is above itself. It is never greater than the node.
    parents: LoweredInts,
}

impl Trees {
    /// Nodes that nothing joins yet.
    pub(in crate::algo) fn new(nodes: u32) -> Trees {
        Trees { parents: LoweredInts::ascending(nodes) }
    }

    /// Joins a node with others.
    fn join_all(&self, node: u32, others: &[u32]) {
        let mut root = self.find(node);
        for &to in others {
            // Mostly both are in the largest part already, and hang below its root.
            if self.parents.get(to) != root {
                root = self.join(root, to);
            }
        }
    }

    /// Joins the tree of a root with that of a node, and returns the root of both. A former root
    /// may be below another by now.
    pub(in crate::algo) fn join(&self, root: u32, node: u32) -> u32 {
        let (mut root, mut other) = (root, self.find(node));
        while root != other {
            let (low, high) = if root < other { (root, other) } else { (other, root) };
            if self.parents.swap(high, high, low) {
                return low;
            }
            (root, other) = (self.find(low), self.find(high));
        }
        root
    }

    /// The root of the tree of a node.
    pub(in crate::algo) fn find(&self, mut node: u32) -> u32 {
        loop {
            let above = self.parents.get(node);
            let next = self.parents.get(above);
            if above == next {
                return above;
            }
            // Whoever sets it at the same time sets it to a node that is above it, too.
            self.parents.set(node, next);
            node = next;
        }
    }

    /// As [`Trees::find`], without path compression.
    fn root(&self, mut node: u32) -> u32 {
        loop {
            match self.parents.get(node) {
                above if above == node => return node,
                above => node = above,
            }
        }
    }

    /// The numbers of the trees, for each node, in the order of their roots, which are their first
    /// nodes.
    fn numbered(&self, run: &Run<'_>) -> Result<Vec<i64>> {
        let mut of_root = vec![0_u32; self.parents.len()];
        let mut next = 0;
        for (node, number) in (0..).zip(&mut of_root) {
            *number = next;
            next += u32::from(self.parents.get(node) == node);
        }
        let mut numbers = vec![0; self.parents.len()];
        run.task.fill_evenly(&mut numbers, |range, part| {
            for (node, number) in (range.start as u32..).zip(part) {
                *number = i64::from(of_root[self.root(node) as usize]);
            }
            Ok(())
        })?;
        Ok(numbers)
    }

    /// The root that most of some nodes, spread over all, hang below. Any would do: it only saves
    /// work.
    fn largest(&self) -> Option<u32> {
        let step = self.parents.len().div_ceil(SAMPLES).max(1);
        let nodes = (0..self.parents.len() as u32).step_by(step);
        let mut roots: Vec<u32> = nodes.map(|node| self.root(node)).collect();
        roots.sort_unstable();
        roots.chunk_by(|one, other| one == other).max_by_key(|same| same.len()).map(|same| same[0])
    }
}
