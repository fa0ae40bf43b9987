//! Random walks. With `p` and `q` the next step depends on the previous one: a step straight back
//! has the factor 1 / p, one to a target of the previous node 1, any other 1 / q (node2vec).
//!
//! The length of walks depends on the graph: they end at nodes without edges, however long they may
//! be. So memory is reserved as they grow.

use super::choice::{Choices, random_of};
use crate::algo::random::RandomStream;
use crate::algo::run::{Outcome, Output, Paths, Report, Run};
use crate::algo::task::{Task, TaskMemory};
use hexgraph_base::types::Result;

/// The walks of one chunk of work.
const WALKS_A_CHUNK: usize = 1024;

/// The steps between two looks at the clock.
const STEPS_A_CHECK: usize = 1 << 16;

pub(in crate::algo) fn walks(run: &Run<'_>) -> Result<Outcome> {
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
    let _bounds = run.task.capacity(count, 2 * size_of::<usize>())?;
    let _capacity = run.capacity_per_node(Choices::bytes_a_node(rows) + size_of::<u32>())?;
    let choices = Choices::new(run)?;
    let bias = WalkBias { p: run.call.float("p"), q: run.call.float("q") };
    let chunks = run.task.blocks(count.div_ceil(WALKS_A_CHUNK), |chunk| {
        let first = chunk * WALKS_A_CHUNK;
        let last = count.min(first + WALKS_A_CHUNK);
        let most = (last - first).saturating_mul(length + 1);
        let mut walks =
            Grown { task: run.task, paths: Paths::default(), capacities: Vec::new(), most };
        for number in first..last {
            let (start, walk) = (sources[number / each], number % each);
            bias.walk(&choices, start, length, random_of(run.call.seed, start, walk), &mut walks)?;
        }
        Ok((walks.paths, walks.capacities))
    })?;
    let mut walks = Paths { bounds: Vec::with_capacity(count), ..Paths::default() };
    let nodes = chunks.iter().map(|(chunk, _)| chunk.nodes.len()).sum();
    let _walks = run.task.capacity(nodes, size_of::<u32>())?;
    walks.nodes.reserve_exact(nodes);
    for (chunk, _capacities) in chunks {
        let before = walks.nodes.len();
        walks.bounds.extend(chunk.bounds.iter().map(|end| before + end));
        walks.nodes.extend(chunk.nodes);
    }
    let edges = walks.nodes.len() - walks.bounds.len();
    Ok(Outcome { output: Output::Paths(walks), report: Report { edges, ..Report::default() } })
}

/// Walks whose memory is counted as they grow.
struct Grown<'w> {
    task: Task<'w>,
    paths: Paths,
    capacities: Vec<TaskMemory<'w>>,
    /// The most nodes that they have together.
    most: usize,
}

impl Grown<'_> {
    #[inline]
    fn push(&mut self, node: u32) -> Result<()> {
        let nodes = &mut self.paths.nodes;
        if nodes.len() == nodes.capacity() {
            // The capacity doubles, so that each node is moved O(log length) times.
            let more = nodes.len().max(WALKS_A_CHUNK).min(self.most - nodes.len());
            self.capacities.push(self.task.capacity(more, size_of::<u32>())?);
            nodes.reserve_exact(more);
        }
        if nodes.len().is_multiple_of(STEPS_A_CHECK) {
            self.task.check()?;
        }
        nodes.push(node);
        Ok(())
    }
}

/// The factors of a step, which depend on the source of the previous step.
struct WalkBias {
    p: f64,
    q: f64,
}

impl WalkBias {
    /// Adds a walk from a node.
    fn walk(
        &self,
        choices: &Choices<'_>,
        start: u32,
        length: usize,
        mut random: RandomStream,
        walks: &mut Grown<'_>,
    ) -> Result<()> {
        let (back, away) = (1.0 / self.p, 1.0 / self.q);
        let is_plain = self.p == 1.0 && self.q == 1.0;
        // The greatest factor of a step, by which `sample` scales its acceptance.
        let most = back.max(away).max(1.0);
        let (mut before, mut at) = (None, start);
        walks.push(start)?;
        for _ in 0..length {
            let next = match before {
                Some(before) if !is_plain => choices.sample(at, &mut random, most, |to| {
                    if to == before {
                        back
                    } else if choices.rows.has(before, to) {
                        1.0
                    } else {
                        away
                    }
                }),
                _ => choices.sample(at, &mut random, 1.0, |_| 1.0),
            };
            let Some(next) = next else { break };
            walks.push(next)?;
            (before, at) = (Some(at), next);
        }
        walks.paths.bounds.push(walks.paths.nodes.len());
        Ok(())
    }
}
