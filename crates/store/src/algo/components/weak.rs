//! Weakly connected components, by union and find with halved paths: a tree of nodes for each part, whose root is its least node.

use super::numbered::by_first_node;
use crate::algo::compact::rows::Rows;
use crate::algo::run::{Found, Output, Run};
use hexgraph_base::types::Result;

/// The bytes for each node: its parent, and twice a number for its part.
const BYTES_A_NODE: usize = 2 * size_of::<u32>() + size_of::<i64>();

pub(in crate::algo) fn components(run: &Run<'_>) -> Result<Found> {
    let _room = run.room_a_node(BYTES_A_NODE)?;
    let rows = run.graph.outgoing();
    let mut trees = Trees { parents: (0..run.graph.len() as u32).collect() };
    for block in 0..rows.blocks().len() {
        run.task.check()?;
        trees.join_block(rows, block);
    }
    let numbers = by_first_node(run.graph.len(), |node| trees.root(node));
    Ok(Found::once(Output::Ints(numbers), rows.edges()))
}

struct Trees {
    /// The node above each one; a root is above itself. It is never greater than the node.
    parents: Vec<u32>,
}

impl Trees {
    fn join_block(&mut self, rows: &Rows, block: usize) {
        for node in rows.block(block) {
            let mut root = self.find(node);
            for &to in rows.of(node) {
                // Mostly both are in the largest part already, and hang below its root.
                if self.parents[to as usize] != root {
                    root = self.join(root, to);
                }
            }
        }
    }

    /// Joins the tree of a root with that of a node, and returns the root of both.
    fn join(&mut self, root: u32, node: u32) -> u32 {
        let other = self.find(node);
        let (low, high) = if root < other { (root, other) } else { (other, root) };
        self.parents[high as usize] = low;
        low
    }

    fn find(&mut self, mut node: u32) -> u32 {
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
}
