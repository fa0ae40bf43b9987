//! Compressed sparse rows: the targets of all nodes, one list behind the other.

use crate::algo::task::Task;
use hexgraph_base::types::Result;
use std::ops::Range;

/// A block of rows has about this many edges and rows together, so that blocks take about the same time.
const BLOCK: usize = 64 << 10;

/// The most stripes in which edges are turned round: each thread reads all of them.
const STRIPES_MAX: usize = 8;

/// The edges of all nodes in one direction.
pub struct Rows {
    /// Where the row of each node begins, and the last one ends.
    starts: Vec<usize>,
    /// The targets, ascending and distinct in each row.
    targets: Vec<u32>,
    /// What each edge weighs; `None` where each weighs 1.
    weights: Option<Vec<f64>>,
    /// The nodes at which blocks end. They depend on the rows alone, and not on the threads.
    blocks: Vec<usize>,
}

/// Rows of some neighbouring nodes while they are made.
#[derive(Default)]
pub(in crate::algo) struct Piece {
    pub(in crate::algo) lens: Vec<usize>,
    pub(in crate::algo) targets: Vec<u32>,
    /// Beside the targets, or empty.
    pub(in crate::algo) weights: Vec<f64>,
}

impl Rows {
    /// Joins pieces that follow each other.
    pub(in crate::algo) fn join(
        task: &Task<'_>,
        pieces: Vec<Piece>,
        is_weighted: bool,
    ) -> Result<Rows> {
        let rows: usize = pieces.iter().map(|piece| piece.lens.len()).sum();
        let mut starts = Vec::with_capacity(rows + 1);
        let mut end = 0;
        starts.push(end);
        let mut ends = Vec::with_capacity(pieces.len());
        for piece in &pieces {
            for len in &piece.lens {
                end += len;
                starts.push(end);
            }
            ends.push(end);
        }
        let mut targets = vec![0; end];
        task.fill(&mut targets, &ends, |number, part| {
            part.copy_from_slice(&pieces[number].targets);
            Ok(())
        })?;
        let mut weights = is_weighted.then(|| vec![0.0; end]);
        if let Some(weights) = &mut weights {
            task.fill(weights, &ends, |number, part| {
                part.copy_from_slice(&pieces[number].weights);
                Ok(())
            })?;
        }
        Ok(Rows::new(starts, targets, weights))
    }

    fn new(starts: Vec<usize>, targets: Vec<u32>, weights: Option<Vec<f64>>) -> Rows {
        let mut blocks = Vec::new();
        let (mut first, rows) = (0, starts.len() - 1);
        while first < rows {
            let wanted = starts[first] + first + BLOCK;
            let mut low = first + 1;
            let mut high = rows;
            // The last row up to which the block has no more than wanted; at least one row.
            while low < high {
                let middle = (low + high).div_ceil(2);
                if starts[middle] + middle <= wanted { low = middle } else { high = middle - 1 }
            }
            blocks.push(low);
            first = low;
        }
        Rows { starts, targets, weights, blocks }
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of edges.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// The number of edges of a node.
    #[inline]
    pub fn degree(&self, node: u32) -> usize {
        self.range(node).len()
    }

    #[inline]
    fn range(&self, node: u32) -> Range<usize> {
        self.starts[node as usize]..self.starts[node as usize + 1]
    }

    /// The targets of a node, ascending.
    #[inline]
    pub fn of(&self, node: u32) -> &[u32] {
        &self.targets[self.range(node)]
    }

    /// The targets of a node with the weights of the edges.
    #[inline]
    pub fn weighted(&self, node: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.range(node);
        let weights = self.weights.as_ref().map_or(&[][..], |weights| &weights[range.clone()]);
        let weight_at = move |place: usize| weights.get(place).copied().unwrap_or(1.0);
        self.targets[range].iter().enumerate().map(move |(place, &to)| (to, weight_at(place)))
    }

    /// The targets of all nodes, row behind row.
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// What each edge weighs, in the order of the rows; `None` where each weighs 1.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The weights of the edges of a node; `None` where each weighs 1.
    #[inline]
    pub fn weights_of(&self, node: u32) -> Option<&[f64]> {
        self.weights.as_ref().map(|weights| &weights[self.range(node)])
    }

    /// What the edges of a node weigh together.
    pub fn weight_of(&self, node: u32) -> f64 {
        match self.weights_of(node) {
            Some(weights) => weights.iter().sum(),
            None => self.degree(node) as f64,
        }
    }

    /// Whether there is an edge between two nodes. O(log edges of the first).
    pub fn has(&self, from: u32, to: u32) -> bool {
        self.of(from).binary_search(&to).is_ok()
    }

    /// What the edge between two nodes weighs; `None` where there is none. O(log edges of the first).
    pub fn weight_between(&self, from: u32, to: u32) -> Option<f64> {
        let place = self.of(from).binary_search(&to).ok()?;
        Some(self.weights_of(from).map_or(1.0, |weights| weights[place]))
    }

    /// The nodes at which blocks of about the same work end.
    pub(in crate::algo) fn blocks(&self) -> &[usize] {
        &self.blocks
    }

    /// The nodes of a block.
    pub(in crate::algo) fn block(&self, number: usize) -> Range<u32> {
        let start = if number == 0 { 0 } else { self.blocks[number - 1] };
        start as u32..self.blocks[number] as u32
    }

    /// The bytes that it takes.
    pub fn byte_len(&self) -> usize {
        size_of_val(self.starts.as_slice())
            + size_of_val(self.targets.as_slice())
            + self.weights.as_ref().map_or(0, |weights| size_of_val(weights.as_slice()))
    }

    /// The same edges turned round. Each thread takes a stripe of targets, and reads all edges: O(edges) for each thread.
    pub(in crate::algo) fn transposed(&self, task: &Task<'_>) -> Result<Rows> {
        let nodes = self.nodes();
        let mut starts = vec![0; nodes + 1];
        for (number, end) in self.blocks.iter().enumerate() {
            task.check()?;
            let first = self.starts[self.block(number).start as usize];
            self.targets[first..self.starts[*end]]
                .iter()
                .for_each(|to| starts[*to as usize + 1] += 1);
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let stripes = stripes(&starts, task.threads().min(STRIPES_MAX));
        let ends: Vec<usize> = stripes.iter().map(|node| starts[*node]).collect();
        let mut targets = vec![0; self.edges()];
        let bounds = |number: usize| if number == 0 { 0 } else { stripes[number - 1] };
        let scatter = |number: usize, put: &mut dyn FnMut(usize, u32, usize)| {
            let (low, high) = (bounds(number), stripes[number]);
            let offset = starts[low];
            let mut next: Vec<usize> = starts[low..high].iter().map(|at| at - offset).collect();
            for block in 0..self.blocks.len() {
                task.check()?;
                for node in self.block(block) {
                    for place in self.range(node) {
                        let to = self.targets[place] as usize;
                        if low <= to && to < high {
                            put(next[to - low], node, place);
                            next[to - low] += 1;
                        }
                    }
                }
            }
            Ok(())
        };
        task.fill(&mut targets, &ends, |number, part| {
            scatter(number, &mut |at, node, _| part[at] = node)
        })?;
        let weights = match &self.weights {
            None => None,
            Some(given) => {
                let mut weights = vec![0.0; self.edges()];
                task.fill(&mut weights, &ends, |number, part| {
                    scatter(number, &mut |at, _, place| part[at] = given[place])
                })?;
                Some(weights)
            }
        };
        Ok(Rows::new(starts, targets, weights))
    }

    /// The edges without their directions, `turned` being the same ones turned round. A loop is one edge, whichever way it is taken.
    pub(in crate::algo) fn symmetric(&self, turned: &Rows, task: &Task<'_>) -> Result<Rows> {
        self.merged(turned, |from, to| from == to, task)
    }

    /// The union of two sets of edges over the same nodes. An edge that is in both weighs what both weigh together.
    pub(in crate::algo) fn union(&self, other: &Rows, task: &Task<'_>) -> Result<Rows> {
        self.merged(other, |_, _| false, task)
    }

    /// The union, where `is_same` tells that an edge of both sets is one and the same.
    fn merged(&self, other: &Rows, is_same: fn(u32, u32) -> bool, task: &Task<'_>) -> Result<Rows> {
        let is_weighted = self.weights.is_some() || other.weights.is_some();
        let pieces = task.blocks(self.blocks.len(), |number| {
            let mut piece = Piece::default();
            for node in self.block(number) {
                let before = piece.targets.len();
                merge(self.weighted(node), other.weighted(node), |to, weight, more| {
                    piece.targets.push(to);
                    if is_weighted {
                        piece.weights.push(weight + if is_same(node, to) { 0.0 } else { more });
                    }
                });
                piece.lens.push(piece.targets.len() - before);
            }
            Ok(piece)
        })?;
        Rows::join(task, pieces, is_weighted)
    }
}

/// Calls `put` with what is in one of two ascending lists or in both, ascending: the target, what it weighs, and what it weighs in
/// the second list where it is in both.
fn merge(
    one: impl Iterator<Item = (u32, f64)>,
    other: impl Iterator<Item = (u32, f64)>,
    mut put: impl FnMut(u32, f64, f64),
) {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    loop {
        match (one.peek().copied(), other.peek().copied()) {
            (Some((left, weight)), Some((right, more))) if left == right => {
                put(left, weight, more);
                one.next();
                other.next();
            }
            (Some((left, weight)), Some((right, _))) if left < right => {
                put(left, weight, 0.0);
                one.next();
            }
            (Some((left, weight)), None) => {
                put(left, weight, 0.0);
                one.next();
            }
            (_, Some((right, weight))) => {
                put(right, weight, 0.0);
                other.next();
            }
            (None, None) => return,
        }
    }
}

/// The nodes at which `count` stripes with about the same number of edges end.
fn stripes(starts: &[usize], count: usize) -> Vec<usize> {
    let (nodes, edges) = (starts.len() - 1, starts[starts.len() - 1]);
    let end = |number: usize| starts.partition_point(|start| *start < edges * number / count);
    let mut ends: Vec<usize> = (1..count).map(|number| end(number).min(nodes)).collect();
    ends.push(nodes);
    ends
}
