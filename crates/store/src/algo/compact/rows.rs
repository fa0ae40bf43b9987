//! Compressed sparse rows: the targets of all nodes, one list after the other.

use super::overlay::RowOverlay;
use super::weights::{WeightSlice, Weights, is_narrow};
use crate::algo::task::Task;
use hexgraph_base::types::Result;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A block of rows has about this many edges and rows together, so that blocks cost about the same.
const BLOCK: usize = 64 << 10;

/// The edges of all nodes in one direction.
pub struct Rows {
    /// The rows as built. Patched graphs share them.
    made: Arc<Made>,
    /// The rows that were patched since.
    overlay: Option<RowOverlay>,
    nodes: usize,
    edges: usize,
    /// The nodes at which blocks end. They depend on the rows alone, and not on the threads or on
    /// what was patched.
    blocks: Vec<usize>,
    weight_range: OnceLock<Option<WeightRange>>,
}

/// What edges weigh, about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::algo) struct WeightRange {
    /// What an edge weighs on average.
    pub(in crate::algo) mean: f64,
    /// What the heaviest weighs.
    pub(in crate::algo) most: f64,
    /// Whether all are integers.
    pub(in crate::algo) are_full: bool,
}

/// Rows that lie one after the other.
struct Made {
    /// The start of each node's row, and the end of the last one.
    starts: Vec<usize>,
    /// The targets, ascending and distinct in each row.
    targets: Vec<u32>,
    /// What each edge weighs; `None` where each weighs 1.
    weights: Option<Weights>,
}

/// Rows of some neighbouring nodes while they are made.
#[derive(Default)]
pub(in crate::algo) struct RowChunk {
    pub(in crate::algo) lens: Vec<usize>,
    pub(in crate::algo) targets: Vec<u32>,
    /// In the order of the targets, or empty.
    pub(in crate::algo) weights: Vec<f64>,
}

impl Rows {
    /// Joins chunks that follow each other.
    pub(in crate::algo) fn join(
        task: &Task<'_>,
        chunks: Vec<RowChunk>,
        is_weighted: bool,
    ) -> Result<Rows> {
        let lens = chunks.iter().flat_map(|chunk| chunk.lens.iter().copied());
        let starts = starts_of(lens, chunks.iter().map(|chunk| chunk.lens.len()).sum());
        let mut row = 0;
        let end = |chunk: &RowChunk| {
            row += chunk.lens.len();
            starts[row]
        };
        let bounds: Vec<usize> = chunks.iter().map(end).collect();
        let mut targets = vec![0; starts[row]];
        task.fill(&mut targets, &bounds, |number, part| {
            part.copy_from_slice(&chunks[number].targets);
            Ok(())
        })?;
        let weights = match is_weighted {
            false => None,
            true => Some(narrowed(task, &bounds, |number, put| {
                chunks[number].weights.iter().for_each(|weight| put(*weight));
                Ok(())
            })?),
        };
        Ok(Rows::new(starts, targets, weights))
    }

    /// Rows of lists that lie one after the other.
    pub(super) fn new(starts: Vec<usize>, targets: Vec<u32>, weights: Option<Weights>) -> Rows {
        let (nodes, edges) = (starts.len() - 1, targets.len());
        let made = Arc::new(Made { starts, targets, weights });
        Rows::of_parts(made, None, nodes, edges)
    }

    /// The same rows with some replaced, for `nodes` nodes; new nodes have a row in `overlay`.
    pub(super) fn with_overlay(&self, overlay: RowOverlay, nodes: usize, edges: usize) -> Rows {
        let made = Arc::clone(&self.made);
        Rows::of_parts(made, Some(overlay), nodes, edges)
    }

    fn of_parts(made: Arc<Made>, overlay: Option<RowOverlay>, nodes: usize, edges: usize) -> Rows {
        let (blocks, weight_range) = (Vec::new(), OnceLock::new());
        let mut rows = Rows { made, overlay, nodes, edges, blocks, weight_range };
        rows.blocks = rows.block_bounds();
        rows
    }

    /// The rows that were patched.
    pub(super) fn overlay(&self) -> Option<&RowOverlay> {
        self.overlay.as_ref()
    }

    /// Whether all weights are of four bytes; `None` where edges have none.
    pub(super) fn are_narrow(&self) -> Option<bool> {
        let is_narrow = |weights: &Weights| matches!(weights, Weights::Narrow(_));
        // An overlay has weights of eight bytes, whatever the rows below have.
        self.made.weights.as_ref().map(|weights| is_narrow(weights) && self.overlay.is_none())
    }

    /// Whether edges have weights.
    pub fn is_weighted(&self) -> bool {
        self.made.weights.is_some()
    }

    /// A block ends before the row that would exceed its size; it has at least one row.
    fn block_bounds(&self) -> Vec<usize> {
        let mut bounds = Vec::new();
        let mut size = 0;
        for node in 0..self.nodes {
            let row = self.degree(node as u32) + 1;
            // A row longer than a block is a block of its own: rows are not split, since a step
            // fills entire nodes.
            if size != 0 && BLOCK < size + row {
                bounds.push(node);
                size = 0;
            }
            size += row;
        }
        if size != 0 {
            bounds.push(self.nodes);
        }
        bounds
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The number of edges.
    pub fn edges(&self) -> usize {
        self.edges
    }

    /// The number of edges of a node.
    #[inline]
    pub fn degree(&self, node: u32) -> usize {
        match self.patched(node) {
            Some((overlay, range)) => overlay.targets(range).len(),
            None => self.range(node).len(),
        }
    }

    #[inline]
    fn range(&self, node: u32) -> Range<usize> {
        self.made.starts[node as usize]..self.made.starts[node as usize + 1]
    }

    #[inline]
    fn patched(&self, node: u32) -> Option<(&RowOverlay, Range<usize>)> {
        let overlay = self.overlay.as_ref()?;
        Some((overlay, overlay.row(node)?))
    }

    /// The targets of a node, ascending.
    #[inline]
    pub fn of(&self, node: u32) -> &[u32] {
        match self.patched(node) {
            Some((overlay, range)) => overlay.targets(range),
            None => &self.made.targets[self.range(node)],
        }
    }

    /// The targets of a node, and the weights of the edges.
    #[inline]
    pub(in crate::algo) fn row(&self, node: u32) -> (&[u32], WeightSlice<'_>) {
        match self.patched(node) {
            Some((overlay, range)) => (overlay.targets(range.clone()), overlay.weights(range)),
            None => {
                let range = self.range(node);
                let weights = self.made.weights.as_ref();
                let of_row = weights.map(|weights| weights.slice(range.clone()));
                (&self.made.targets[range], of_row.unwrap_or(WeightSlice::Ones))
            }
        }
    }

    /// The targets of a node with the weights of the edges.
    #[inline]
    pub fn weighted(&self, node: u32) -> impl Iterator<Item = (u32, f64)> + Clone + '_ {
        let (targets, weights) = self.row(node);
        targets.iter().enumerate().map(move |(position, &to)| (to, weights.at(position)))
    }

    /// The weight of the edge at a position of a node's row.
    #[inline]
    pub(in crate::algo) fn weight_at(&self, node: u32, position: usize) -> f64 {
        self.row(node).1.at(position)
    }

    /// The targets of all nodes, row after row; `None` where some rows were patched, which lie
    /// elsewhere.
    pub fn targets(&self) -> Option<&[u32]> {
        self.overlay.is_none().then_some(&self.made.targets)
    }

    /// The weight of each edge in the order of the targets; `None` unless stored in eight bytes
    /// each.
    pub fn wide_weights(&self) -> Option<&[f64]> {
        match (&self.overlay, &self.made.weights) {
            (None, Some(Weights::Wide(weights))) => Some(weights),
            _ => None,
        }
    }

    /// What the edges of a node weigh together.
    pub fn weight_of(&self, node: u32) -> f64 {
        match self.is_weighted() {
            true => self.weighted(node).map(|(_, weight)| weight).sum(),
            false => self.degree(node) as f64,
        }
    }

    /// What edges weigh; `None` where each weighs 1, and without edges. O(edges) for the first
    /// call.
    pub(in crate::algo) fn weight_range(&self) -> Option<WeightRange> {
        *self.weight_range.get_or_init(|| self.find_weight_range())
    }

    fn find_weight_range(&self) -> Option<WeightRange> {
        if !self.is_weighted() || self.edges == 0 {
            return None;
        }
        let (mut sum, mut most, mut are_full) = (0.0, 0.0_f64, true);
        for node in 0..self.nodes as u32 {
            for (_, weight) in self.weighted(node) {
                sum += weight;
                most = most.max(weight);
                are_full &= weight.trunc() == weight;
            }
        }
        Some(WeightRange { mean: sum / self.edges as f64, most, are_full })
    }

    /// The first edge that weighs more than a float holds, as only one that was added up of several
    /// can. O(edges).
    pub(super) fn too_heavy(&self, task: &Task<'_>) -> Result<Option<(u32, u32)>> {
        let result = task.blocks(self.blocks.len(), |number| {
            Ok(self.block(number).find_map(|from| {
                let mut edges = self.weighted(from);
                edges.find(|(_, weight)| weight.is_infinite()).map(|(to, _)| (from, to))
            }))
        })?;
        Ok(result.into_iter().flatten().next())
    }

    /// Whether there is an edge between two nodes. O(log edges of the first).
    pub fn has(&self, from: u32, to: u32) -> bool {
        self.of(from).binary_search(&to).is_ok()
    }

    /// What the edge between two nodes weighs; `None` where there is none. O(log edges of the
    /// first).
    pub fn weight_between(&self, from: u32, to: u32) -> Option<f64> {
        let (targets, weights) = self.row(from);
        targets.binary_search(&to).ok().map(|position| weights.at(position))
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
        size_of_val(self.made.starts.as_slice())
            + size_of_val(self.made.targets.as_slice())
            + self.made.weights.as_ref().map_or(0, Weights::byte_len)
            + self.overlay.as_ref().map_or(0, RowOverlay::byte_len)
    }

    /// The edges without their directions, given the transposed ones. A loop is one edge in either
    /// direction.
    pub(in crate::algo) fn symmetric(&self, transposed: &Rows, task: &Task<'_>) -> Result<Rows> {
        self.merged(transposed, |from, to| from == to, task)
    }

    /// The union of two sets of edges over the same nodes. An edge that is in both weighs what both
    /// weigh together.
    pub(in crate::algo) fn union(&self, other: &Rows, task: &Task<'_>) -> Result<Rows> {
        self.merged(other, |_, _| false, task)
    }

    /// The union; `is_same` says whether an edge of both sets is the same one.
    fn merged(&self, other: &Rows, is_same: fn(u32, u32) -> bool, task: &Task<'_>) -> Result<Rows> {
        let is_weighted = self.is_weighted() || other.is_weighted();
        let chunks = task.blocks(self.blocks.len(), |number| {
            let nodes = self.block(number);
            let most = nodes.clone().map(|node| self.degree(node) + other.degree(node)).sum();
            let mut chunk = RowChunk {
                lens: Vec::with_capacity(nodes.len()),
                targets: Vec::with_capacity(most),
                weights: Vec::with_capacity(if is_weighted { most } else { 0 }),
            };
            for node in nodes {
                let before = chunk.targets.len();
                match is_weighted {
                    false => merge_targets(self.of(node), other.of(node), &mut chunk.targets),
                    true => merge(self.row(node), other.row(node), |to, weight, more| {
                        chunk.targets.push(to);
                        // A transposed loop is itself, so its weight is not added twice.
                        let more = if is_same(node, to) { 0.0 } else { more };
                        chunk.weights.push(weight + more);
                    }),
                }
                chunk.lens.push(chunk.targets.len() - before);
            }
            Ok(chunk)
        })?;
        Rows::join(task, chunks, is_weighted)
    }
}

/// The starts of rows of so many edges, and the end of the last one.
pub(super) fn starts_of(lens: impl Iterator<Item = usize>, rows: usize) -> Vec<usize> {
    let mut starts = Vec::with_capacity(rows + 1);
    let mut end = 0;
    starts.push(end);
    starts.extend(lens.map(|len| {
        end += len;
        end
    }));
    starts
}

/// Weights of parts that end at `bounds`; `give` outputs those of one part. Narrow, and wide if one
/// of them is not exact in four bytes.
pub(super) fn narrowed(
    task: &Task<'_>,
    bounds: &[usize],
    give: impl Fn(usize, &mut dyn FnMut(f64)) -> Result<()> + Sync,
) -> Result<Weights> {
    let len = bounds.last().copied().unwrap_or(0);
    let mut narrow = vec![0.0_f32; len];
    let exact = task.fill(&mut narrow, bounds, |number, part| {
        let (mut positions, mut is_exact) = (part.iter_mut(), true);
        give(number, &mut |weight| {
            is_exact &= is_narrow(weight);
            positions.next().into_iter().for_each(|position| *position = weight as f32);
        })?;
        Ok(is_exact)
    })?;
    if exact.into_iter().all(|is_exact| is_exact) {
        return Ok(Weights::Narrow(narrow));
    }
    // `give` is called again, and outputs the same weights.
    drop(narrow);
    let mut wide = vec![0.0; len];
    task.fill(&mut wide, bounds, |number, part| {
        let mut positions = part.iter_mut();
        give(number, &mut |weight| {
            positions.next().into_iter().for_each(|position| *position = weight)
        })
    })?;
    Ok(Weights::Wide(wide))
}

/// Adds the union of two ascending lists.
fn merge_targets(one: &[u32], other: &[u32], union: &mut Vec<u32>) {
    let (mut left, mut right) = (0, 0);
    while left < one.len() && right < other.len() {
        let (first, second) = (one[left], other[right]);
        union.push(first.min(second));
        left += usize::from(first <= second);
        right += usize::from(second <= first);
    }
    union.extend_from_slice(&one[left..]);
    union.extend_from_slice(&other[right..]);
}

/// Calls `put` with what is in one of two ascending rows or in both, ascending: the target, what it
/// weighs, and what it weighs in the second row where it is in both.
fn merge(
    one: (&[u32], WeightSlice<'_>),
    other: (&[u32], WeightSlice<'_>),
    mut put: impl FnMut(u32, f64, f64),
) {
    let (mut left, mut right) = (0, 0);
    loop {
        match (one.0.get(left), other.0.get(right)) {
            (Some(first), Some(second)) if first == second => {
                put(*first, one.1.at(left), other.1.at(right));
                left += 1;
                right += 1;
            }
            (Some(first), second) if second.is_none_or(|second| first < second) => {
                put(*first, one.1.at(left), 0.0);
                left += 1;
            }
            (_, Some(second)) => {
                put(*second, other.1.at(right), 0.0);
                right += 1;
            }
            (_, None) => return,
        }
    }
}
