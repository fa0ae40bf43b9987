//! Strongly connected components, by Tarjan's algorithm without recursion.
//!
//! Parts are found in the order in which those that they lead to come first. Their numbers run the other way: an edge between two parts leads
//! from the lower number to the greater one, so the numbers are an order of the condensation.

use crate::algo::run::{Found, Output, Run};
use hexgraph_base::types::Result;

/// The bytes for each node: its number in the search, its place in the row, the stacks, and the result.
const BYTES_A_NODE: usize = 4 * size_of::<u32>() + size_of::<usize>() + size_of::<i64>();

/// The steps between two looks at the clock.
const STEPS_A_CHECK: usize = 1 << 20;

/// A node that the search has not come to, and the first number that it gives.
const UNSEEN: u32 = 0;

pub(in crate::algo) fn strong_components(run: &Run<'_>) -> Result<Found> {
    let _room = run.room_a_node(BYTES_A_NODE)?;
    let nodes = run.graph.len();
    let mut search = Search {
        low: vec![UNSEEN; nodes],
        next: vec![0; nodes],
        open: Vec::new(),
        path: Vec::new(),
        part: vec![-1; nodes],
        seen: UNSEEN,
        parts: 0,
    };
    for node in 0..nodes as u32 {
        if search.low[node as usize] == UNSEEN {
            search.from(node, run)?;
        }
    }
    let last = search.parts - 1;
    search.part.iter_mut().for_each(|part| *part = last - *part);
    Ok(Found::once(Output::Ints(search.part), run.graph.outgoing().edges()))
}

struct Search {
    /// The number in the order of the search, then the least one that the node reaches among those that have no part yet.
    low: Vec<u32>,
    /// The place in the row of each node up to which its edges were followed.
    next: Vec<usize>,
    /// The nodes without a part, in the order of the search.
    open: Vec<u32>,
    /// The nodes whose edges are being followed, with their numbers in the order of the search.
    path: Vec<(u32, u32)>,
    /// The part of each node, in the order in which they are found; below 0 for none yet.
    part: Vec<i64>,
    seen: u32,
    parts: i64,
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
            let row = &rows.of(node)[self.next[node as usize]..];
            let mut low = self.low[node as usize];
            let mut unseen = None;
            for (place, &to) in row.iter().enumerate() {
                if self.part[to as usize] < 0 {
                    if self.low[to as usize] == UNSEEN {
                        unseen = Some((place, to));
                        break;
                    }
                    low = low.min(self.low[to as usize]);
                }
            }
            self.low[node as usize] = low;
            if let Some((place, to)) = unseen {
                // The edge is looked at again when the search comes back, to learn what lies behind it.
                self.next[node as usize] += place;
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

    /// Makes a part of the nodes behind one, and of it.
    fn close(&mut self, first: u32) {
        while let Some(node) = self.open.pop() {
            self.part[node as usize] = self.parts;
            if node == first {
                break;
            }
        }
        self.parts += 1;
    }
}
