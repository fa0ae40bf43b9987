//! What changed since a column was built, merged with what is stored, batch by batch.

use crate::exec::cost;
use crate::storage::{EvenSearch, bits_where, gallop, is_run, vectorized};
use std::sync::{Arc, OnceLock};

/// What nodes have that changed since their column was built, ascending by node.
pub(crate) struct Overlay<T> {
    pub(in crate::exec::columns) changes: Arc<Vec<(u32, T)>>,
    /// The number of changes before those of the next batch.
    done: usize,
    /// Made for the first batch that is prefiltered, and common to all forks.
    prefilter: Arc<OnceLock<Prefilter>>,
}

impl<T: Copy> Overlay<T> {
    /// An overlay of changes, which ascend by node.
    pub(crate) fn new(changes: Arc<Vec<(u32, T)>>) -> Overlay<T> {
        Overlay { changes, done: 0, prefilter: Arc::default() }
    }

    /// The same changes for batches from a node on.
    pub(crate) fn fork(&self, first: u32) -> Overlay<T> {
        let done = self.changes.partition_point(|(node, _)| *node < first);
        Overlay { changes: Arc::clone(&self.changes), done, prefilter: Arc::clone(&self.prefilter) }
    }

    /// Whether there are no changes.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The bytes that the changes take.
    pub(crate) fn byte_len(&self) -> usize {
        size_of::<(u32, T)>() * self.changes.len()
    }

    /// The number of changes that were passed over.
    pub(in crate::exec) fn position(&self) -> usize {
        self.done
    }

    /// Goes back to where so many changes were passed over.
    pub(in crate::exec) fn go_back(&mut self, position: usize) {
        self.done = position;
    }

    /// Whether no node from the first to the last of a batch changed; the changes before it are
    /// passed over.
    pub(crate) fn is_clean(&mut self, nodes: &[u32]) -> bool {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return true };
        // Batches ascend, so what lies before this one is passed once in all of the walk.
        let rest = &self.changes[self.done..];
        self.done += rest.iter().take_while(|(node, _)| *node < first).count();
        self.changes.get(self.done).is_none_or(|(node, _)| last < *node)
    }

    /// Calls `visit` with the position of each node of a batch that changed, and what it has now.
    /// Changes of other nodes up to the last of the batch are passed over.
    pub(crate) fn for_each(&mut self, nodes: &[u32], mut visit: impl FnMut(usize, T)) {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return };
        let start = self.done + gallop(&self.changes[self.done..], |(node, _)| *node < first);
        let end = start + gallop(&self.changes[start..], |(node, _)| *node <= last);
        self.done = end;
        let changes = &self.changes[start..end];
        if is_run(nodes) {
            changes.iter().for_each(|(node, change)| visit((node - first) as usize, *change));
        } else if changes.len().saturating_mul(SEARCH_RATIO) < nodes.len() {
            look_up_changes(nodes, changes, visit);
        } else if nodes.len() < PREFILTERED_MIN
            || nodes.len().saturating_mul(SEARCH_RATIO) < self.changes.len()
        {
            // Also where few of the changes are near: a prefilter is made of all of them.
            look_up_nodes(nodes, changes, visit);
        } else {
            self.prefilter.get_or_init(|| Prefilter::of(&self.changes)).sift(nodes, changes, visit);
        }
    }
}

/// Nodes are prefiltered, unless there are so many times more of them than of changes, or the other
/// way round: a search for each of the fewer ones costs less then.
const SEARCH_RATIO: usize = cost::ENTRY.per(cost::SCAN);

/// For fewer nodes no prefilter is made: clearing its bits costs as much as searching for some
/// fifty.
const PREFILTERED_MIN: usize = cost::SETUP.per(cost::GATHER);

/// A prefilter of nodes that may have changed: a bit for the lower bits of each that did, with so
/// many bits that few nodes are false positives.
enum Prefilter {
    /// So many bits as remain in the nearest cache with what is read. Their number is constant, so
    /// that a loop over nodes becomes vector instructions.
    Near(Box<[u32; NEAR_WORDS]>),
    /// More bits for more changes; a power of two of words.
    Far(Box<[u32]>),
}

/// So many words stay in the nearest cache: 32 KiB.
const NEAR_WORDS: usize = cost::CACHE_BYTES / size_of::<u32>();

/// So many bits there are for each change, at least.
const BITS: usize = 16;

/// Nodes that are prefiltered at once.
const BATCH: usize = 64;

impl Prefilter {
    fn of<T>(changes: &[(u32, T)]) -> Prefilter {
        let words = (changes.len() * BITS / 32).next_power_of_two().max(NEAR_WORDS);
        let mut bits = vec![0; words].into_boxed_slice();
        for (node, _) in changes {
            bits[(*node as usize / 32) & (words - 1)] |= 1 << (node % 32);
        }
        match bits.try_into() {
            Ok(near) => Prefilter::Near(near),
            Err(far) => Prefilter::Far(far),
        }
    }

    /// A bit for each node that may have changed.
    fn of_batch(&self, nodes: &[u32; BATCH]) -> u64 {
        match self {
            Prefilter::Near(words) => vectorized(|| {
                bits_where(nodes, |node| {
                    words[node as usize / 32 % NEAR_WORDS] >> (node % 32) & 1 == 1
                })
            }),
            Prefilter::Far(words) => bits_where(nodes, |node| {
                words[(node as usize / 32) & (words.len() - 1)] >> (node % 32) & 1 == 1
            }),
        }
    }

    /// Calls `visit` with the position of each node that changed, and what it has now. O(nodes +
    /// those of them that changed · log changes between two), in steps without branches for most
    /// nodes: a merge of both needs three times as long, as each of its steps waits for the one
    /// before.
    fn sift<T: Copy>(&self, nodes: &[u32], changes: &[(u32, T)], mut visit: impl FnMut(usize, T)) {
        let (choices, few) = nodes.as_chunks::<BATCH>();
        let mut rest = changes;
        for (choice, nodes) in choices.iter().enumerate() {
            let mut left = self.of_batch(nodes);
            while left != 0 {
                let position = left.trailing_zeros() as usize;
                left &= left - 1;
                if let Some(change) = next_change(&mut rest, nodes[position]) {
                    visit(choice * BATCH + position, change);
                }
            }
        }
        look_up_nodes(few, rest, |position, change| {
            visit(choices.len() * BATCH + position, change)
        });
    }
}

/// What a node has that changed. The changes before it are passed over.
#[inline]
fn next_change<T: Copy>(rest: &mut &[(u32, T)], node: u32) -> Option<T> {
    *rest = &rest[gallop(rest, |(changed, _)| *changed < node)..];
    rest.first().filter(|(changed, _)| *changed == node).map(|(_, change)| *change)
}

/// As [`Prefilter::sift`], by a search for each node.
fn look_up_nodes<T: Copy>(nodes: &[u32], changes: &[(u32, T)], mut visit: impl FnMut(usize, T)) {
    let mut rest = changes;
    for (position, node) in nodes.iter().enumerate() {
        if let Some(change) = next_change(&mut rest, *node) {
            visit(position, change);
        }
    }
}

/// As [`Prefilter::sift`], by a search for each change, which begins where its node would be if the
/// nodes lay evenly.
fn look_up_changes<T: Copy>(nodes: &[u32], changes: &[(u32, T)], mut visit: impl FnMut(usize, T)) {
    let mut search = EvenSearch::of(nodes);
    for &(node, change) in changes {
        if let Some(position) = search.find(node) {
            visit(position, change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Overlay;
    use crate::exec::columns::batches::BATCH;
    use fastrand::Rng;
    use std::sync::Arc;

    #[test]
    fn changes_meet_their_nodes() {
        let mut rng = Rng::with_seed(9);
        for round in 0..400 {
            let mut some = |most: u32| -> Vec<u32> {
                let step = [1, 2, 9, 300][rng.usize(..4)];
                let nodes =
                    (0..rng.u32(..most)).map(|position| 40 + position * step + rng.u32(..step));
                nodes.filter(|node| node % 61 != 0).collect()
            };
            let (nodes, changed) = (some(9_000), some([9, 300, 9_000][round % 3]));
            let changes: Vec<(u32, u32)> = changed.iter().map(|node| (*node, node + 1)).collect();
            let mut overlay = Overlay::new(Arc::new(changes));
            for batch in nodes.chunks([3, 60, BATCH][round % 7 % 3]) {
                let mut result = Vec::new();
                overlay.for_each(batch, |position, change| result.push((position, change)));
                let is_changed = |(_, node): &(usize, &u32)| changed.binary_search(node).is_ok();
                let expected = batch.iter().enumerate().filter(is_changed);
                let expected: Vec<(usize, u32)> =
                    expected.map(|(position, node)| (position, node + 1)).collect();
                assert_eq!(result, expected, "round {round}");
            }
        }
    }
}
