//! The nodes that a variable may be, and how often each counts.

use crate::execute::adjacency::Adjacency;
use hexgraph_base::types::{Error, Result};
use rustc_hash::FxHashMap;
use std::mem;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// How many nodes are read between two checks whether the query may go on.
pub(in crate::execute) const CHECKED_NODES: usize = 1024;

/// A table by node numbers is used where it has at most so many bytes for each node, and for small
/// spans anyway: what a hash table needs for an entry is about as much.
const BYTES_PER_NODE: usize = 64;
const SMALL_SPAN: usize = 1 << 16;

/// Nodes in ascending order, each with a number of matches above 0.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidates {
    pub(super) nodes: Vec<u32>,
    /// `None` where each counts once.
    pub(super) counts: Option<Vec<u64>>,
}

impl Candidates {
    /// The number of matches of all.
    pub(super) fn total(&self) -> Result<u64> {
        match &self.counts {
            None => Ok(self.nodes.len() as u64),
            Some(counts) => counts
                .iter()
                .try_fold(0_u64, |sum, count| sum.checked_add(*count))
                .ok_or_else(too_many),
        }
    }

    /// The number of matches of the node at a position.
    pub(super) fn count(&self, position: usize) -> u64 {
        self.counts.as_ref().map_or(1, |counts| counts[position])
    }

    /// Multiplies the number of matches of each node, and drops nodes without any.
    pub(super) fn multiply(&mut self, factors: &[u64]) -> Result<()> {
        if self.counts.is_none() && factors.iter().all(|it| *it <= 1) {
            let mut factors = factors.iter();
            self.nodes.retain(|_| factors.next().is_some_and(|it| *it != 0));
            return Ok(());
        }
        let old = self.counts.take();
        let mut counts = Vec::with_capacity(factors.len());
        for (position, factor) in factors.iter().enumerate() {
            let before = old.as_ref().map_or(1, |old| old[position]);
            let product = before.checked_mul(*factor).ok_or_else(too_many)?;
            if product != 0 {
                self.nodes[counts.len()] = self.nodes[position];
                counts.push(product);
            }
        }
        self.nodes.truncate(counts.len());
        self.counts = Some(counts);
        Ok(())
    }

    /// Drops all nodes but some of them.
    pub(super) fn retain(&mut self, some: Vec<u32>) {
        if let Some(counts) = &mut self.counts {
            let (mut nodes, mut some) = (self.nodes.iter(), some.iter().peekable());
            counts.retain(|_| nodes.next().is_some_and(|it| some.next_if_eq(&it).is_some()));
        }
        self.nodes = some;
    }

    /// The nodes of both, with the products of their numbers.
    pub(super) fn intersect(&mut self, other: &Candidates) -> Result<()> {
        let (mut factors, mut at) = (Vec::with_capacity(self.nodes.len()), 0);
        for node in &self.nodes {
            at += other.nodes[at..].partition_point(|it| it < node);
            let has = other.nodes.get(at) == Some(node);
            factors.push(if has { other.count(at) } else { 0 });
        }
        self.multiply(&factors)
    }

    /// The bytes that it needs.
    pub(super) fn bytes(&self) -> usize {
        self.nodes.len() * if self.counts.is_some() { 12 } else { 4 }
    }
}

/// The number of matches by the number of a node.
#[derive(Debug)]
pub(super) enum Lookup {
    /// Every node counts once.
    All,
    /// A bit for each node, the first word for the nodes from `start` on.
    Bits {
        start: u32,
        words: Vec<u64>,
    },
    Counts {
        start: u32,
        counts: Vec<u64>,
    },
    Hashed(FxHashMap<u32, u64>),
}

impl Lookup {
    /// Makes the smallest form, whose memory is reserved first.
    pub(super) fn new(
        candidates: Option<&Candidates>,
        reserved: &mut Reserved<'_>,
    ) -> Result<Lookup> {
        const BYTES_PER_ENTRY: usize = 32;
        let Some(Candidates { nodes, counts }) = candidates else { return Ok(Lookup::All) };
        let (start, span) = span_of(nodes);
        Ok(match counts {
            None if is_dense(span / 8, nodes.len()) => {
                reserved.grow(span / 8)?;
                let mut words = vec![0_u64; span.div_ceil(64)];
                for node in nodes {
                    let bit = (node - start) as usize;
                    words[bit / 64] |= 1 << (bit % 64);
                }
                Lookup::Bits { start, words }
            }
            Some(counts) if is_dense(8 * span, nodes.len()) => {
                reserved.grow(8 * span)?;
                let mut table = vec![0_u64; span];
                for (node, count) in nodes.iter().zip(counts) {
                    table[(node - start) as usize] = *count;
                }
                Lookup::Counts { start, counts: table }
            }
            _ => {
                reserved.grow(nodes.len() * BYTES_PER_ENTRY)?;
                let count = |at: usize| counts.as_ref().map_or(1, |counts| counts[at]);
                let entries = nodes.iter().enumerate();
                Lookup::Hashed(entries.map(|(at, node)| (*node, count(at))).collect())
            }
        })
    }

    /// The number of matches of a node.
    #[inline]
    pub(super) fn get(&self, node: u32) -> u64 {
        match self {
            Lookup::All => 1,
            Lookup::Bits { start, words } => bit(words, *start, node),
            Lookup::Counts { start, counts } => count(counts, *start, node),
            Lookup::Hashed(map) => map.get(&node).copied().unwrap_or(0),
        }
    }

    /// The least node of its table, and how many nodes the table has.
    pub(super) fn span(&self) -> Option<(u32, usize)> {
        match self {
            Lookup::All | Lookup::Hashed(_) => None,
            Lookup::Bits { start, words } => Some((*start, words.len() * 64)),
            Lookup::Counts { start, counts } => Some((*start, counts.len())),
        }
    }

    /// The sum for a list of nodes.
    #[inline]
    pub(super) fn sum(&self, list: &[u32]) -> Option<u64> {
        // One loop for each form, so that the form is not tested for each node.
        match self {
            Lookup::All => Some(list.len() as u64),
            Lookup::Bits { start, words } => {
                Some(list.iter().map(|node| bit(words, *start, *node)).sum())
            }
            Lookup::Counts { start, counts } => list
                .iter()
                .try_fold(0, |sum: u64, node| sum.checked_add(count(counts, *start, *node))),
            Lookup::Hashed(map) => list
                .iter()
                .try_fold(0, |sum: u64, node| sum.checked_add(map.get(node).copied().unwrap_or(0))),
        }
    }
}

#[inline]
fn bit(words: &[u64], start: u32, node: u32) -> u64 {
    // A node below the start has a large difference.
    let at = node.wrapping_sub(start) as usize;
    words.get(at / 64).map_or(0, |word| word >> (at % 64) & 1)
}

#[inline]
fn count(counts: &[u64], start: u32, node: u32) -> u64 {
    counts.get(node.wrapping_sub(start) as usize).copied().unwrap_or(0)
}

/// The least of ascending nodes, and how many numbers there are from it to the greatest.
pub(super) fn span_of(nodes: &[u32]) -> (u32, usize) {
    match (nodes.first(), nodes.last()) {
        (Some(first), Some(last)) => (*first, (last - first) as usize + 1),
        _ => (0, 0),
    }
}

/// Whether a table of so many bytes is small enough for so many nodes.
pub(super) fn is_dense(bytes: usize, nodes: usize) -> bool {
    bytes <= SMALL_SPAN.max(nodes.saturating_mul(BYTES_PER_NODE))
}

pub(super) fn too_many() -> Error {
    Error::query("the number of matches is beyond 64 bits").with_hint("match fewer nodes at once")
}

/// The results of `work` for ranges that together are `0..items`, in their order.
pub(in crate::execute) fn collect<R: Send>(
    graph: &dyn Adjacency,
    items: usize,
    nanos: usize,
    work: impl Fn(Range<usize>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let results = Mutex::new(Vec::new());
    graph.parts(items, nanos, &|range| {
        let start = range.start;
        let result = work(range)?;
        results.lock().unwrap_or_else(PoisonError::into_inner).push((start, result));
        Ok(())
    })?;
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|(start, _)| *start);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// Memory of a join that is reserved until this is dropped.
pub(super) struct Reserved<'a> {
    graph: &'a dyn Adjacency,
    bytes: usize,
}

impl<'a> Reserved<'a> {
    pub(super) fn new(graph: &'a dyn Adjacency, bytes: usize) -> Result<Reserved<'a>> {
        graph.reserve(bytes)?;
        Ok(Reserved { graph, bytes })
    }

    pub(super) fn grow(&mut self, bytes: usize) -> Result<()> {
        self.graph.reserve(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Returns all of it.
    pub(super) fn clear(&mut self) {
        self.graph.release(mem::take(&mut self.bytes));
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}
