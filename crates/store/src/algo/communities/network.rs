//! A network of nodes, or of groups of nodes, as the search for communities sees it: without directions, each edge at both of its ends.

use crate::algo::run::Run;
use hexgraph_base::types::Result;

/// The bytes for each edge at each end.
pub(super) const BYTES_AN_EDGE: usize = size_of::<u32>() + size_of::<f64>();

/// The bytes for each node of a network and the search in it, about.
pub(super) const BYTES_A_NODE: usize = 96;

/// A network with weights.
pub(super) struct Network {
    starts: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<f64>,
    /// What the edges of a node weigh together, a loop twice.
    pub(super) strengths: Vec<f64>,
    /// The sum of all strengths: twice what all edges weigh.
    pub(super) total: f64,
}

impl Network {
    /// The network of a graph, which has no directions.
    pub(super) fn of(run: &Run<'_>) -> Result<Network> {
        let rows = run.graph.outgoing();
        let mut made = Network::empty(rows.nodes());
        for block in 0..rows.blocks().len() {
            run.task.check()?;
            for node in rows.block(block) {
                let mut strength = 0.0;
                for (to, weight) in rows.weighted(node) {
                    made.targets.push(to);
                    // A loop weighs what it weighs at both of its ends, which are one.
                    made.weights.push(if to == node { 2.0 * weight } else { weight });
                    strength += made.weights[made.weights.len() - 1];
                }
                made.end_row(strength);
            }
        }
        Ok(made)
    }

    fn empty(nodes: usize) -> Network {
        let (mut starts, strengths) = (Vec::with_capacity(nodes + 1), Vec::with_capacity(nodes));
        starts.push(0);
        Network { starts, targets: Vec::new(), weights: Vec::new(), strengths, total: 0.0 }
    }

    fn end_row(&mut self, strength: f64) {
        self.starts.push(self.targets.len());
        self.strengths.push(strength);
        self.total += strength;
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.strengths.len()
    }

    /// The number of ends of edges.
    pub(super) fn ends(&self) -> usize {
        self.targets.len()
    }

    /// The neighbours of a node with the weights of the edges, itself among them where it has a loop.
    #[inline]
    pub(super) fn neighbours(&self, node: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.starts[node as usize]..self.starts[node as usize + 1];
        self.targets[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// The network of groups: `group_of` has the number of each node's group, and there are `count`.
    pub(super) fn grouped(&self, group_of: &[u32], count: usize, run: &Run<'_>) -> Result<Network> {
        let mut members = vec![0_u32; group_of.len()];
        let mut next = vec![0_usize; count + 1];
        group_of.iter().for_each(|group| next[*group as usize + 1] += 1);
        for group in 0..count {
            next[group + 1] += next[group];
        }
        let starts = next.clone();
        for (node, group) in group_of.iter().enumerate() {
            members[next[*group as usize]] = node as u32;
            next[*group as usize] += 1;
        }
        let mut made = Network::empty(count);
        let mut sums = Sums::new(count);
        for group in 0..count {
            if group.is_multiple_of(4096) {
                run.task.check()?;
            }
            let mut strength = 0.0;
            for &node in &members[starts[group]..starts[group + 1]] {
                strength += self.strengths[node as usize];
                for (to, weight) in self.neighbours(node) {
                    sums.add(group_of[to as usize], weight);
                }
            }
            sums.take(|to, weight| {
                made.targets.push(to);
                made.weights.push(weight);
            });
            made.end_row(strength);
        }
        Ok(made)
    }
}

/// Sums by group, for some groups at a time.
pub(super) struct Sums {
    sums: Vec<f64>,
    is_there: Vec<bool>,
    /// The groups that have a sum, in the order in which they came.
    pub(super) groups: Vec<u32>,
}

impl Sums {
    pub(super) fn new(groups: usize) -> Sums {
        Sums { sums: vec![0.0; groups], is_there: vec![false; groups], groups: Vec::new() }
    }

    #[inline]
    pub(super) fn add(&mut self, group: u32, weight: f64) {
        if !std::mem::replace(&mut self.is_there[group as usize], true) {
            self.groups.push(group);
        }
        self.sums[group as usize] += weight;
    }

    #[inline]
    pub(super) fn of(&self, group: u32) -> f64 {
        self.sums[group as usize]
    }

    /// Hands out the sums, and begins anew.
    pub(super) fn take(&mut self, mut visit: impl FnMut(u32, f64)) {
        for group in self.groups.drain(..) {
            self.is_there[group as usize] = false;
            visit(group, std::mem::take(&mut self.sums[group as usize]));
        }
    }
}

/// Gives groups the numbers from 0 on, in the order of their first members, and returns how many there are.
pub(super) fn renumber(group_of: &mut [u32]) -> usize {
    let mut numbers = vec![u32::MAX; group_of.len()];
    let mut count = 0;
    for group in group_of {
        let number = &mut numbers[*group as usize];
        if *number == u32::MAX {
            *number = count;
            count += 1;
        }
        *group = *number;
    }
    count as usize
}
