//! Sorts edges by radix partitioning, if the ids of their nodes are as dense as those of a load.
//!
//! Two passes, so that what is written stays in the cache. First each chunk of edges is partitioned
//! by the high bits of the source into buckets, chunks in parallel. Then each bucket reads its runs
//! from all chunks in order, counts the edges of its few sources, scatters the targets to them, and
//! sorts those of each source. Buckets run in parallel, each into its own part of the result.
//! Reverse edges need no sorting: forward edges already ascend by source.
//!
//! Sparse ids (random uids, or low ones together with high ones) are sorted by comparison.

use crate::storage::Edges;
use hexgraph_base::types::parallel;

/// Edges are partitioned if their nodes span at most this many ids for each edge. Otherwise
/// comparing is cheaper.
const SPREAD_MAX: usize = 4;

/// The counts that even a few edges may have.
const COUNTS_MIN: usize = 1 << 12;

/// The edges of a chunk, about.
const CHUNK_LEN: usize = 1 << 16;

/// The edges of a bucket, about: what is partitioned there fits the cache of a core.
const BUCKET_LEN: usize = 1 << 15;

/// More buckets mean too many write positions.
const BUCKETS_MAX: usize = 1 << 11;

/// Edges by (node, target), each once.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::graph) struct Ordered {
    /// The nodes, ascending, and how many edges each has.
    pub runs: Vec<(u32, u32)>,
    /// The targets, ascending within a run.
    pub targets: Vec<u32>,
    /// The original row of each edge, if requested and different from the current one; of equal
    /// edges the last one's.
    pub rows: Option<Vec<u32>>,
    /// The edges that a later equal one supersedes, if rows were requested, unordered.
    pub repeated: Vec<RepeatedEdge>,
}

/// An edge that a later equal one supersedes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::graph) struct RepeatedEdge {
    pub row: u32,
    pub node: u32,
    pub target: u32,
}

/// Sorts the edges of consecutive columns of nodes and targets. Costs O(edges) when nodes are
/// close, and the sorting of each node's targets; at most 20 more bytes an edge, 12 without rows.
pub(super) fn order_edges(columns: Vec<(Vec<u32>, Vec<u32>)>, with_rows: bool) -> Ordered {
    if ascend(&columns) {
        let (nodes, targets): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let (runs, targets) = (runs_of(nodes.iter().flatten().copied()), targets.concat());
        return Ordered { runs, targets, rows: None, repeated: Vec::new() };
    }
    let len = columns.iter().map(|(nodes, _)| nodes.len()).sum();
    let ranges = parallel::map(&columns, |(nodes, _)| node_range(nodes));
    let Some(buckets) = Buckets::new(ranges.into_iter().flatten().collect(), len) else {
        return by_comparing(columns, with_rows);
    };
    let mut first = 0;
    // Rows are numbered across columns in 32 bits: callers have checked that there are fewer.
    let firsts = columns.into_iter().map(|(nodes, targets)| {
        let len = nodes.len() as u32;
        first += len;
        (first - len, nodes, targets)
    });
    let firsts: Vec<_> = firsts.collect();
    // A column is gone as soon as it is partitioned.
    let partitioned = parallel::map_into(firsts, |(first, nodes, targets)| {
        let chunks = nodes.chunks(CHUNK_LEN).zip(targets.chunks(CHUNK_LEN)).enumerate();
        let partition = |(at, (nodes, targets)): (usize, (&[u32], &[u32]))| {
            let first = with_rows.then_some(first + (at * CHUNK_LEN) as u32);
            buckets.partition(
                nodes.iter().copied().zip(targets.iter().copied()),
                nodes.len(),
                first,
            )
        };
        chunks.map(partition).collect::<Vec<Partitioned>>()
    });
    let partitioned: Vec<Partitioned> = partitioned.into_iter().flatten().collect();
    buckets.collect(&partitioned, Collect { is_sorted: false, with_rows })
}

/// The reverse edges, by (target, source).
pub(super) fn reverse_edges(forward: &Edges) -> Ordered {
    let targets = forward.targets.as_slice();
    let fragments = chunks_of(forward);
    let chunks: Vec<&[u32]> = targets.chunks(CHUNK_LEN).collect();
    let ranges = parallel::map(&chunks, |chunk| node_range(chunk));
    let Some(buckets) = Buckets::new(ranges.into_iter().flatten().collect(), targets.len()) else {
        let edges = fragments.iter().flat_map(|fragment| fragment.edges(forward));
        let mut pairs: Vec<u64> = edges.map(|(node, target)| pack(target, node)).collect();
        parallel::sort_unstable(&mut pairs);
        return unpacked(&pairs);
    };
    let partition = |fragment: &Chunk| {
        let edges = fragment.edges(forward).map(|(node, target)| (target, node));
        buckets.partition(edges, fragment.len(forward), None)
    };
    let partitioned: Vec<Partitioned> = parallel::map(&fragments, partition);
    // Chunks come in the order of their nodes, and a forward edge occurs once, so the sources of
    // each target ascend.
    buckets.collect(&partitioned, Collect { is_sorted: true, with_rows: false })
}

/// Some rows of forward edges.
pub(super) struct Chunk {
    first_row: usize,
    nodes: Vec<u32>,
}

impl Chunk {
    pub(super) fn edges<'e>(
        &'e self,
        forward: &'e Edges,
    ) -> impl Iterator<Item = (u32, u32)> + Clone + 'e {
        self.nodes.iter().enumerate().flat_map(move |(at, &node)| {
            let targets = forward.targets.slice(forward.offsets.range(self.first_row + at));
            targets.iter().map(move |&target| (node, target))
        })
    }

    fn len(&self, forward: &Edges) -> usize {
        let start = |row: usize| forward.offsets.start(row);
        start(self.first_row + self.nodes.len()) - start(self.first_row)
    }
}

pub(super) fn chunks_of(forward: &Edges) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut nodes = Vec::new();
    let (mut first_row, mut start) = (0, 0);
    for (row, node) in forward.subjects.iter().enumerate() {
        nodes.push(node);
        // Panics on a row of negative length, so chunks never end before they begin.
        let end = forward.offsets.range(row).end;
        if CHUNK_LEN <= end - start {
            chunks.push(Chunk { first_row, nodes: std::mem::take(&mut nodes) });
            (first_row, start) = (row + 1, end);
        }
    }
    chunks.push(Chunk { first_row, nodes });
    chunks
}

/// True when the edges are sorted and each is there once.
fn ascend(columns: &[(Vec<u32>, Vec<u32>)]) -> bool {
    let mut last = None;
    let edges = columns.iter().flat_map(|(nodes, targets)| nodes.iter().zip(targets));
    edges.into_iter().all(|edge| last.replace(edge).is_none_or(|last| last < edge))
}

/// The runs of equal nodes.
fn runs_of(nodes: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for node in nodes {
        match runs.last_mut() {
            Some((last, len)) if *last == node => *len += 1,
            _ => runs.push((node, 1)),
        }
    }
    runs
}

fn node_range(nodes: &[u32]) -> Option<(u32, u32)> {
    Some((*nodes.iter().min()?, *nodes.iter().max()?))
}

/// Nodes between the least and the greatest, by their high bits.
struct Buckets {
    first: u32,
    /// The low bits, which distinguish the nodes of a bucket.
    shift: u32,
    count: usize,
}

/// The edges of a chunk by bucket, within a bucket as they came.
struct Partitioned {
    /// The position at which each bucket starts, and last the end of the last one.
    starts: Vec<u32>,
    /// Node and target.
    pairs: Vec<u64>,
    /// The row of each, if rows are requested.
    rows: Vec<u32>,
}

/// The options of [`Buckets::collect`].
#[derive(Clone, Copy)]
struct Collect {
    /// The edges of each node come sorted, each once.
    is_sorted: bool,
    with_rows: bool,
}

impl Buckets {
    /// `None` if the nodes, given by the ranges of their chunks, are too sparse for a count of
    /// each.
    fn new(ranges: Vec<(u32, u32)>, edges: usize) -> Option<Buckets> {
        let first = ranges.iter().map(|range| range.0).min()?;
        let last = ranges.iter().map(|range| range.1).max()?;
        let span = (last - first) as usize + 1;
        if COUNTS_MIN.max(edges * SPREAD_MAX) < span {
            return None;
        }
        let expected = (edges / BUCKET_LEN).clamp(1, BUCKETS_MAX);
        // Each bucket covers a power of two of nodes, so a shift gives the bucket of a node.
        let shift = span.div_ceil(expected).next_power_of_two().trailing_zeros();
        Some(Buckets { first, shift, count: ((span - 1) >> shift) + 1 })
    }

    fn partition(
        &self,
        edges: impl Iterator<Item = (u32, u32)> + Clone,
        len: usize,
        first_row: Option<u32>,
    ) -> Partitioned {
        let bucket = |node: u32| ((node - self.first) >> self.shift) as usize;
        let mut starts = vec![0; self.count + 1];
        // Counted first, so that each edge is written once, to its position.
        edges.clone().for_each(|(node, _)| starts[bucket(node) + 1] += 1);
        sum_up(&mut starts);
        let mut next = starts.clone();
        let mut pairs = vec![0; len];
        let mut rows = vec![0; if first_row.is_some() { len } else { 0 }];
        for ((node, target), at) in edges.zip(0..) {
            let position = &mut next[bucket(node)];
            pairs[*position as usize] = pack(node, target);
            if let Some(first) = first_row {
                rows[*position as usize] = first + at;
            }
            *position += 1;
        }
        Partitioned { starts, pairs, rows }
    }

    fn collect(&self, partitioned: &[Partitioned], how: Collect) -> Ordered {
        let len: usize = partitioned.iter().map(|chunk| chunk.pairs.len()).sum();
        let mut targets = vec![0; len];
        let mut rows = vec![0; if how.with_rows { len } else { 0 }];
        let (mut targets_left, mut rows_left) = (&mut targets[..], &mut rows[..]);
        let mut jobs = Vec::with_capacity(self.count);
        for bucket in 0..self.count {
            let of_bucket = partitioned.iter().map(|chunk| chunk.range(bucket).len()).sum();
            let (targets, rest) = targets_left.split_at_mut(of_bucket);
            targets_left = rest;
            let (rows, rest) = rows_left.split_at_mut(if how.with_rows { of_bucket } else { 0 });
            rows_left = rest;
            // Each bucket owns a part of the result, so no two threads write to the same memory.
            jobs.push(Job { buckets: self, partitioned, bucket, targets, rows, how });
        }
        let done: Vec<(Vec<(u32, u32)>, Vec<RepeatedEdge>)> = parallel::map_into(jobs, Job::run);
        let (runs, repeated): (Vec<_>, Vec<_>) = done.into_iter().unzip();
        // What was there twice left gaps.
        let (mut retained, mut start) = (0, 0);
        for (bucket, runs) in runs.iter().enumerate() {
            let of_bucket: usize = runs.iter().map(|run| run.1 as usize).sum();
            if retained < start {
                targets.copy_within(start..start + of_bucket, retained);
                if how.with_rows {
                    rows.copy_within(start..start + of_bucket, retained);
                }
            }
            retained += of_bucket;
            start += partitioned.iter().map(|chunk| chunk.range(bucket).len()).sum::<usize>();
        }
        targets.truncate(retained);
        rows.truncate(retained);
        let (runs, repeated) = (runs.concat(), repeated.concat());
        Ordered { runs, targets, rows: how.with_rows.then_some(rows), repeated }
    }
}

impl Partitioned {
    fn range(&self, bucket: usize) -> std::ops::Range<usize> {
        self.starts[bucket] as usize..self.starts[bucket + 1] as usize
    }
}

/// A bucket and the part of the result that is its own.
struct Job<'a> {
    buckets: &'a Buckets,
    partitioned: &'a [Partitioned],
    bucket: usize,
    targets: &'a mut [u32],
    rows: &'a mut [u32],
    how: Collect,
}

impl Job<'_> {
    /// Fills the targets, and the rows if requested, and returns the runs, with the edges that go
    /// where rows stay. If edges repeat, the end of the part is unused.
    fn run(self) -> (Vec<(u32, u32)>, Vec<RepeatedEdge>) {
        let Job { buckets, bucket, targets, rows, how, .. } = self;
        // At most the greatest node, since the last bucket has a node, so it does not overflow.
        let first = buckets.first + ((bucket as u32) << buckets.shift);
        let pairs = || self.partitioned.iter().flat_map(|chunk| &chunk.pairs[chunk.range(bucket)]);
        let position_of = |pair: u64| ((pair >> 32) as u32 - first) as usize;
        let mut starts = vec![0_u32; (1 << buckets.shift) + 1];
        // The chunks in their order, so that the edges of a node stay as they came.
        pairs().for_each(|&pair| starts[position_of(pair) + 1] += 1);
        sum_up(&mut starts);
        let mut next = starts.clone();
        let mut position = |pair: u64| {
            let position = &mut next[position_of(pair)];
            *position += 1;
            *position as usize - 1
        };
        if !how.with_rows {
            pairs().for_each(|&pair| targets[position(pair)] = pair as u32);
            let runs = starts.windows(2).zip(first..);
            if how.is_sorted {
                let runs = runs.map(|(run, node)| (node, run[1] - run[0]));
                return (runs.filter(|run| run.1 != 0).collect(), Vec::new());
            }
            return (distinct(runs, targets), Vec::new());
        }
        let mut partitioned = vec![0; targets.len()];
        let chunk_rows = self.partitioned.iter().flat_map(|chunk| &chunk.rows[chunk.range(bucket)]);
        for (&pair, &row) in pairs().zip(chunk_rows) {
            partitioned[position(pair)] = pack(pair as u32, row);
        }
        distinct_last(starts.windows(2).zip(first..), &mut partitioned, targets, rows)
    }
}

/// Sorts the targets of each run and moves those that are left of each to the front.
fn distinct<'r>(
    runs: impl Iterator<Item = (&'r [u32], u32)>,
    targets: &mut [u32],
) -> Vec<(u32, u32)> {
    let (mut result, mut retained) = (Vec::new(), 0);
    for (run, node) in runs {
        let (start, end) = (run[0] as usize, run[1] as usize);
        if start == end {
            continue;
        }
        targets[start..end].sort_unstable();
        let first = retained;
        for at in start..end {
            // The write position never passes the read position, so nothing unread is overwritten.
            if retained == first || targets[retained - 1] != targets[at] {
                targets[retained] = targets[at];
                retained += 1;
            }
        }
        result.push((node, (retained - first) as u32));
    }
    result
}

/// As [`distinct`], of (target, row) pairs: of equal targets the last row is retained, and the
/// others are returned.
fn distinct_last<'r>(
    runs: impl Iterator<Item = (&'r [u32], u32)>,
    pairs: &mut [u64],
    targets: &mut [u32],
    rows: &mut [u32],
) -> (Vec<(u32, u32)>, Vec<RepeatedEdge>) {
    let (mut result, mut repeated, mut retained) = (Vec::new(), Vec::new(), 0);
    for (run, node) in runs {
        let pairs = &mut pairs[run[0] as usize..run[1] as usize];
        if pairs.is_empty() {
            continue;
        }
        // Of equal targets the rows ascend then, so the last of them is the one that came last.
        pairs.sort_unstable();
        let first = retained;
        for (at, &pair) in pairs.iter().enumerate() {
            let target = (pair >> 32) as u32;
            if pairs.get(at + 1).is_none_or(|next| (next >> 32) as u32 != target) {
                (targets[retained], rows[retained]) = (target, pair as u32);
                retained += 1;
            } else {
                repeated.push(RepeatedEdge { row: pair as u32, node, target });
            }
        }
        result.push((node, (retained - first) as u32));
    }
    (result, repeated)
}

/// Turns counts, each stored one position later, into start offsets.
fn sum_up(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}

fn by_comparing(columns: Vec<(Vec<u32>, Vec<u32>)>, with_rows: bool) -> Ordered {
    let edges = columns.iter().flat_map(|(nodes, targets)| nodes.iter().zip(targets));
    let pairs = edges.map(|(&node, &target)| pack(node, target));
    if !with_rows {
        let mut pairs: Vec<u64> = pairs.collect();
        drop(columns);
        parallel::sort_unstable(&mut pairs);
        pairs.dedup();
        return unpacked(&pairs);
    }
    let mut keyed: Vec<(u64, u32)> = pairs.zip(0..).collect();
    drop(columns);
    parallel::sort_unstable(&mut keyed);
    // Equal edges are in order of arrival, and the last one is retained.
    let last = |at: usize| keyed.get(at + 1).is_none_or(|next| next.0 != keyed[at].0);
    let retained: Vec<(u64, u32)> =
        (0..keyed.len()).filter(|&at| last(at)).map(|at| keyed[at]).collect();
    let gone = (0..keyed.len()).filter(|&at| !last(at)).map(|at| keyed[at]);
    let repeated = gone.map(|(pair, row)| RepeatedEdge {
        row,
        node: (pair >> 32) as u32,
        target: pair as u32,
    });
    let repeated = repeated.collect();
    let pairs: Vec<u64> = retained.iter().map(|&(pair, _)| pair).collect();
    let rows = Some(retained.into_iter().map(|(_, row)| row).collect());
    Ordered { rows, repeated, ..unpacked(&pairs) }
}

fn unpacked(pairs: &[u64]) -> Ordered {
    let runs = runs_of(pairs.iter().map(|&pair| (pair >> 32) as u32));
    let targets = pairs.iter().map(|&pair| pair as u32).collect();
    Ordered { runs, targets, rows: None, repeated: Vec::new() }
}

fn pack(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Array, FrozenBitmap, Offsets, catch_corrupt};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn columns(edges: &[(u32, u32)], len: usize) -> Vec<(Vec<u32>, Vec<u32>)> {
        edges.chunks(len).map(|part| part.iter().copied().unzip()).collect()
    }

    fn edges_of(ordered: &Ordered) -> Vec<(u32, u32)> {
        let runs = ordered.runs.iter();
        let nodes = runs.flat_map(|&(node, len)| std::iter::repeat_n(node, len as usize));
        nodes.zip(ordered.targets.iter().copied()).collect()
    }

    fn check(edges: &[(u32, u32)], part_len: usize) {
        let last: BTreeMap<(u32, u32), u32> =
            edges.iter().enumerate().map(|(row, &edge)| (edge, row as u32)).collect();
        let want: Vec<(u32, u32)> = last.keys().copied().collect();
        let ordered = order_edges(columns(edges, part_len), true);
        assert_eq!(edges_of(&ordered), want);
        let rows = ordered.rows.unwrap_or_else(|| (0..edges.len() as u32).collect());
        assert_eq!(rows, last.values().copied().collect::<Vec<u32>>());
        let gone = edges.iter().enumerate().filter(|(row, edge)| last[edge] != *row as u32);
        let gone: Vec<_> = gone.map(|(row, &(node, to))| (row as u32, node, to)).collect();
        let mut repeated: Vec<_> =
            ordered.repeated.iter().map(|it| (it.row, it.node, it.target)).collect();
        repeated.sort_unstable();
        assert_eq!(repeated, gone);
        let ordered = order_edges(columns(edges, part_len), false);
        assert_eq!((edges_of(&ordered), &ordered.rows), (want, &None));
        let forward = Edges {
            subjects: FrozenBitmap::from_sorted_iter(ordered.runs.iter().map(|run| run.0)),
            offsets: Offsets::from_lens(ordered.runs.iter().map(|run| run.1 as usize)),
            targets: Array::from_vec(ordered.targets),
            facets: Vec::new(),
        };
        let mut inverted: Vec<(u32, u32)> = last.keys().map(|&(node, to)| (to, node)).collect();
        inverted.sort_unstable();
        assert_eq!(edges_of(&reverse_edges(&forward)), inverted);
    }

    proptest! {
        #[test]
        fn as_a_plain_sort(
            near in prop::collection::vec((100u32..140, 7u32..60), 0..200),
            far in prop::collection::vec((any::<u32>(), any::<u32>()), 0..20),
            part_len in 1_usize..300,
        ) {
            check(&near, part_len);
            check(&far, part_len);
            check(&[near, far].concat(), part_len);
        }
    }

    #[test]
    fn rows_that_end_before_they_begin_are_damage() {
        let forward = Edges {
            subjects: FrozenBitmap::from_roaring(&[1].into()),
            offsets: Offsets::Narrow(Array::from_vec(vec![5, 3])),
            targets: Array::from_vec(vec![1, 2, 3]),
            facets: Vec::new(),
        };
        let len = || chunks_of(&forward).iter().map(|chunk| chunk.len(&forward)).sum::<usize>();
        let error = catch_corrupt(len).unwrap_err().to_string();
        assert!(error.contains("row 0 has the reversed offsets 5..3"), "{error}");
    }

    #[test]
    fn many_buckets() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut edges: Vec<_> =
            (0..300_000).map(|_| (random.u32(0..20_000), random.u32(0..900))).collect();
        check(&edges, 70_000);
        edges.sort_unstable();
        edges.dedup();
        check(&edges, 7_000);
    }
}
