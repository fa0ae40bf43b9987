//! Articulation points and bridges: nodes and edges without which a part of the graph falls apart.
//! One depth-first search without recursion finds both (J. Hopcroft, R. Tarjan: Algorithm 447. CACM
//! 16, 1973). Loops do not count.

use crate::algo::compact::rows::Rows;
use crate::algo::run::{Outcome, Output, Run};
use hexgraph_base::types::Result;

/// The bytes for each node: its number in the search, its low-link, its position in the row, the
/// size of its subtree, the path, a mark.
const BYTES_A_NODE: usize = 5 * size_of::<u32>() + 1;

/// The bytes of a bridge; there are fewer bridges than nodes.
const BYTES_A_BRIDGE: usize = size_of::<(u32, u32, f64)>();

/// The steps between two looks at the clock.
const STEPS_A_CHECK: usize = 1 << 18;

/// A node that is not visited yet.
const UNSEEN: u32 = 0;

pub(in crate::algo) fn articulation_points(run: &Run<'_>) -> Result<Outcome> {
    let search = searched(run)?;
    let points = (0..run.graph.len() as u32).filter(|node| search.is_point[*node as usize]);
    Ok(Outcome::once(Output::Nodes(points.collect()), run.graph.outgoing().edges()))
}

/// With each bridge, how many nodes are on that side of it which has fewer.
pub(in crate::algo) fn bridges(run: &Run<'_>) -> Result<Outcome> {
    let mut bridges = searched(run)?.bridges;
    bridges.sort_unstable_by_key(|(one, other, _)| (*one, *other));
    Ok(Outcome::once(Output::Pairs(bridges), run.graph.outgoing().edges()))
}

fn searched(run: &Run<'_>) -> Result<Search> {
    let nodes = run.graph.len();
    let _capacity = run.capacity_per_node(BYTES_A_NODE + BYTES_A_BRIDGE)?;
    let mut search = Search {
        numbers: vec![UNSEEN; nodes],
        low: vec![0; nodes],
        next: vec![0; nodes],
        sizes: vec![1; nodes],
        path: Vec::new(),
        is_point: vec![false; nodes],
        bridges: Vec::new(),
        seen: UNSEEN,
        steps: 0,
    };
    for node in 0..nodes as u32 {
        if search.numbers[node as usize] == UNSEEN {
            search.from(node, run.graph.outgoing(), run)?;
        }
    }
    Ok(search)
}

struct Search {
    /// The number of each node in the order of the search.
    numbers: Vec<u32>,
    /// The least number that the nodes below a node have an edge to.
    low: Vec<u32>,
    /// The position in the row of each node up to which its edges were followed.
    next: Vec<u32>,
    /// The nodes that hang below each one, with itself.
    sizes: Vec<u32>,
    /// The nodes whose edges are being followed.
    path: Vec<u32>,
    is_point: Vec<bool>,
    bridges: Vec<(u32, u32, f64)>,
    seen: u32,
    steps: usize,
}

impl Search {
    fn enter(&mut self, node: u32) {
        self.seen += 1;
        self.numbers[node as usize] = self.seen;
        self.low[node as usize] = self.seen;
        self.path.push(node);
    }

    fn from(&mut self, start: u32, rows: &Rows, run: &Run<'_>) -> Result<()> {
        let (first_bridge, mut branches) = (self.bridges.len(), 0);
        self.enter(start);
        while let Some((&node, before)) = self.path.split_last() {
            self.steps += 1;
            if STEPS_A_CHECK <= self.steps {
                self.steps = 0;
                run.task.check()?;
            }
            let above = before.last().copied();
            let row = &rows.of(node)[self.next[node as usize] as usize..];
            let (mut low, mut unseen) = (self.low[node as usize], None);
            for (position, &to) in row.iter().enumerate().filter(|(_, to)| Some(**to) != above) {
                if self.numbers[to as usize] == UNSEEN {
                    unseen = Some((position, to));
                    break;
                }
                low = low.min(self.numbers[to as usize]);
            }
            self.low[node as usize] = low;
            if let Some((position, to)) = unseen {
                self.next[node as usize] += position as u32 + 1;
                self.enter(to);
                continue;
            }
            self.path.pop();
            if let Some(above) = above {
                branches += usize::from(above == start);
                self.leave(node, above, start);
            }
        }
        self.is_point[start as usize] = 1 < branches;
        let all = f64::from(self.sizes[start as usize]);
        for (.., side) in &mut self.bridges[first_bridge..] {
            *side = side.min(all - *side);
        }
        Ok(())
    }

    /// Goes back from a node to the one above it.
    fn leave(&mut self, node: u32, above: u32, start: u32) {
        let low = self.low[node as usize];
        let number = self.numbers[above as usize];
        self.low[above as usize] = self.low[above as usize].min(low);
        self.sizes[above as usize] += self.sizes[node as usize];
        if number < low {
            let below = f64::from(self.sizes[node as usize]);
            self.bridges.push((node.min(above), node.max(above), below));
        }
        if number <= low && above != start {
            self.is_point[above as usize] = true;
        }
    }
}
