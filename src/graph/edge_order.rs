//! Sorts edges: by counting where the nodes lie close together, as the nodes of a load do.
//!
//! Forward: one pass counts the edges of each source, one deals (target, row) out to their sources,
//! and each source's own few are sorted by themselves, all sources side by side. Reverse: forward
//! edges already ascend by source, so dealing them out to their targets leaves nothing to sort.
//! Nodes that are spread wide (random uids, or low ones together with high ones) are compared.

use rayon::prelude::*;

/// So many nodes an edge the counts may have, before comparing is cheaper.
const SPREAD_MAX: usize = 4;

/// The counts that even a few edges may have.
const COUNTS_MIN: usize = 1 << 12;

/// The rows of edges by (node, target), of equal edges the last alone. `None` when they ascend
/// already. Costs O(edges) when nodes are close, and the sorting of each node's targets.
pub fn order_edges(nodes: &[u32], targets: &[u32]) -> Option<Vec<u32>> {
    let ascends = |row: usize| (nodes[row - 1], targets[row - 1]) < (nodes[row], targets[row]);
    if (1..nodes.len()).all(ascends) {
        return None;
    }
    let mut rows = match Span::of(nodes) {
        Some(span) => by_counting(&span, nodes, targets),
        None => by_comparing(nodes, targets),
    };
    let same = |one: u32, other: u32| {
        let (one, other) = (one as usize, other as usize);
        nodes[one] == nodes[other] && targets[one] == targets[other]
    };
    // Equal edges stand in order of arrival, and what arrives last stays.
    let mut kept = 0;
    for at in 0..rows.len() {
        if rows.get(at + 1).is_none_or(|&next| !same(rows[at], next)) {
            rows[kept] = rows[at];
            kept += 1;
        }
    }
    rows.truncate(kept);
    Some(rows)
}

/// The edges sorted, each once, as columns; for edges without facets, where no row has to be known.
pub fn sort_edges(nodes: Vec<u32>, targets: Vec<u32>) -> (Vec<u32>, Vec<u32>) {
    let ascends = |row: usize| (nodes[row - 1], targets[row - 1]) < (nodes[row], targets[row]);
    if (1..nodes.len()).all(ascends) {
        return (nodes, targets);
    }
    let Some(span) = Span::of(&nodes) else {
        let pairs = nodes.iter().zip(&targets);
        let mut pairs: Vec<u64> = pairs.map(|(&node, &target)| pack(node, target)).collect();
        pairs.par_sort_unstable();
        pairs.dedup();
        return unpacked(&pairs);
    };
    let starts = span.starts(&nodes);
    let mut next = starts.clone();
    let mut dealt = vec![0; nodes.len()];
    for (&node, &target) in nodes.iter().zip(&targets) {
        let place = &mut next[(node - span.first) as usize];
        dealt[*place as usize] = target;
        *place += 1;
    }
    drop((next, targets));
    sort_runs(&mut dealt, &starts);
    let (mut sorted, mut kept) = (nodes, 0);
    for (at, run) in starts.windows(2).enumerate() {
        let mut last = None;
        for place in run[0] as usize..run[1] as usize {
            let target = dealt[place];
            if last != Some(target) {
                (sorted[kept], dealt[kept]) = (span.first + at as u32, target);
                kept += 1;
                last = Some(target);
            }
        }
    }
    sorted.truncate(kept);
    dealt.truncate(kept);
    (sorted, dealt)
}

/// The edges the other way round, sorted, as (target, source) pairs of columns. The edges come
/// sorted by source.
pub fn reverse_edges(nodes: &[u32], targets: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let Some(span) = Span::of(targets) else {
        let pairs = targets.iter().zip(nodes);
        let mut pairs: Vec<u64> = pairs.map(|(&target, &node)| pack(target, node)).collect();
        pairs.par_sort_unstable();
        return unpacked(&pairs);
    };
    let starts = span.starts(targets);
    let mut next = starts.clone();
    let mut sources = vec![0; nodes.len()];
    for (&target, &node) in targets.iter().zip(nodes) {
        let place = &mut next[(target - span.first) as usize];
        sources[*place as usize] = node;
        *place += 1;
    }
    let mut ends = Vec::with_capacity(nodes.len());
    for (at, run) in starts.windows(2).enumerate() {
        ends.extend((run[0]..run[1]).map(|_| span.first + at as u32));
    }
    (ends, sources)
}

/// The nodes between the least and the greatest.
struct Span {
    first: u32,
    len: usize,
}

impl Span {
    /// `None` when they are too far apart for counts of each.
    fn of(nodes: &[u32]) -> Option<Span> {
        let first = *nodes.iter().min()?;
        let last = *nodes.iter().max()?;
        let len = (last - first) as usize + 1;
        (len <= COUNTS_MIN.max(nodes.len() * SPREAD_MAX)).then_some(Span { first, len })
    }

    /// Where the edges of each node start, and behind them where the last ones end.
    fn starts(&self, nodes: &[u32]) -> Vec<u32> {
        let mut starts = vec![0; self.len + 1];
        for node in nodes {
            starts[(node - self.first) as usize + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        starts
    }
}

fn by_counting(span: &Span, nodes: &[u32], targets: &[u32]) -> Vec<u32> {
    let starts = span.starts(nodes);
    let mut next = starts.clone();
    let mut dealt = vec![0; nodes.len()];
    for (row, (node, &target)) in nodes.iter().zip(targets).enumerate() {
        let place = &mut next[(node - span.first) as usize];
        dealt[*place as usize] = pack(target, row as u32);
        *place += 1;
    }
    drop(next);
    sort_runs(&mut dealt, &starts);
    dealt.par_iter().map(|&pair| pair as u32).collect()
}

/// Sorts each run by itself; halves are shared among the threads.
fn sort_runs<T: Ord + Send>(pairs: &mut [T], starts: &[u32]) {
    const RUNS_MIN: usize = 1 << 12;
    let runs = starts.len() - 1;
    if runs <= RUNS_MIN {
        let first = starts[0];
        for run in starts.windows(2) {
            pairs[(run[0] - first) as usize..(run[1] - first) as usize].sort_unstable();
        }
        return;
    }
    let middle = runs / 2;
    let (left, right) = pairs.split_at_mut((starts[middle] - starts[0]) as usize);
    rayon::join(|| sort_runs(left, &starts[..=middle]), || sort_runs(right, &starts[middle..]));
}

fn by_comparing(nodes: &[u32], targets: &[u32]) -> Vec<u32> {
    let pairs = nodes.iter().zip(targets).enumerate();
    let mut keyed: Vec<(u64, u32)> =
        pairs.map(|(row, (&node, &target))| (pack(node, target), row as u32)).collect();
    keyed.par_sort_unstable();
    keyed.into_iter().map(|(_, row)| row).collect()
}

fn unpacked(pairs: &[u64]) -> (Vec<u32>, Vec<u32>) {
    let high = pairs.iter().map(|&pair| (pair >> 32) as u32).collect();
    (high, pairs.iter().map(|&pair| pair as u32).collect())
}

fn pack(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn check(edges: &[(u32, u32)]) {
        let (nodes, targets): (Vec<u32>, Vec<u32>) = edges.iter().copied().unzip();
        let last: BTreeMap<(u32, u32), u32> =
            edges.iter().enumerate().map(|(row, &edge)| (edge, row as u32)).collect();
        let rows = order_edges(&nodes, &targets);
        let rows = rows.unwrap_or_else(|| (0..nodes.len() as u32).collect());
        assert_eq!(rows, last.values().copied().collect::<Vec<u32>>());
        let sorted = sort_edges(nodes, targets);
        let (nodes, targets): (Vec<u32>, Vec<u32>) = last.keys().copied().unzip();
        assert_eq!(sorted, (nodes.clone(), targets.clone()));
        let mut turned: Vec<(u32, u32)> = last.keys().map(|&(node, to)| (to, node)).collect();
        turned.sort_unstable();
        assert_eq!(reverse_edges(&nodes, &targets), turned.into_iter().unzip());
    }

    proptest! {
        #[test]
        fn as_a_plain_sort(
            near in prop::collection::vec((100u32..140, 7u32..60), 0..200),
            far in prop::collection::vec((any::<u32>(), any::<u32>()), 0..20),
        ) {
            check(&near);
            check(&far);
            check(&[near, far].concat());
        }
    }

    #[test]
    fn many_nodes() {
        let mut random = fastrand::Rng::with_seed(7);
        let edges: Vec<_> =
            (0..60_000).map(|_| (random.u32(0..20_000), random.u32(0..9))).collect();
        check(&edges);
    }
}
