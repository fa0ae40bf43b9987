//! The variants of clustering: for undirected graphs, or by the rules of LDBC Graphalytics for
//! directed ones. There the neighbours of a node are those connected by an edge in any direction;
//! the result is the fraction of their ordered pairs that have an edge.

use super::clustering::clustering as undirected;
use crate::algo::bits::Bits;
use crate::algo::compact::rows::Rows;
use crate::algo::run::{Outcome, Output, Run};
use hexgraph_base::types::{Error, Result};

pub(in crate::algo) fn clustering(run: &Run<'_>) -> Result<Outcome> {
    if run.graph.is_undirected() {
        // Each pair of neighbours has an edge in both directions or none: the fractions are the
        // same.
        return undirected(run);
    }
    if run.call.word("variant") != "graphalytics" {
        let message = "`clustering` along directions is for `variant: graphalytics` alone";
        return Err(Error::query(message).with_hint("leave out `direction`"));
    }
    let outgoing = run.graph.outgoing();
    let incoming = run.graph.incoming(&run.task)?;
    let _numbers = run.capacity_per_node(size_of::<f64>())?;
    let _bits = run.task.capacity(outgoing.nodes().div_ceil(8), run.task.threads())?;
    let mut fractions = vec![0.0; outgoing.nodes()];
    run.task.fill(&mut fractions, outgoing.blocks(), |number, part| {
        let mut marked = Bits::new(outgoing.nodes());
        let mut looked = 0;
        for (node, fraction) in outgoing.block(number).zip(part) {
            let neighbours = neighbours(outgoing, incoming, node);
            neighbours.iter().for_each(|to| marked.set(*to as usize));
            let mut pairs = 0_usize;
            for &one in &neighbours {
                // A loop is no pair.
                let is_pair = |to: &&u32| marked.has(**to as usize) && **to != one;
                pairs += outgoing.of(one).iter().filter(is_pair).count();
                looked += outgoing.degree(one);
            }
            neighbours.iter().for_each(|to| marked.unset(*to as usize));
            let all = neighbours.len() as f64 * (neighbours.len() as f64 - 1.0);
            *fraction = if 0.0 < all { pairs as f64 / all } else { 0.0 };
            if CHECKED < looked {
                looked = 0;
                run.task.check()?;
            }
        }
        Ok(())
    })?;
    Ok(Outcome::once(Output::Floats(fractions), outgoing.edges()))
}

/// The edges that are looked at between two looks at the clock.
const CHECKED: usize = 1 << 20;

/// The nodes that an edge joins a node with, ascending and distinct, without itself.
fn neighbours(outgoing: &Rows, incoming: &Rows, node: u32) -> Vec<u32> {
    let mut all = [outgoing.of(node), incoming.of(node)].concat();
    all.sort_unstable();
    all.dedup();
    all.retain(|to| *to != node);
    all
}
