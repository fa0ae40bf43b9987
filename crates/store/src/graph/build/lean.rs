//! Builds edges in bounded memory, one range of nodes at a time.
//!
//! For each range all threads read the parts, which are mapped files. Only the edges of its nodes
//! are collected and sorted, and their targets are appended to a file. The other direction follows
//! in the same way from the forward edges. So memory holds a fraction of the edges: the more edges,
//! the more ranges.

use super::edge_order::{Ordered, chunks_of, order_edges};
use super::node_lists::add_nodes;
use super::stored_form::edges_of;
use crate::graph::version::edges::{Direction, EdgeStore};
use crate::storage::{Array, Edges, ScratchArray};
use hexgraph_base::types::{Result, parallel};
use roaring::RoaringBitmap;
use std::ops::Range;

/// The bytes of an edge while its range is sorted: 8 in the columns, 12 more in `order_edges`, and
/// the sorted target.
pub(in crate::graph) const SORT_LEN: usize = 24;

/// The most ranges. Each reads all parts, so more of them cost more time than the memory is worth.
const RANGES_MAX: usize = 64;

/// The number of edges that a thread reads at a time.
const CHUNK_LEN: usize = 1 << 18;

/// Columns of nodes and targets.
type Columns = (Vec<u32>, Vec<u32>);

/// A part of the edges: the source and the target of each.
pub(in crate::graph) struct LeanPart {
    pub nodes: Array<u32>,
    pub targets: Array<u32>,
    /// Whether these are numbers that [`Lean::node_of`] makes nodes of.
    pub is_numbered: bool,
}

/// What edges are built of.
pub(in crate::graph) struct Lean<'a> {
    /// The parts. Those after the first `own` are stored already.
    pub parts: &'a [LeanPart],
    pub own: usize,
    pub node_of: &'a (dyn Fn(u32) -> u32 + Sync),
    pub with_reverse: bool,
    /// The bytes available for sorting.
    pub memory: usize,
    /// Creates a file.
    pub scratch: &'a mut (dyn FnMut() -> Result<ScratchArray> + Sync),
}

impl Lean<'_> {
    /// The edges of the parts, without facets, of a predicate that is a list; and the sources and
    /// targets of the first `own` parts.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Io`] on an error of the operating system.
    pub(in crate::graph) fn build(mut self) -> Result<(EdgeStore, [RoaringBitmap; 2])> {
        let (mut sources, mut targets) = (RoaringBitmap::new(), RoaringBitmap::new());
        let mut named = [RoaringBitmap::new(), RoaringBitmap::new()];
        for (at, part) in self.parts.iter().enumerate() {
            parallel::join(
                || self.add(&part.nodes, part.is_numbered, &mut sources),
                || self.add(&part.targets, part.is_numbered, &mut targets),
            );
            if at + 1 == self.own {
                named = [sources.clone(), targets.clone()];
            }
        }
        let len = self.parts.iter().map(|part| part.nodes.len()).sum();
        assert!(u32::try_from(len).is_ok(), "a predicate has fewer than 2^32 edges");
        let forward = self.forward(&sources, len)?;
        let reverse = match self.with_reverse {
            true => Some(Direction::new(self.reverse(&targets, &forward)?)),
            false => None,
        };
        Ok((EdgeStore { forward: Direction::new(forward), reverse }, named))
    }

    /// Adds nodes to a set.
    fn add(&self, column: &Array<u32>, is_numbered: bool, nodes: &mut RoaringBitmap) {
        if !is_numbered {
            return add_nodes(&[column.as_slice()], nodes);
        }
        let all = column.as_slice().iter().map(|&number| (self.node_of)(number));
        add_nodes(&[&all.collect::<Vec<u32>>()], nodes);
    }

    fn forward(&mut self, sources: &RoaringBitmap, len: usize) -> Result<Edges> {
        let chunks: Vec<(usize, Range<usize>)> = (0..self.parts.len())
            .flat_map(|part| {
                let len = self.parts[part].nodes.len();
                let starts = (0..len).step_by(CHUNK_LEN);
                starts.map(move |start| (part, start..len.min(start + CHUNK_LEN)))
            })
            .collect();
        let mut merged = Merged::new((self.scratch)()?);
        for range in self.ranges(sources, len) {
            let columns = parallel::map(&chunks, |(part, chunk)| {
                let LeanPart { nodes, targets, is_numbered } = &self.parts[*part];
                let (nodes, targets) = (nodes.slice(chunk.clone()), targets.slice(chunk.clone()));
                let edges = nodes.iter().copied().zip(targets.iter().copied());
                let node_of = self.node_of;
                match is_numbered {
                    true => {
                        edges_from(edges.map(|(node, to)| (node_of(node), node_of(to))), &range)
                    }
                    false => edges_from(edges, &range),
                }
            });
            merged.push(order_edges(filled(columns), false))?;
        }
        merged.finish()
    }

    /// All forward edges are read again for each range: partitioned at once they would need their
    /// own size in memory.
    fn reverse(&mut self, targets: &RoaringBitmap, forward: &Edges) -> Result<Edges> {
        let chunks = chunks_of(forward);
        let mut merged = Merged::new((self.scratch)()?);
        for range in self.ranges(targets, forward.targets.len()) {
            let columns = parallel::map(&chunks, |chunk| {
                edges_from(chunk.edges(forward).map(|(node, target)| (target, node)), &range)
            });
            merged.push(order_edges(filled(columns), false))?;
        }
        merged.finish()
    }

    /// Ranges of nodes with about equal numbers of edges, so many that the edges of one can be
    /// sorted in the memory.
    fn ranges(&self, nodes: &RoaringBitmap, len: usize) -> Vec<Range<u64>> {
        let ranges = (len * SORT_LEN).div_ceil(self.memory.max(1)).clamp(1, RANGES_MAX) as u64;
        let (count, mut start) = (nodes.len(), 0);
        let last = |at: u64| (count * at / ranges).checked_sub(1);
        let lasts = (1..=ranges).filter_map(|at| nodes.select(last(at)? as u32));
        let mut all: Vec<Range<u64>> = Vec::new();
        for last in lasts {
            let end = u64::from(last) + 1;
            if start < end {
                all.push(start..end);
                start = end;
            }
        }
        all
    }
}

/// The edges from nodes of a range.
fn edges_from(edges: impl Iterator<Item = (u32, u32)>, range: &Range<u64>) -> Columns {
    let (mut nodes, mut targets) = (Vec::new(), Vec::new());
    for (node, target) in edges.filter(|(node, _)| range.contains(&u64::from(*node))) {
        nodes.push(node);
        targets.push(target);
    }
    (nodes, targets)
}

fn filled(columns: Vec<Columns>) -> Vec<Columns> {
    columns.into_iter().filter(|(nodes, _)| !nodes.is_empty()).collect()
}

/// Sorted edges of ranges, in the order of the ranges.
struct Merged {
    runs: Vec<(u32, u32)>,
    targets: ScratchArray,
}

impl Merged {
    fn new(targets: ScratchArray) -> Merged {
        Merged { runs: Vec::new(), targets }
    }

    fn push(&mut self, range: Ordered) -> Result<()> {
        self.runs.extend_from_slice(&range.runs);
        self.targets.push(&range.targets)
    }

    fn finish(self) -> Result<Edges> {
        Ok(edges_of(&self.runs, self.targets.finish()?, Vec::new()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Numbers of this generator look random enough for edges.
    fn pseudo_random(state: &mut u64) -> u32 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (*state >> 40) as u32 % 5_000
    }

    fn listed(edges: &Edges) -> Vec<(u32, u32)> {
        let rows = edges.subjects.iter().enumerate();
        let targets = |row| edges.targets.slice(edges.offsets.range(row)).iter().copied();
        rows.flat_map(|(row, node)| targets(row).map(move |target| (node, target))).collect()
    }

    /// With any memory, the result has the edges of all parts, each once, in both directions.
    #[test]
    fn ranges_cover_all_edges() {
        const NUMBERED: u32 = 1 << 31;
        let mut state = 7;
        let mut columns: Vec<Columns> = Vec::new();
        for len in [0, 1, 30_000, 10] {
            let mut column = || (0..len).map(|_| pseudo_random(&mut state)).collect::<Vec<u32>>();
            columns.push((column(), column()));
        }
        let pairs = columns.iter().flat_map(|(nodes, targets)| nodes.iter().zip(targets));
        let expected: BTreeSet<(u32, u32)> = pairs.map(|(node, target)| (*node, *target)).collect();
        let inverse: BTreeSet<(u32, u32)> =
            expected.iter().map(|(node, target)| (*target, *node)).collect();
        let part = |at: usize, (nodes, targets): &Columns| {
            let is_numbered = at < 2;
            let [nodes, targets] = [nodes, targets].map(|column| {
                let number = |node: &u32| if is_numbered { node | NUMBERED } else { *node };
                Array::from_vec(column.iter().map(number).collect())
            });
            LeanPart { nodes, targets, is_numbered }
        };
        let parts: Vec<LeanPart> =
            columns.iter().enumerate().map(|(at, columns)| part(at, columns)).collect();
        let folder = tempfile::tempdir().unwrap();
        let mut files = 0;
        for memory in [1, 100_000, 1 << 30] {
            let lean = Lean {
                parts: &parts,
                own: 3,
                node_of: &|number| number & !NUMBERED,
                with_reverse: true,
                memory,
                scratch: &mut || {
                    files += 1;
                    ScratchArray::create(folder.path().join(files.to_string()))
                },
            };
            let (edges, [sources, targets]) = lean.build().unwrap();
            assert_eq!(listed(&edges.forward.base), expected.iter().copied().collect::<Vec<_>>());
            let reverse = listed(&edges.reverse.unwrap().base);
            assert_eq!(reverse, inverse.iter().copied().collect::<Vec<_>>());
            let own = |at: fn(&Columns) -> &Vec<u32>| -> RoaringBitmap {
                columns[..3].iter().flat_map(|column| at(column).iter().copied()).collect()
            };
            assert_eq!(sources, own(|columns| &columns.0));
            assert_eq!(targets, own(|columns| &columns.1));
        }
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
