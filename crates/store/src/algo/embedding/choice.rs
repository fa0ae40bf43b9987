//! Random choices among the edges of a node, in proportion to what they weigh.

use crate::algo::compact::rows::Rows;
use crate::algo::random::RandomStream;
use crate::algo::run::Run;
use hexgraph_base::types::Result;

/// How often an edge is sampled and rejected, before the edges are scanned.
const TRIES: usize = 32;

/// The edges of a graph with what the heaviest of each node weighs.
pub(super) struct Choices<'r> {
    pub(super) rows: &'r Rows,
    /// The greatest weight of each node's edges; empty where each edge weighs 1.
    greatest: Vec<f64>,
}

/// The random generator of one node: it depends on the seed, the node and a number alone, and so
/// not on the threads.
pub(super) fn random_of(seed: u64, node: u32, number: usize) -> RandomStream {
    let mut random = RandomStream::new(seed ^ u64::from(node).wrapping_mul(0xd605_1b8d_42f1_3b9f));
    let first = random.next();
    RandomStream::new(first ^ (number as u64).wrapping_mul(0xa24b_aed4_963e_e407))
}

impl<'r> Choices<'r> {
    /// Finds the heaviest edges: O(edges) where edges have weights. [`Choices::bytes_a_node`] are
    /// to be charged before.
    pub(super) fn new(run: &Run<'r>) -> Result<Choices<'r>> {
        let rows = run.graph.outgoing();
        let mut greatest = Vec::new();
        if rows.is_weighted() {
            greatest.resize(rows.nodes(), 0.0);
            run.task.fill(&mut greatest, rows.blocks(), |number, part| {
                for (node, most) in rows.block(number).zip(part) {
                    *most = rows.weighted(node).map(|(_, weight)| weight).fold(0.0, f64::max);
                }
                Ok(())
            })?;
        }
        Ok(Choices { rows, greatest })
    }

    /// The bytes that it takes for each node.
    pub(super) fn bytes_a_node(rows: &Rows) -> usize {
        if rows.is_weighted() { size_of::<f64>() } else { 0 }
    }

    /// A random target of a node, in proportion to the weight of the edge times its `factor`, which
    /// is at most `most`. `None` if no edge weighs anything.
    ///
    /// Edges are sampled uniformly and accepted with their probability (rejection sampling). That
    /// needs no memory and few tries, unless few edges of many have the weight: then all are
    /// scanned, which costs O(edges of the node).
    pub(super) fn sample(
        &self,
        node: u32,
        random: &mut RandomStream,
        most: f64,
        factor: impl Fn(u32) -> f64,
    ) -> Option<u32> {
        let targets = self.rows.of(node);
        let weight = |position: usize| self.rows.weight_at(node, position);
        let heaviest = self.greatest.get(node as usize).copied().unwrap_or(1.0);
        if targets.is_empty() || heaviest <= 0.0 {
            return None;
        }
        for _ in 0..TRIES {
            let position = random.below(targets.len());
            // The factor may cost a search, so it is only evaluated for edges that pass by weight.
            // An edge is accepted with the probability of its weight times its factor, relative to
            // the maximum of this product.
            let mut bound = random.fraction() * heaviest * most;
            if bound < weight(position) * most {
                bound /= weight(position);
                if bound < factor(targets[position]) {
                    return Some(targets[position]);
                }
            }
        }
        let chance = |position: usize| weight(position) * factor(targets[position]);
        let full: f64 = (0..targets.len()).map(chance).sum();
        let mut left = random.fraction() * full;
        let mut last = None;
        for (position, target) in targets.iter().enumerate() {
            let chance = chance(position);
            if 0.0 < chance {
                last = Some(*target);
                if left < chance {
                    break;
                }
                left -= chance;
            }
        }
        last
    }
}
