//! Random walks. With `p` and `q` the next step depends on the one before: a step straight back counts 1 / p, one to a node that the
//! one before leads to counts 1, any other 1 / q (node2vec).
//!
//! How long walks get only the graph tells: where no edge leads on they end, however long they may be. So memory is counted as they grow.

use super::choice::{Choices, draws_of};
use crate::algo::draws::Draws;
use crate::algo::run::{Found, Output, Paths, Report, Run};
use crate::algo::task::{Task, TaskMemory};
use hexgraph_base::types::Result;

/// The walks of one piece of work.
const WALKS_A_PIECE: usize = 1024;

/// The steps between two looks at the clock.
const STEPS_A_CHECK: usize = 1 << 16;

pub(in crate::algo) fn walks(run: &Run<'_>) -> Result<Found> {
    let rows = run.graph.outgoing();
    let all: Vec<u32>;
    let sources = match run.list("source") {
        Some(list) => list,
        None => {
            all = (0..rows.nodes() as u32).collect();
            &all
        }
    };
    let length = run.call.int("length").unwrap_or(1) as usize;
    let each = run.call.int("per_node").unwrap_or(1) as usize;
    let count = sources.len().saturating_mul(each);
    let _ends = run.task.room(count, 2 * size_of::<usize>())?;
    let _room = run.room_a_node(Choices::bytes_a_node(rows) + size_of::<u32>())?;
    let choices = Choices::new(run)?;
    let turns = Turns { p: run.call.float("p"), q: run.call.float("q") };
    let pieces = run.task.blocks(count.div_ceil(WALKS_A_PIECE), |piece| {
        let first = piece * WALKS_A_PIECE;
        let last = count.min(first + WALKS_A_PIECE);
        let most = (last - first).saturating_mul(length + 1);
        let mut walks = Grown { task: run.task, paths: Paths::default(), rooms: Vec::new(), most };
        for number in first..last {
            let (start, walk) = (sources[number / each], number % each);
            turns.walk(
                &choices,
                start,
                length,
                draws_of(run.call.seed, start, walk),
                &mut walks,
            )?;
        }
        Ok((walks.paths, walks.rooms))
    })?;
    let mut walks = Paths { ends: Vec::with_capacity(count), ..Paths::default() };
    let nodes = pieces.iter().map(|(piece, _)| piece.nodes.len()).sum();
    let _walks = run.task.room(nodes, size_of::<u32>())?;
    walks.nodes.reserve_exact(nodes);
    for (piece, _rooms) in pieces {
        let before = walks.nodes.len();
        walks.ends.extend(piece.ends.iter().map(|end| before + end));
        walks.nodes.extend(piece.nodes);
    }
    let edges = walks.nodes.len() - walks.ends.len();
    Ok(Found { output: Output::Paths(walks), report: Report { edges, ..Report::default() } })
}

/// Walks whose memory is counted as they grow.
struct Grown<'w> {
    task: Task<'w>,
    paths: Paths,
    rooms: Vec<TaskMemory<'w>>,
    /// The most nodes that they have together.
    most: usize,
}

impl Grown<'_> {
    #[inline]
    fn push(&mut self, node: u32) -> Result<()> {
        let nodes = &mut self.paths.nodes;
        if nodes.len() == nodes.capacity() {
            // Twice as many, so that all are moved as often as a number has digits.
            let more = nodes.len().max(WALKS_A_PIECE).min(self.most - nodes.len());
            self.rooms.push(self.task.room(more, size_of::<u32>())?);
            nodes.reserve_exact(more);
        }
        if nodes.len().is_multiple_of(STEPS_A_CHECK) {
            self.task.check()?;
        }
        nodes.push(node);
        Ok(())
    }
}

/// What a step counts by where the one before began.
struct Turns {
    p: f64,
    q: f64,
}

impl Turns {
    /// Adds a walk from a node.
    fn walk(
        &self,
        choices: &Choices<'_>,
        start: u32,
        length: usize,
        mut draws: Draws,
        walks: &mut Grown<'_>,
    ) -> Result<()> {
        let (back, away) = (1.0 / self.p, 1.0 / self.q);
        let is_plain = self.p == 1.0 && self.q == 1.0;
        // The greatest that a step may count, by which `draw` scales the chance of being kept.
        let most = back.max(away).max(1.0);
        let (mut before, mut at) = (None, start);
        walks.push(start)?;
        for _ in 0..length {
            let next = match before {
                Some(before) if !is_plain => choices.draw(at, &mut draws, most, |to| {
                    if to == before {
                        back
                    } else if choices.rows.has(before, to) {
                        1.0
                    } else {
                        away
                    }
                }),
                _ => choices.draw(at, &mut draws, 1.0, |_| 1.0),
            };
            let Some(next) = next else { break };
            walks.push(next)?;
            (before, at) = (Some(at), next);
        }
        walks.paths.ends.push(walks.paths.nodes.len());
        Ok(())
    }
}
