//! Makes compact graphs of edges that are in memory already, without a version of a database.

use super::graph::Graph;
use super::numbering::Numbering;
use super::rows::{Piece, Rows};
use crate::algo::task::Task;
use hexgraph_base::types::{Error, Result};
use std::sync::Arc;

/// The nodes whose rows are put in order by one piece of work.
const NODES_A_PIECE: usize = 8 << 10;

impl Graph {
    /// The graph of the nodes 0 to `nodes` and of edges from the first to the second of two nodes, in any order. `weights` has what each weighs, or
    /// is empty where each weighs 1; parallel edges are one that weighs what they weigh together. Where the graph is undirected, each edge
    /// leads both ways. O(edges log(edges of a node)).
    ///
    /// # Errors
    ///
    /// `Query` for an edge to a node that is not there, and for weights that are not as many as edges, below 0 or no numbers; `Limit`.
    pub fn of_edges(
        nodes: usize,
        edges: &[(u32, u32)],
        weights: &[f64],
        is_undirected: bool,
        task: &Task<'_>,
    ) -> Result<Graph> {
        check(nodes, edges, weights)?;
        let _room = task.room(edges.len(), size_of::<(u32, f64)>())?;
        let mut starts = vec![0_usize; nodes + 1];
        edges.iter().for_each(|(from, _)| starts[*from as usize + 1] += 1);
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let (mut next, mut items) = (starts.clone(), vec![(0, 0.0); edges.len()]);
        for (number, (from, to)) in edges.iter().enumerate() {
            let place = &mut next[*from as usize];
            items[*place] = (*to, weights.get(number).copied().unwrap_or(1.0));
            *place += 1;
        }
        drop(next);
        let is_weighted = !weights.is_empty();
        let ends: Vec<usize> = (0..nodes)
            .step_by(NODES_A_PIECE)
            .map(|node| starts[nodes.min(node + NODES_A_PIECE)])
            .collect();
        let pieces = task.fill(&mut items, &ends, |number, part| {
            let first = number * NODES_A_PIECE;
            let last = nodes.min(first + NODES_A_PIECE);
            let mut piece = Piece::default();
            for row in starts[first..=last].windows(2) {
                let row = &mut part[row[0] - starts[first]..row[1] - starts[first]];
                row.sort_by_key(|(to, _)| *to);
                let before = piece.targets.len();
                for same in row.chunk_by(|one, other| one.0 == other.0) {
                    piece.targets.push(same[0].0);
                    if is_weighted {
                        piece.weights.push(same.iter().map(|(_, weight)| weight).sum());
                    }
                }
                piece.lens.push(piece.targets.len() - before);
            }
            Ok(piece)
        })?;
        drop(items);
        let rows = Rows::join(task, pieces, is_weighted)?;
        let rows = match is_undirected {
            false => rows,
            true => rows.symmetric(&rows.transposed(task)?, task)?,
        };
        let numbering = Numbering::new((0..nodes as u32).collect());
        Ok(Graph::new(Arc::new(numbering), rows, is_undirected))
    }
}

fn check(nodes: usize, edges: &[(u32, u32)], weights: &[f64]) -> Result<()> {
    if u32::try_from(nodes).is_err() {
        return Err(Error::query(format!("{nodes} nodes are more than {}", u32::MAX)));
    }
    let is_outside = |(from, to): &&(u32, u32)| nodes <= (*from).max(*to) as usize;
    if let Some((from, to)) = edges.iter().find(is_outside) {
        let message = format!(
            "an edge leads from {from} to {to}, and the last node of {nodes} is {}",
            nodes.wrapping_sub(1) as i64
        );
        return Err(Error::query(message));
    }
    if !weights.is_empty() && weights.len() != edges.len() {
        let message = format!("there are {} edges, and {} weights", edges.len(), weights.len());
        return Err(Error::query(message));
    }
    match weights.iter().find(|weight| weight.is_nan() || **weight < 0.0) {
        Some(weight) => Err(Error::query(format!("a weight is {weight}; it has to be 0 at least"))),
        None => Ok(()),
    }
}
