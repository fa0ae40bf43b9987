//! Counts the paths that run from the nodes of a block over a chain of edges to each node at its
//! end.
//!
//! The first level is counted as groups of an edge are: each edge adds one to the counter of its
//! target. In each level below, an edge adds the counter of its source. So a chain costs O(edges of
//! its levels), in arrays by node id, and no list of edges is made.

use crate::exec::columns::batches::{BATCH, EdgeTargets, Members};
use crate::exec::control::context::Context;
use crate::exec::control::tree::{Column, ValueMap};
use crate::exec::cost::is_dense;
use crate::exec::physical::rewrites::Chain;
use crate::graph::Direction;
use crate::storage::NodeSet;
use hexgraph_base::plan::FieldKind;
use hexgraph_base::types::Result;

/// Nodes, ascending, with the number of paths to each.
#[derive(Default)]
struct Ways {
    nodes: Vec<u32>,
    counts: Vec<i64>,
}

impl Context<'_> {
    /// What arrives at the end of a chain from `roots`: for each target the constant times the
    /// number of paths. `None` where an edge is none, where targets lie too far apart for an array,
    /// and where a number might not fit into 64 bits.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Limit`] when the request has to stop.
    pub(crate) fn path_counts(
        &self,
        chain: &Chain<'_>,
        roots: &NodeSet,
    ) -> Result<Option<ValueMap>> {
        let mut ways: Option<Ways> = None;
        for field in &chain.edges {
            let FieldKind::Predicate { name, reverse, .. } = &field.kind else { return Ok(None) };
            let edges = self.predicate(name).and_then(|predicate| predicate.direction(*reverse));
            let Some(edges) = edges else { return Ok(None) };
            // No node below has more paths to it than all nodes here together.
            let all: i128 = match &ways {
                Some(ways) => ways.counts.iter().map(|count| i128::from(*count)).sum(),
                None => roots.len() as i128,
            };
            if i128::from(i64::MAX) < all * i128::from(chain.constant.unsigned_abs().max(1)) {
                return Ok(None);
            }
            let step = self.begin("expand", &field.key, Some(field.at), None);
            let below = match &ways {
                None => self.ways_below(edges, Members::Set(roots), None)?,
                Some(ways) => {
                    self.ways_below(edges, Members::List(&ways.nodes), Some(&ways.counts))?
                }
            };
            let Some(below) = below else {
                self.end(&step, 0);
                return Ok(None);
            };
            self.end(&step, below.nodes.len());
            ways = Some(below);
        }
        let Ways { nodes, mut counts } = ways.unwrap_or_default();
        counts.iter_mut().for_each(|count| *count *= chain.constant);
        Ok(Some(ValueMap { nodes, values: Column::Int(counts), constant: None }))
    }

    /// The nodes after the edges of some nodes, with as many paths as `counts` says, or one, to
    /// each. `None` where they lie too far apart.
    fn ways_below(
        &self,
        edges: &Direction,
        nodes: Members<'_>,
        counts: Option<&[i64]>,
    ) -> Result<Option<Ways>> {
        let (edge_count, ends) = self.extent_of_edges(edges, nodes)?;
        let Some((first, last)) = ends else { return Ok(Some(Ways::default())) };
        let span = (last - first) as usize + 1;
        if !is_dense(span, edge_count) {
            return Ok(None);
        }
        let _while_counting = self.control.charge_while(size_of::<i64>() * span)?;
        let mut counters = vec![0_i64; span];
        if let (Members::List(nodes), Some(counts)) = (nodes, counts) {
            let mut targets = EdgeTargets::new(edges);
            for (nodes, counts) in nodes.chunks(BATCH).zip(counts.chunks(BATCH)) {
                self.check()?;
                targets.for_each_list(nodes, |position, targets| {
                    let count = counts[position];
                    targets.iter().for_each(|target| counters[(target - first) as usize] += count);
                });
            }
        } else {
            self.for_each_target(edges, nodes, |targets, _| {
                targets.iter().for_each(|target| counters[(target - first) as usize] += 1);
            })?;
        }
        let (nodes, counts) = self.counted(first, &counters)?;
        Ok(Some(Ways { nodes, counts }))
    }
}
