//! Weakly connected components, by union and find with halved paths: a tree of nodes for each part, whose root is its least node.
//!
//! Mostly one part has nearly all nodes, and a few edges of each node are enough to find it. Then only nodes that have an edge to or from
//! the rest are left to be joined, which all threads look for (Sutton, Ben-Nun, Barak: Optimizing Parallel Graph Connectivity Computation via
//! Subgraph Sampling. IPDPS, 2018).

use crate::algo::bits::Bits;
use crate::algo::run::{Found, Output, Run};
use hexgraph_base::types::Result;

/// The bytes for each node: its parent, the nodes that are left, and twice a number for its part.
const BYTES_A_NODE: usize = 3 * size_of::<u32>() + size_of::<i64>();

/// The edges of each node that are joined at first.
const FIRST_EDGES: usize = 2;

/// The nodes that are looked at to find the largest part.
const SAMPLES: usize = 1024;

pub(in crate::algo) fn components(run: &Run<'_>) -> Result<Found> {
    let _room = run.room_a_node(BYTES_A_NODE)?;
    let rows = run.graph.outgoing();
    let nodes = run.graph.len() as u32;
    let mut trees = Trees::new(nodes);
    for block in 0..rows.blocks().len() {
        run.task.check()?;
        for node in rows.block(block) {
            let row = rows.of(node);
            trees.join_all(node, &row[..row.len().min(FIRST_EDGES)]);
        }
    }
    let largest = trees.largest();
    let is_in_largest =
        Bits::of(nodes as usize, &run.task, |node| Some(trees.root(node as u32)) == largest)?;
    let is_undirected = run.graph.is_undirected();
    let left = run.task.blocks(rows.blocks().len(), |number| {
        let is_in = |node: &u32| is_in_largest.has(*node as usize);
        let is_done = |node: u32| match is_in(&node) {
            // Without directions each edge stands at its other end, too.
            true => is_undirected || rows.of(node).iter().all(is_in),
            false => rows.degree(node) <= FIRST_EDGES,
        };
        Ok(rows.block(number).filter(|node| !is_done(*node)).collect::<Vec<u32>>())
    })?;
    for nodes in left {
        run.task.check()?;
        nodes.into_iter().for_each(|node| trees.join_all(node, rows.of(node)));
    }
    let numbers = trees.numbered(run)?;
    Ok(Found::once(Output::Ints(numbers), rows.edges()))
}

pub(in crate::algo) struct Trees {
    /// The node above each one; a root is above itself. It is never greater than the node.
    parents: Vec<u32>,
}

impl Trees {
    /// Nodes that nothing joins yet.
    pub(in crate::algo) fn new(nodes: u32) -> Trees {
        Trees { parents: (0..nodes).collect() }
    }

    /// Joins a node with others.
    fn join_all(&mut self, node: u32, others: &[u32]) {
        let mut root = self.find(node);
        for &to in others {
            // Mostly both are in the largest part already, and hang below its root.
            if self.parents[to as usize] != root {
                root = self.join(root, to);
            }
        }
    }

    /// Joins the tree of a root with that of a node, and returns the root of both.
    pub(in crate::algo) fn join(&mut self, root: u32, node: u32) -> u32 {
        let other = self.find(node);
        let (low, high) = if root < other { (root, other) } else { (other, root) };
        self.parents[high as usize] = low;
        low
    }

    /// The root of the tree of a node.
    pub(in crate::algo) fn find(&mut self, mut node: u32) -> u32 {
        loop {
            let above = self.parents[node as usize];
            let next = self.parents[above as usize];
            if above == next {
                return above;
            }
            self.parents[node as usize] = next;
            node = next;
        }
    }

    /// As [`Trees::find`], without shortening the way.
    fn root(&self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            node = self.parents[node as usize];
        }
        node
    }

    /// The numbers of the trees, for each node, in the order of their roots, which are their first nodes.
    fn numbered(&self, run: &Run<'_>) -> Result<Vec<i64>> {
        let mut of_root = vec![0_u32; self.parents.len()];
        let mut next = 0;
        for (node, (parent, number)) in (0..).zip(self.parents.iter().zip(&mut of_root)) {
            *number = next;
            next += u32::from(*parent == node);
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

    /// The root that most of some nodes, spread over all, hang below. Any would do: it only saves work.
    fn largest(&self) -> Option<u32> {
        let step = self.parents.len().div_ceil(SAMPLES).max(1);
        let nodes = (0..self.parents.len() as u32).step_by(step);
        let mut roots: Vec<u32> = nodes.map(|node| self.root(node)).collect();
        roots.sort_unstable();
        roots.chunk_by(|one, other| one == other).max_by_key(|same| same.len()).map(|same| same[0])
    }
}
