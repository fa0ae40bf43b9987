//! Makes compact graphs of the columns of a version.

use super::graph::Graph;
use super::numbering::Numbering;
use super::pages::joined_nodes;
use super::rows::{RowChunk, Rows, narrowed, starts_of};
use super::source::Source;
use crate::algo::requested::Requested;
use crate::algo::run::too_heavy;
use crate::algo::task::Task;
use hexgraph_base::plan::Direction;
use hexgraph_base::types::Result;
use std::sync::Arc;

/// The nodes whose rows are made by one chunk of work.
const NODES_A_CHUNK: usize = 8 << 10;

/// The edges that are read between two looks at the clock.
const EDGES_A_CHECK: usize = 1 << 20;

/// Makes the graph that is requested: O(nodes + edges), on all threads of the task.
///
/// # Errors
///
/// `Query` for a weight that is below 0 or no number, for one that no edge has, and for parallel
/// edges whose weights no float holds together; `Limit`.
pub(in crate::algo) fn make(expected: &Requested<'_>, task: &Task<'_>) -> Result<Graph> {
    let sources = expected.parts.iter().map(Source::new).collect::<Result<Vec<_>>>()?;
    let nodes = match &expected.nodes {
        Some(nodes) => nodes.clone(),
        None => joined_nodes(&sources, task)?,
    };
    let edges_max: usize = sources.iter().map(|source| source.edges.total() as usize).sum();
    let is_weighted = expected.parts.iter().any(|part| part.weight.is_some());
    // The rows, the chunks that they are joined of, and as much again where they are merged with
    // others.
    let bytes_each = 2 * (size_of::<u32>() + if is_weighted { size_of::<f64>() } else { 0 });
    let _capacity = task.capacity(edges_max, bytes_each)?;
    let numbering = Numbering::new(nodes);
    let make = Make { expected, numbering: &numbering, sources: &sources, is_weighted };
    let forward = make.rows(false, task)?;
    let rows = match expected.parts.iter().any(|part| part.reverse) {
        false => forward,
        true => {
            let back = make.rows(true, task)?.transposed(task)?;
            let is_all = expected.parts.iter().all(|part| part.reverse);
            if is_all { back } else { forward.union(&back, task)? }
        }
    };
    let rows = match expected.direction {
        Direction::Out => rows,
        Direction::In => rows.transposed(task)?,
        Direction::Both => rows.symmetric(&rows.transposed(task)?, task)?,
    };
    make.check_sums(&rows, task)?;
    Ok(Graph::new(Arc::new(numbering), rows, expected.direction == Direction::Both))
}

/// The making of rows.
struct Make<'m, 'w> {
    expected: &'m Requested<'w>,
    numbering: &'m Numbering,
    sources: &'m [Source<'m>],
    is_weighted: bool,
}

impl Make<'_, '_> {
    /// Refuses edges that are one and weigh more together than a float holds.
    fn check_sums(&self, rows: &Rows, task: &Task<'_>) -> Result<()> {
        let is_added = 1 < self.expected.parts.len() || self.expected.direction == Direction::Both;
        if !self.is_weighted || !is_added {
            return Ok(());
        }
        let Some((from, to)) = rows.too_heavy(task)? else { return Ok(()) };
        let uid = |number: u32| (self.expected.uid)(self.numbering.nodes[number as usize]);
        let sum = format!("their sum between {} and {}", uid(from), uid(to));
        Err(too_heavy(&self.expected.weights(), &sum))
    }

    /// The stored edges of the inverted parts, or of the others, in the direction in which they are
    /// stored.
    fn rows(&self, reverse: bool, task: &Task<'_>) -> Result<Rows> {
        let sources: Vec<&Source<'_>> =
            self.sources.iter().filter(|source| source.part.reverse == reverse).collect();
        let nodes = &self.numbering.nodes;
        if let [source] = sources.as_slice()
            && self.expected.nodes.is_none()
            && source.far.is_none()
        {
            return self.full_rows(source, task);
        }
        let chunks = task.blocks(nodes.len().div_ceil(NODES_A_CHUNK), |number| {
            let first = number * NODES_A_CHUNK;
            let last = nodes.len().min(first + NODES_A_CHUNK);
            self.chunk(&nodes[first..last], &sources, task)
        })?;
        Rows::join(task, chunks, self.is_weighted)
    }

    fn chunk(&self, nodes: &[u32], sources: &[&Source<'_>], task: &Task<'_>) -> Result<RowChunk> {
        let mut chunk = RowChunk::default();
        let (mut row, mut stored) = (Vec::new(), Vec::new());
        let mut unchecked = 0;
        for &node in nodes {
            row.clear();
            for source in sources.iter().filter(|source| source.takes_row(node)) {
                self.read(source, node, &mut stored, &mut row)?;
            }
            if 1 < sources.len() {
                // Stable, and the parts come in their order: so the weights
                // of one edge are always added up in the same order.
                row.sort_by_key(|(to, _)| *to);
                row.dedup_by(|next: &mut (u32, f64), cached| {
                    let is_same = next.0 == cached.0;
                    cached.1 += if is_same { next.1 } else { 0.0 };
                    is_same
                });
            }
            chunk.lens.push(row.len());
            chunk.targets.extend(row.iter().map(|(to, _)| *to));
            if self.is_weighted {
                chunk.weights.extend(row.iter().map(|(_, weight)| *weight));
            }
            unchecked += row.len();
            if EDGES_A_CHECK < unchecked {
                unchecked = 0;
                task.check()?;
            }
        }
        Ok(chunk)
    }

    /// Adds the stored edges of a node to its row. `stored` is space for those with weights.
    fn read(
        &self,
        source: &Source<'_>,
        node: u32,
        stored: &mut Vec<(u32, f64)>,
        row: &mut Vec<(u32, f64)>,
    ) -> Result<()> {
        let targets = source.edges.targets(node);
        stored.clear();
        if let Some(numbers) = &source.numbers {
            numbers.leaving(node, |to, weight| stored.push((to, weight)));
        }
        let mut weights = stored.iter().peekable();
        for &to in targets.iter() {
            let given = weights.next_if(|(target, _)| *target == to);
            if !source.takes_target(to) {
                continue;
            }
            let Some(number) = self.numbering.number(to) else { continue };
            let given = given.map(|(_, weight)| *weight);
            row.push((number, source.weight((node, to), given, self.expected)?));
        }
        Ok(())
    }

    /// As [`Make::rows`], of one part whose edges are all in the graph: they are counted first, and
    /// then written to their positions.
    fn full_rows(&self, source: &Source<'_>, task: &Task<'_>) -> Result<Rows> {
        let nodes = &self.numbering.nodes;
        let chunks: Vec<&[u32]> = nodes.chunks(NODES_A_CHUNK).collect();
        let lens = task.blocks(chunks.len(), |number| {
            Ok(chunks[number].iter().map(|node| source.edges.count(*node)).collect::<Vec<usize>>())
        })?;
        let starts = starts_of(lens.into_iter().flatten(), nodes.len());
        let end = |number: usize| starts[nodes.len().min((number + 1) * NODES_A_CHUNK)];
        let bounds: Vec<usize> = (0..chunks.len()).map(end).collect();
        let mut targets = vec![0; starts[nodes.len()]];
        task.fill(&mut targets, &bounds, |number, part| {
            let mut positions = part.iter_mut();
            for &node in chunks[number] {
                // The targets first: a position is consumed for each of them, and none at the end
                // of a row.
                for (to, position) in source.edges.targets(node).iter().zip(positions.by_ref()) {
                    // All targets are in the graph.
                    *position = self.numbering.number(*to).unwrap_or_default();
                }
            }
            Ok(())
        })?;
        let weights = match &source.numbers {
            None if self.is_weighted => Some(narrowed(task, &bounds, |number, put| {
                let edges = chunks[number].iter().map(|node| source.edges.count(*node));
                (0..edges.sum()).for_each(|_| put(1.0));
                Ok(())
            })?),
            None => None,
            Some(numbers) => Some(narrowed(task, &bounds, |number, put| {
                let mut stored = Vec::new();
                for &node in chunks[number] {
                    stored.clear();
                    numbers.leaving(node, |to, weight| stored.push((to, weight)));
                    let mut weights = stored.iter().peekable();
                    for &to in source.edges.targets(node).iter() {
                        let given = weights.next_if(|(target, _)| *target == to);
                        let given = given.map(|(_, weight)| *weight);
                        put(source.weight((node, to), given, self.expected)?);
                    }
                }
                Ok(())
            })?),
        };
        Ok(Rows::new(starts, targets, weights))
    }
}
