//! The compact graph of edges that are given as arrays, without a database.

use super::graph::Graph;
use super::numbering::Numbering;
use super::rows::{RowChunk, Rows};
use crate::algo::run::too_heavy;
use crate::algo::task::{EVEN_BLOCK, Task};
use hexgraph_base::types::{Error, Result};
use std::sync::Arc;

/// Edges between nodes that are numbered from 0 on: the number of each source and of each target,
/// and what each edge weighs.
#[derive(Debug, Clone, Copy)]
pub struct EdgeArrays<'e> {
    /// The number of nodes.
    pub nodes: usize,
    /// Where edges begin.
    pub sources: &'e [u32],
    /// Where they end; as many as sources.
    pub targets: &'e [u32],
    /// What they weigh, as many as sources; `None` where each weighs 1.
    pub weights: Option<&'e [f64]>,
    /// True for edges without a direction.
    pub is_undirected: bool,
}

impl Graph {
    /// The graph of some edges, whose node ids are the numbers of nodes. Parallel edges become one,
    /// with the sum of their weights; without a direction, edges in both directions too. O(nodes +
    /// edges · log degree).
    ///
    /// # Errors
    ///
    /// `Query` for arrays of several lengths, for an unknown node, for a weight that is negative or
    /// NaN, with the position of its edge, and for parallel edges whose total weight overflows a
    /// float; `Limit`.
    pub fn of_arrays(edges: &EdgeArrays<'_>, task: &Task<'_>) -> Result<Graph> {
        check(edges)?;
        let directions = if edges.is_undirected { 2 } else { 1 };
        let is_weighted = edges.weights.is_some();
        // Once as partitioned by their nodes, once in chunks, and once in the end.
        let bytes = size_of::<u32>() + if is_weighted { size_of::<f64>() } else { 0 };
        let _edges = task.capacity(edges.sources.len().saturating_mul(3 * directions), bytes)?;
        let _nodes = task.capacity(edges.nodes, 3 * size_of::<usize>())?;
        let partitioned = Partitioned::new(edges);
        let blocks = edges.nodes.div_ceil(EVEN_BLOCK);
        let chunks = task.blocks(blocks, |block| {
            let first = block * EVEN_BLOCK;
            Ok(partitioned.chunk(first..edges.nodes.min(first + EVEN_BLOCK), is_weighted))
        })?;
        let rows = match chunks.is_empty() {
            true => Rows::join(task, vec![RowChunk::default()], is_weighted)?,
            false => Rows::join(task, chunks, is_weighted)?,
        };
        if is_weighted && let Some((from, to)) = rows.too_heavy(task)? {
            return Err(too_heavy("of edges", &format!("their sum between {from} and {to}")));
        }
        let numbering = Numbering::new((0..edges.nodes as u32).collect());
        Ok(Graph::new(Arc::new(numbering), rows, edges.is_undirected))
    }
}

fn check(edges: &EdgeArrays<'_>) -> Result<()> {
    let EdgeArrays { nodes, sources, targets, weights, .. } = *edges;
    let given = weights.map_or(sources.len(), <[f64]>::len);
    if sources.len() != targets.len() || sources.len() != given {
        let message = format!(
            "{} sources, {} targets and {given} weights make no edges",
            sources.len(),
            targets.len()
        );
        return Err(Error::query(message).with_hint("give one of each for an edge"));
    }
    let all = sources.iter().zip(targets).enumerate();
    if let Some((position, (from, to))) =
        all.clone().find(|(_, (from, to))| nodes <= (**from).max(**to) as usize)
    {
        let message = format!("edge {position} joins {from} and {to}, and there are {nodes} nodes");
        return Err(Error::query(message).with_hint("nodes are numbered from 0 on"));
    }
    let wrong = |weight: &f64| !(weight.is_finite() && 0.0 <= *weight);
    if let Some(position) = weights.and_then(|weights| weights.iter().position(wrong)) {
        let (weight, from, to) =
            (weights.unwrap_or_default()[position], sources[position], targets[position]);
        let message = format!("edge {position}, from {from} to {to}, weighs {weight}");
        return Err(Error::query(message).with_hint("weights are numbers from 0 on"));
    }
    Ok(())
}

/// Edges at the nodes that they leave, in the order in which they were given.
struct Partitioned {
    starts: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<f64>,
}

impl Partitioned {
    fn new(edges: &EdgeArrays<'_>) -> Partitioned {
        let mut starts = vec![0; edges.nodes + 1];
        let transposed = |from: u32, to: u32| edges.is_undirected && from != to;
        let pairs = || edges.sources.iter().zip(edges.targets).map(|(from, to)| (*from, *to));
        for (from, to) in pairs() {
            starts[from as usize + 1] += 1;
            starts[to as usize + 1] += usize::from(transposed(from, to));
        }
        for node in 0..edges.nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; starts[edges.nodes]];
        let mut weights = vec![0.0; if edges.weights.is_some() { targets.len() } else { 0 }];
        for (edge, (from, to)) in pairs().enumerate() {
            let mut put = |from: u32, to: u32| {
                let position = next[from as usize];
                next[from as usize] += 1;
                targets[position] = to;
                if let Some(given) = edges.weights {
                    weights[position] = given[edge];
                }
            };
            put(from, to);
            if transposed(from, to) {
                put(to, from);
            }
        }
        Partitioned { starts, targets, weights }
    }

    /// The rows of some nodes, sorted, with parallel edges added up in the order in which they were
    /// given.
    fn chunk(&self, nodes: std::ops::Range<usize>, is_weighted: bool) -> RowChunk {
        let mut chunk = RowChunk::default();
        let mut row: Vec<(u32, f64)> = Vec::new();
        for node in nodes {
            let range = self.starts[node]..self.starts[node + 1];
            row.clear();
            row.extend(
                range.map(|edge| {
                    (self.targets[edge], self.weights.get(edge).copied().unwrap_or(1.0))
                }),
            );
            // Stable: the sum of parallel edges is the same bits, whatever the sort does.
            row.sort_by_key(|(to, _)| *to);
            let before = chunk.targets.len();
            for same in row.chunk_by(|one, other| one.0 == other.0) {
                chunk.targets.push(same[0].0);
                if is_weighted {
                    chunk.weights.push(same.iter().map(|(_, weight)| weight).sum());
                }
            }
            chunk.lens.push(chunk.targets.len() - before);
        }
        chunk
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algo::Alone;
    use fastrand::Rng;
    use std::collections::BTreeMap;

    #[test]
    fn rows_are_the_edges_added_up() {
        for seed in 0..300 {
            let mut rng = Rng::with_seed(seed);
            let nodes = rng.usize(1..9);
            let count = rng.usize(..30);
            let sources: Vec<u32> = (0..count).map(|_| rng.u32(..nodes as u32)).collect();
            let targets: Vec<u32> = (0..count).map(|_| rng.u32(..nodes as u32)).collect();
            let weights: Vec<f64> = (0..count).map(|_| f64::from(rng.u8(..5)) / 4.0).collect();
            let (is_weighted, is_undirected) = (rng.bool(), rng.bool());
            let weights = is_weighted.then_some(weights.as_slice());
            let arrays =
                EdgeArrays { nodes, sources: &sources, targets: &targets, weights, is_undirected };
            let graph = Graph::of_arrays(&arrays, &Task::new(&Alone, None)).unwrap();
            let mut expected: BTreeMap<(u32, u32), f64> = BTreeMap::new();
            for (edge, pair) in sources.iter().zip(&targets).enumerate() {
                let weight = weights.map_or(1.0, |weights| weights[edge]);
                *expected.entry((*pair.0, *pair.1)).or_default() += weight;
                if is_undirected && pair.0 != pair.1 {
                    *expected.entry((*pair.1, *pair.0)).or_default() += weight;
                }
            }
            let rows = graph.outgoing();
            let result: BTreeMap<(u32, u32), f64> = (0..nodes as u32)
                .flat_map(|from| rows.weighted(from).map(move |(to, it)| ((from, to), it)))
                .collect();
            if !is_weighted {
                expected.values_mut().for_each(|weight| *weight = 1.0);
            }
            assert_eq!((graph.len(), result), (nodes, expected), "seed {seed}");
        }
    }

    /// Each row: nodes, sources, targets, weights => what is said.
    #[test]
    fn faulty_arrays_are_errors() {
        #[rustfmt::skip]
        let cases: &[(usize, &[u32], &[u32], Option<&[f64]>, &str)] = &[
            (3, &[0, 1], &[1],    None,                "2 sources, 1 targets"),
            (3, &[0, 1], &[1, 2], Some(&[1.0]),        "1 weights"),
            (3, &[0, 1], &[1, 3], None,                "edge 1 joins 1 and 3"),
            (0, &[0],    &[0],    None,                "there are 0 nodes"),
            (3, &[0, 1], &[1, 2], Some(&[1.0, -2.0]),  "edge 1, from 1 to 2, weighs -2"),
            (3, &[0],    &[1],    Some(&[f64::NAN]),   "weighs NaN"),
            (3, &[1, 1], &[2, 2], Some(&[1e308, 1e308]), "their sum between 1 and 2 is more than a float holds"),
        ];
        for &(nodes, sources, targets, weights, said) in cases {
            let arrays = EdgeArrays { nodes, sources, targets, weights, is_undirected: false };
            let error = Graph::of_arrays(&arrays, &Task::new(&Alone, None)).err().unwrap();
            assert!(error.to_string().contains(said), "{error}");
        }
        let none =
            EdgeArrays { nodes: 0, sources: &[], targets: &[], weights: None, is_undirected: true };
        assert!(Graph::of_arrays(&none, &Task::new(&Alone, None)).unwrap().is_empty());
    }
}
