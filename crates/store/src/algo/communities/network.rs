//! A network of nodes, or of groups of nodes, for community detection: undirected, each edge at
//! both of its endpoints.

use super::grouped::{GroupRows, Grouped};
use super::sums::{Spares, Sums};
use crate::algo::compact::rows::Rows;
use crate::algo::compact::weights::WeightSlice;
use crate::algo::run::Run;
use crate::algo::task::Cut;
use hexgraph_base::types::Result;
use std::ops::Range;

/// The bytes for each edge at each end.
pub(super) const BYTES_AN_EDGE: usize = size_of::<u32>() + size_of::<f64>();

/// The bytes for each node of a network and the search in it, about.
pub(super) const BYTES_A_NODE: usize = 96;

/// A network with weights.
pub(super) struct Network<'g> {
    rows: Rowed<'g>,
    /// What the edges of a node weigh together, a loop twice.
    pub(super) strengths: Vec<f64>,
    /// The sum of all strengths: twice what all edges weigh.
    pub(super) total: f64,
}

enum Rowed<'g> {
    /// The rows of a graph, where a loop counts its weight once.
    Borrowed(&'g Rows),
    /// Rows where a loop counts its weight twice, once for each endpoint.
    Made(Grouped),
}

impl<'g> Network<'g> {
    /// The network of the rows of a graph, which has no directions.
    pub(super) fn of(rows: &'g Rows, run: &Run<'_>) -> Result<Network<'g>> {
        let mut strengths = vec![0.0; rows.nodes()];
        run.task.fill(&mut strengths, rows.blocks(), |number, part| {
            for (strength, node) in part.iter_mut().zip(rows.block(number)) {
                let (targets, weights) = rows.row(node);
                let looped =
                    targets.binary_search(&node).map_or(0.0, |position| weights.at(position));
                // The row has a loop once, and both of its endpoints are this node.
                *strength = rows.weight_of(node) + looped;
            }
            Ok(())
        })?;
        let total = strengths.iter().sum();
        Ok(Network { rows: Rowed::Borrowed(rows), strengths, total })
    }

    /// The neighbours of a node, and what the edges weigh.
    #[inline]
    fn row(&self, node: u32) -> (&[u32], WeightSlice<'_>) {
        match &self.rows {
            Rowed::Borrowed(rows) => rows.row(node),
            Rowed::Made(rows) => rows.row(node),
        }
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.strengths.len()
    }

    /// The number of entries: two for each edge.
    pub(super) fn edges(&self) -> usize {
        match &self.rows {
            Rowed::Borrowed(rows) => rows.edges(),
            Rowed::Made(rows) => rows.edges(),
        }
    }

    /// The number of entries of a node.
    pub(super) fn degree(&self, node: u32) -> usize {
        self.row(node).0.len()
    }

    /// The neighbours of a node, itself among them where it has a loop.
    pub(super) fn neighbours(&self, node: u32) -> &[u32] {
        self.row(node).0
    }

    /// Visits the neighbours of a node but itself, with what the edges weigh.
    #[inline]
    pub(super) fn each_other(&self, node: u32, mut visit: impl FnMut(u32, f64)) {
        self.each(node, |to, weight| {
            if to != node {
                visit(to, weight);
            }
        });
    }

    /// Visits the neighbours of a node. The form of the weights is tested once for all of them.
    #[inline]
    fn each(&self, node: u32, mut visit: impl FnMut(u32, f64)) {
        let (targets, weights) = self.row(node);
        match weights {
            WeightSlice::Ones => targets.iter().for_each(|to| visit(*to, 1.0)),
            WeightSlice::Narrow(weights) => {
                targets.iter().zip(weights).for_each(|(to, it)| visit(*to, f64::from(*it)));
            }
            WeightSlice::Wide(weights) => {
                targets.iter().zip(weights).for_each(|(to, it)| visit(*to, *it));
            }
        }
    }

    /// The network of groups: `group_of` has the number of each node's group, and there are
    /// `count`.
    pub(super) fn grouped(
        &self,
        group_of: &[u32],
        count: usize,
        run: &Run<'_>,
    ) -> Result<Network<'g>> {
        let members = GroupMembers::new(group_of, count);
        let (chunks, spares) = (members.chunks(self, run.task.cut()), Spares::default());
        let made = run.task.blocks(chunks.len(), |number| {
            let groups = chunks[number].clone();
            Ok(spares.lend(|sums| self.part(groups, &members, (group_of, count), sums)))
        })?;
        let (rows, strengths) = Grouped::new(made);
        Ok(Network { rows: Rowed::Made(rows), strengths, total: self.total })
    }

    /// The rows of some groups in the network of all.
    fn part(
        &self,
        groups: Range<usize>,
        members: &GroupMembers,
        (group_of, count): (&[u32], usize),
        sums: &mut Sums,
    ) -> GroupRows {
        // An edge within the group is visited from both of its endpoints, but a loop of a given
        // graph only once.
        let loops = if matches!(self.rows, Rowed::Borrowed(_)) { 2.0 } else { 1.0 };
        let edges_of = |nodes: &[u32]| nodes.iter().map(|node| self.degree(*node)).sum::<usize>();
        let nodes = &members.nodes[members.starts[groups.start]..members.starts[groups.end]];
        let mut part = GroupRows::with_capacity(groups.len(), edges_of(nodes));
        for group in groups {
            let nodes = members.of(group);
            sums.begin(edges_of(nodes), count);
            for &node in nodes {
                self.each(node, |to, weight| {
                    let weight = if to == node { loops * weight } else { weight };
                    sums.add(group_of[to as usize], weight);
                });
            }
            let strengths = nodes.iter().map(|node| self.strengths[*node as usize]);
            part.push(sums.all(), strengths.sum());
        }
        part
    }
}

/// The members of groups.
pub(super) struct GroupMembers {
    /// The members of the groups, one group after the other, ascending in each.
    pub(super) nodes: Vec<u32>,
    /// Where the members of each group begin, and those of the last one end.
    pub(super) starts: Vec<usize>,
}

impl GroupMembers {
    pub(super) fn new(group_of: &[u32], count: usize) -> GroupMembers {
        let mut starts = vec![0_usize; count + 1];
        group_of.iter().for_each(|group| starts[*group as usize + 1] += 1);
        for group in 0..count {
            starts[group + 1] += starts[group];
        }
        let (mut next, mut nodes) = (starts.clone(), vec![0; group_of.len()]);
        for (node, group) in (0..).zip(group_of) {
            nodes[next[*group as usize]] = node;
            next[*group as usize] += 1;
        }
        GroupMembers { nodes, starts }
    }

    /// The members of a group, ascending.
    pub(super) fn of(&self, group: usize) -> &[u32] {
        &self.nodes[self.starts[group]..self.starts[group + 1]]
    }

    /// The groups in chunks of about equal cost. They depend on the groups alone, not on the
    /// threads.
    pub(super) fn chunks(&self, network: &Network<'_>, cut: Cut) -> Vec<Range<usize>> {
        let (mut chunks, mut start, mut edges) = (Vec::new(), 0, 0);
        let count = self.starts.len() - 1;
        for group in 0..count {
            edges += self.of(group).iter().map(|node| network.degree(*node) + 1).sum::<usize>();
            if cut.group_chunk <= edges || group + 1 == count {
                chunks.push(start..group + 1);
                (start, edges) = (group + 1, 0);
            }
        }
        chunks
    }
}

/// Gives groups the numbers from 0 on, in the order of their first members, and returns how many
/// there are.
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
