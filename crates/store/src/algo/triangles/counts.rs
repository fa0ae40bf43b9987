//! Triangles of each node, in the graph without directions and loops.
//!
//! Each edge is stored only at its endpoint of lesser degree, so no list is longer than the square
//! root of twice the edges. A triangle is counted once, at its node of least degree, by
//! intersecting two lists (Chiba, Nishizeki: Arboricity and Subgraph Listing Algorithms. SIAM J.
//! Comput. 14, 1985). Each thread has its own counts, which are added up: they are integers, so
//! their order does not matter.

use crate::algo::bits::Bits;
use crate::algo::compact::rows::{RowChunk, Rows};
use crate::algo::run::{Outcome, Output, Run};
use hexgraph_base::types::Result;

/// The most threads that count, each with its own counts.
const STRANDS_MAX: usize = 8;

/// The bytes for each node: its rank and the node of each rank; and for each thread its counts and
/// marks.
const BYTES_A_NODE: usize = 3 * size_of::<u32>() + size_of::<usize>();
const BYTES_A_STRAND: usize = size_of::<u64>() + 1;

/// The nodes of a chunk of the list of edges.
const NODES_A_CHUNK: usize = 8 << 10;

pub(in crate::algo) fn triangles(run: &Run<'_>) -> Result<Outcome> {
    let counts = triangle_counts(run)?;
    let counts = counts.into_iter().map(|count| count as i64).collect();
    Ok(Outcome::once(Output::Ints(counts), run.graph.outgoing().edges()))
}

/// The number of neighbours of a node, itself not counted.
pub(super) fn degree(rows: &Rows, node: u32) -> usize {
    rows.degree(node) - usize::from(rows.has(node, node))
}

/// The number of triangles that each node is in.
pub(super) fn triangle_counts(run: &Run<'_>) -> Result<Vec<u64>> {
    let rows = run.graph.outgoing();
    let nodes = rows.nodes();
    let strands = run.task.threads().min(STRANDS_MAX);
    let _capacity = run.capacity_per_node(BYTES_A_NODE + strands * BYTES_A_STRAND)?;
    let _edges = run.task.capacity(rows.edges(), size_of::<u32>())?;
    let mut by_rank: Vec<u32> = (0..nodes as u32).collect();
    by_rank.sort_unstable_by_key(|node| (rows.degree(*node), *node));
    let mut ranks = vec![0; nodes];
    by_rank.iter().zip(0..).for_each(|(node, rank)| ranks[*node as usize] = rank);
    let chunks = run.task.blocks(nodes.div_ceil(NODES_A_CHUNK), |number| {
        let mut chunk = RowChunk::default();
        let last = nodes.min((number + 1) * NODES_A_CHUNK);
        for (rank, node) in by_rank[..last].iter().enumerate().skip(number * NODES_A_CHUNK) {
            let before = chunk.targets.len();
            let above = rows.of(*node).iter().map(|to| ranks[*to as usize]);
            chunk.targets.extend(above.filter(|other| (rank as u32) < *other));
            chunk.targets[before..].sort_unstable();
            chunk.lens.push(chunk.targets.len() - before);
        }
        Ok(chunk)
    })?;
    let above = Rows::join(&run.task, chunks, false)?;
    let blocks = above.blocks().len();
    let strands = strands.min(blocks);
    let counted = run.task.blocks(strands, |strand| {
        let (mut counts, mut marks) = (vec![0_u64; nodes], Bits::new(nodes));
        for block in (strand..blocks).step_by(strands) {
            run.task.check()?;
            count_block(&above, block, &mut counts, &mut marks);
        }
        Ok(counts)
    })?;
    let mut counts = vec![0; nodes];
    for of_strand in counted {
        by_rank.iter().zip(of_strand).for_each(|(node, count)| counts[*node as usize] += count);
    }
    Ok(counts)
}

/// Counts the triangles whose node of least rank is in a block, at all three of their nodes.
fn count_block(above: &Rows, block: usize, counts: &mut [u64], marks: &mut Bits) {
    for one in above.block(block) {
        let row = above.of(one);
        if row.len() < 2 {
            continue;
        }
        row.iter().for_each(|to| marks.set(*to as usize));
        let mut of_one = 0;
        for &two in row {
            let mut of_two = 0;
            for &three in above.of(two) {
                if marks.has(three as usize) {
                    counts[three as usize] += 1;
                    of_two += 1;
                }
            }
            counts[two as usize] += of_two;
            of_one += of_two;
        }
        counts[one as usize] += of_one;
        row.iter().for_each(|to| marks.unset(*to as usize));
    }
}
