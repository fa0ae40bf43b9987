//! The nodes that are most alike to each node: only those are looked at that it has a node in
//! common with, which are two steps away.

use super::measure::{Measure, size};
use crate::algo::compact::rows::Rows;
use crate::algo::run::{Outcome, Output, Run};
use hexgraph_base::types::Result;

/// The nodes whose likes are looked for by one chunk of work.
const NODES_A_CHUNK: usize = 4096;

/// The steps between two looks at the clock.
const STEPS_A_CHECK: usize = 1 << 20;

pub(in crate::algo) fn similar_nodes(run: &Run<'_>) -> Result<Outcome> {
    let all: Vec<u32>;
    let sources = match run.list("source") {
        Some(list) => list,
        None => {
            all = (0..run.graph.len() as u32).collect();
            &all
        }
    };
    // There are no more others, however many are requested.
    let others = run.graph.len().saturating_sub(1);
    let k = others.min(run.call.int("k").unwrap_or(1) as usize);
    let _scratch =
        run.capacity_per_node(run.task.threads() * (size_of::<f64>() + size_of::<u32>()))?;
    let _capacity =
        run.task.capacity(sources.len().saturating_mul(k), 2 * size_of::<(u32, u32, f64)>())?;
    let (outgoing, incoming) = (run.graph.outgoing(), run.graph.incoming(&run.task)?);
    let measure = Measure::of(run.call);
    let chunks: Vec<&[u32]> = sources.chunks(NODES_A_CHUNK).collect();
    let result = run.task.blocks(chunks.len(), |number| {
        let mut search =
            Search { common: vec![0.0; outgoing.nodes()], met: Vec::new(), unchecked: 0 };
        let mut pairs = Vec::new();
        for node in chunks[number] {
            search.meet(*node, outgoing, incoming, measure, run)?;
            search.best(*node, k, outgoing, measure, &mut pairs);
        }
        Ok(pairs)
    })?;
    Ok(Outcome::once(Output::Pairs(result.into_iter().flatten().collect()), outgoing.edges()))
}

struct Search {
    /// What each node has in common with the one that is looked at.
    common: Vec<f64>,
    /// The nodes that have something in common with it.
    met: Vec<u32>,
    unchecked: usize,
}

impl Search {
    /// Visits the targets of a node, and then their sources.
    fn meet(
        &mut self,
        node: u32,
        outgoing: &Rows,
        incoming: &Rows,
        measure: Measure,
        run: &Run<'_>,
    ) -> Result<()> {
        for &middle in outgoing.of(node).iter().filter(|middle| **middle != node) {
            let part = measure.part(size(incoming, middle));
            for &other in incoming.of(middle) {
                if other == node || other == middle {
                    continue;
                }
                // What a common node counts is above 0 by each measure, so 0 means that the node
                // was not met yet.
                if self.common[other as usize] == 0.0 {
                    self.met.push(other);
                }
                self.common[other as usize] += part;
            }
            self.unchecked += incoming.degree(middle) + 1;
            if STEPS_A_CHECK < self.unchecked {
                self.unchecked = 0;
                run.task.check()?;
            }
        }
        Ok(())
    }

    /// Adds the best of those that were met: the most alike first, of several that are as alike the
    /// first node.
    fn best(
        &mut self,
        node: u32,
        k: usize,
        outgoing: &Rows,
        measure: Measure,
        pairs: &mut Vec<(u32, u32, f64)>,
    ) {
        let own = size(outgoing, node);
        let mut scored: Vec<(u32, f64)> = Vec::with_capacity(self.met.len());
        for other in self.met.drain(..) {
            let common = std::mem::take(&mut self.common[other as usize]);
            scored.push((other, measure.full(common, own, size(outgoing, other))));
        }
        let by_score = |one: &(u32, f64), other: &(u32, f64)| {
            other.1.total_cmp(&one.1).then(one.0.cmp(&other.0))
        };
        if k < scored.len() {
            scored.select_nth_unstable_by(k, by_score);
            scored.truncate(k);
        }
        scored.sort_unstable_by(by_score);
        pairs.extend(scored.into_iter().map(|(other, score)| (node, other, score)));
    }
}
