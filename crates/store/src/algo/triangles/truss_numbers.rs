//! Truss numbers: the greatest `k` of an edge such that it is in a subgraph where each edge is in
//! `k - 2` of its triangles. Loops are ignored.
//!
//! Edges in the fewest triangles are removed round by round, with those that drop to this number.
//! The triangles of an edge are enumerated from its endpoint with fewer neighbours.

use crate::algo::compact::rows::Rows;
use crate::algo::run::{Outcome, Output, Run};
use crate::algo::task::Task;
use hexgraph_base::types::Result;

/// The bytes of an edge, which is in the rows twice: its number at both endpoints, and half of its
/// endpoints, its triangles, its state and the result.
const BYTES_AN_EDGE: usize = 2 * size_of::<u32>() + 32;

/// The edges in one chunk of counting work, and removed between two checks of the clock.
const EDGES_A_CHUNK: usize = 4 << 10;

/// The number of a loop.
const LOOP: u32 = u32::MAX;

pub(in crate::algo) fn truss_numbers(run: &Run<'_>) -> Result<Outcome> {
    let rows = run.graph.outgoing();
    let _nodes = run.capacity_per_node(2 * size_of::<usize>())?;
    let _edges = run.task.capacity(rows.edges(), BYTES_AN_EDGE)?;
    let edges = Edges::new(rows, &run.task)?;
    let counts = run.task.blocks(edges.endpoints.len().div_ceil(EDGES_A_CHUNK), |number| {
        let first = number * EDGES_A_CHUNK;
        let last = edges.endpoints.len().min(first + EDGES_A_CHUNK);
        let count = |edge: usize| {
            let mut count = 0_u32;
            edges.triangles(edge as u32, |_, _| count += 1);
            count
        };
        Ok((first..last).map(count).collect::<Vec<u32>>())
    })?;
    let numbers = peeled(&edges, counts.concat(), &run.task)?;
    let pairs = edges.endpoints.iter().zip(numbers);
    let pairs = pairs.map(|((one, other), number)| (*one, *other, f64::from(number) + 2.0));
    Ok(Outcome::once(Output::Pairs(pairs.collect()), rows.edges()))
}

/// The edges with numbers, ordered by their endpoints.
struct Edges<'r> {
    rows: &'r Rows,
    /// Where the numbers of the edges of each node begin.
    starts: Vec<usize>,
    /// The numbers of edges, in the order of the rows.
    numbers: Vec<u32>,
    /// The lesser and the greater end of each edge.
    endpoints: Vec<(u32, u32)>,
}

impl<'r> Edges<'r> {
    fn new(rows: &'r Rows, task: &Task<'_>) -> Result<Edges<'r>> {
        let mut starts = Vec::with_capacity(rows.nodes());
        let mut end = 0;
        for node in 0..rows.nodes() as u32 {
            starts.push(end);
            end += rows.degree(node);
        }
        let mut numbers = vec![LOOP; end];
        let mut endpoints = Vec::with_capacity(end / 2);
        // Lesser nodes come first, so the lesser neighbours of a node fill its row from the
        // beginning.
        let mut next = starts.clone();
        for block in 0..rows.blocks().len() {
            task.check()?;
            for node in rows.block(block) {
                for (position, &to) in
                    rows.of(node).iter().enumerate().filter(|(_, to)| node < **to)
                {
                    let number = endpoints.len() as u32;
                    numbers[starts[node as usize] + position] = number;
                    numbers[next[to as usize]] = number;
                    next[to as usize] += 1;
                    endpoints.push((node, to));
                }
            }
        }
        Ok(Edges { rows, starts, numbers, endpoints })
    }

    /// Calls `visit` with the other two edges of each triangle of an edge.
    fn triangles(&self, edge: u32, mut visit: impl FnMut(u32, u32)) {
        let (one, other) = self.endpoints[edge as usize];
        let is_first_shorter = self.rows.degree(one) <= self.rows.degree(other);
        let (short, long) = if is_first_shorter { (one, other) } else { (other, one) };
        let row = self.rows.of(long);
        let mut from = 0;
        for (position, third) in self.rows.of(short).iter().enumerate() {
            from += row[from..].partition_point(|to| to < third);
            if row.get(from) == Some(third) && *third != one && *third != other {
                let number = |node: u32, position: usize| {
                    self.numbers[self.starts[node as usize] + position]
                };
                visit(number(short, position), number(long, from));
            }
        }
    }
}

/// Takes edges out. `counts` has the number of triangles of each; returned is how many each has
/// when it goes.
fn peeled(edges: &Edges<'_>, mut counts: Vec<u32>, task: &Task<'_>) -> Result<Vec<u32>> {
    let mut is_gone = vec![false; counts.len()];
    let mut left: Vec<u32> = (0..counts.len() as u32).collect();
    let (mut out, mut processed) = (Vec::<u32>::new(), 0_usize);
    while let Some(least) = left.iter().map(|edge| counts[*edge as usize]).min() {
        task.check()?;
        out.extend(left.iter().filter(|edge| counts[**edge as usize] <= least));
        while let Some(edge) = out.pop() {
            processed += 1;
            if processed.is_multiple_of(EDGES_A_CHUNK) {
                task.check()?;
            }
            edges.triangles(edge, |one, other| {
                // A triangle goes with the first of its edges.
                if is_gone[one as usize] || is_gone[other as usize] {
                    return;
                }
                for edge in [one, other] {
                    let count = &mut counts[edge as usize];
                    if least < *count {
                        *count -= 1;
                        // An edge drops to the least number once and goes no lower, so it is
                        // removed once.
                        if *count == least {
                            out.push(edge);
                        }
                    }
                }
            });
            is_gone[edge as usize] = true;
        }
        left.retain(|edge| least < counts[*edge as usize]);
    }
    Ok(counts)
}
