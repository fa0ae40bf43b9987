//! Levels of a breadth-first search.
//!
//! While the frontier is small its edges are followed. When it has so many that most lead to nodes which are reached already, the nodes
//! that are not reached look for one of the frontier before them instead (bottom-up), which stops at the first.

use crate::algo::bits::Bits;
use crate::algo::compact::rows::Rows;
use crate::algo::run::{Found, NO_INT, Output, Report, Run};
use crate::algo::task::Task;
use hexgraph_base::types::Result;

/// The bytes for each node: its level, the frontier and the next one.
const BYTES_A_NODE: usize = size_of::<i64>() + 3 * size_of::<u32>();

/// The search turns to bottom-up when the frontier has more than one in so many of the edges that are left.
const UP_SHARE: usize = 14;

/// The search turns back when the frontier has less than one in so many of all nodes.
const DOWN_SHARE: usize = 24;

/// A node that was not reached.
const FAR: u32 = u32::MAX;

pub(in crate::algo) fn bfs(run: &Run<'_>) -> Result<Found> {
    let _room = run.room_a_node(BYTES_A_NODE)?;
    let sources = run.list("source").unwrap_or_default();
    let depth = run.call.int("depth").unwrap_or(i64::MAX);
    let rows = run.graph.outgoing();
    let mut levels = vec![FAR; run.graph.len()];
    sources.iter().for_each(|node| levels[*node as usize] = 0);
    let mut frontier = sources.to_vec();
    let mut front = Bits::new(run.graph.len());
    let mut report = Report::default();
    let (mut left, mut is_up) = (rows.edges(), false);
    while !frontier.is_empty() && (report.iterations as i64) < depth {
        let level = report.iterations as u32 + 1;
        let edges: usize = frontier.iter().map(|node| rows.degree(*node)).sum();
        is_up = match is_up {
            false => left / UP_SHARE < edges,
            true => run.graph.len() / DOWN_SHARE < frontier.len(),
        };
        frontier = match is_up {
            true => {
                let incoming = run.graph.incoming(&run.task)?;
                front.clear();
                frontier.iter().for_each(|node| front.set(*node as usize));
                let (next, looked) = pull(incoming, &mut levels, (level, &front), &run.task)?;
                report.edges += looked;
                next
            }
            false => {
                report.edges += edges;
                push(rows, &frontier, &mut levels, level, &run.task)?
            }
        };
        left = left.saturating_sub(edges);
        report.iterations += 1;
    }
    let number = |level: u32| if level == FAR { NO_INT } else { i64::from(level) };
    let numbers = levels.into_iter().map(number).collect();
    Ok(Found { output: Output::Ints(numbers), report })
}

/// Follows the edges of the frontier. Returns the nodes that were reached.
fn push(
    rows: &Rows,
    frontier: &[u32],
    levels: &mut [u32],
    level: u32,
    task: &Task<'_>,
) -> Result<Vec<u32>> {
    let mut next = Vec::new();
    for nodes in frontier.chunks(4096) {
        task.check()?;
        for node in nodes {
            for &to in rows.of(*node) {
                if levels[to as usize] == FAR {
                    levels[to as usize] = level;
                    next.push(to);
                }
            }
        }
    }
    Ok(next)
}

/// Has nodes that were not reached look for one before them that is in the front. Returns those that found one, and the edges that
/// were looked at.
fn pull(
    incoming: &Rows,
    levels: &mut [u32],
    (level, front): (u32, &Bits),
    task: &Task<'_>,
) -> Result<(Vec<u32>, usize)> {
    let reached = {
        let levels = &*levels;
        task.blocks(incoming.blocks().len(), |number| {
            let (mut found, mut looked) = (Vec::new(), 0);
            for node in incoming.block(number).filter(|node| levels[*node as usize] == FAR) {
                let row = incoming.of(node);
                let place = row.iter().position(|from| front.has(*from as usize));
                looked += place.map_or(row.len(), |place| place + 1);
                found.extend(place.map(|_| node));
            }
            Ok((found, looked))
        })?
    };
    let looked = reached.iter().map(|(_, looked)| looked).sum();
    let next: Vec<u32> = reached.into_iter().flat_map(|(found, _)| found).collect();
    next.iter().for_each(|node| levels[*node as usize] = level);
    Ok((next, looked))
}
