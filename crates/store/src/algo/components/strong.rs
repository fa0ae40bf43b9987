//! Strongly connected components, by Tarjan's algorithm without recursion.
//!
//! Components are completed in reverse topological order. They are numbered in the opposite order:
//! an edge between two of them goes from the lower number to the greater one, so the numbers are a
//! topological order of the condensation.

use crate::algo::run::{Outcome, Output, Run};
use hexgraph_base::types::Result;

/// The bytes for each node: its number in the search, its position in the row, its part, the
/// stacks, and the result.
const BYTES_A_NODE: usize = 6 * size_of::<u32>() + size_of::<i64>();

/// The steps between two looks at the clock.
const STEPS_A_CHECK: usize = 1 << 20;

/// A node that is not visited yet.
const UNSEEN: u32 = 0;

/// A node that has a part: greater than any number of the search, so that what it reaches does not
/// count.
const DONE: u32 = u32::MAX;

pub(in crate::algo) fn strong_components(run: &Run<'_>) -> Result<Outcome> {
    let _capacity = run.capacity_per_node(BYTES_A_NODE)?;
    let nodes = run.graph.len();
    let mut search = Search {
        low: vec![UNSEEN; nodes],
        next: vec![0; nodes],
        open: Vec::new(),
        path: Vec::new(),
        part: vec![0; nodes],
        seen: UNSEEN,
        parts: 0,
    };
    for node in 0..nodes as u32 {
        if search.low[node as usize] == UNSEEN {
            search.from(node, run)?;
        }
    }
    let numbers = search.part.into_iter().map(|part| i64::from(search.parts - 1 - part)).collect();
    Ok(Outcome::once(Output::Ints(numbers), run.graph.outgoing().edges()))
}

struct Search {
    /// The number in the order of the search, then the least one that the node reaches among those
    /// that have no part yet, then [`DONE`].
    low: Vec<u32>,
    /// The position in the row of each node up to which its edges were followed.
    next: Vec<u32>,
    /// The nodes without a part, in the order of the search.
    open: Vec<u32>,
    /// The nodes whose edges are being followed, with their numbers in the order of the search.
    path: Vec<(u32, u32)>,
    /// The part of each completed node, in order of completion.
    part: Vec<u32>,
    seen: u32,
    parts: u32,
}

impl Search {
    fn enter(&mut self, node: u32) {
        self.seen += 1;
        self.low[node as usize] = self.seen;
        self.open.push(node);
        self.path.push((node, self.seen));
    }

    fn from(&mut self, start: u32, run: &Run<'_>) -> Result<()> {
        let rows = run.graph.outgoing();
        self.enter(start);
        let mut steps = 0;
        while let Some(&(node, number)) = self.path.last() {
            steps += 1;
            if STEPS_A_CHECK <= steps {
                steps = 0;
                run.task.check()?;
            }
            let row = &rows.of(node)[self.next[node as usize] as usize..];
            let mut low = self.low[node as usize];
            let mut unseen = None;
            for (position, &to) in row.iter().enumerate() {
                let there = self.low[to as usize];
                if there == UNSEEN {
                    unseen = Some((position, to));
                    break;
                }
                low = low.min(there);
            }
            self.low[node as usize] = low;
            if let Some((position, to)) = unseen {
                // The edge is looked at again when the search comes back, to learn what lies after
                // it.
                self.next[node as usize] += position as u32;
                self.enter(to);
                continue;
            }
            self.path.pop();
            if low == number {
                self.close(node);
            }
        }
        Ok(())
    }

    /// Makes a part of the nodes from `first` on the stack.
    fn close(&mut self, first: u32) {
        while let Some(node) = self.open.pop() {
            self.part[node as usize] = self.parts;
            self.low[node as usize] = DONE;
            if node == first {
                break;
            }
        }
        self.parts += 1;
    }
}
