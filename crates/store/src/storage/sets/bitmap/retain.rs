//! Reduces sorted lists of nodes to the members of a bitmap, or to the others.

use crate::storage::sets::bitmap::container::Container;
use crate::storage::sets::bitmap::{FrozenBitmap, split};
use crate::storage::sets::sorted::gallop;

/// When a list has more than this many times as many numbers as the set has members, the members are searched for in the
/// list.
const SKEW: usize = 16;

impl FrozenBitmap {
    /// Keeps the members of this set in an ascending list. O(list), or O(members · log) when the
    /// list is much longer.
    pub fn retain_in(&self, nodes: &mut Vec<u32>) {
        if self.len * SKEW < nodes.len() {
            return self.retain_by_search(nodes);
        }
        let mut prober = self.prober();
        nodes.retain(|&node| prober.contains(node));
    }

    /// Drops the members of this set from an ascending list. O(list).
    pub fn retain_not_in(&self, nodes: &mut Vec<u32>) {
        let mut prober = self.prober();
        nodes.retain(|&node| !prober.contains(node));
    }

    /// Answers [`FrozenBitmap::contains`] for ascending numbers.
    pub(in crate::storage::sets::bitmap) fn prober(&self) -> Prober<'_> {
        Prober { bitmap: self, key: None, container: Container::Sorted(&[]) }
    }

    fn retain_by_search(&self, nodes: &mut Vec<u32>) {
        let (mut read, mut kept) = (0, 0);
        for member in self.iter_from(nodes.first().copied().unwrap_or_default()) {
            read += gallop(&nodes[read..], |&node| node < member);
            match nodes.get(read) {
                None => break,
                Some(&node) if node == member => {
                    // What is kept never outruns what is read, so the list is shortened in place.
                    nodes[kept] = member;
                    kept += 1;
                    read += 1;
                }
                Some(_) => {}
            }
        }
        nodes.truncate(kept);
    }
}

/// Answers whether ascending numbers are members, each from where the one before was.
pub(in crate::storage::sets::bitmap) struct Prober<'a> {
    bitmap: &'a FrozenBitmap,
    /// The key of the number before.
    key: Option<u16>,
    /// The members of the container with that key that are not yet passed.
    container: Container<'a>,
}

impl Prober<'_> {
    #[inline]
    pub(in crate::storage::sets::bitmap) fn contains(&mut self, value: u32) -> bool {
        let (key, low) = split(value);
        if self.key != Some(key) {
            self.enter(key);
        }
        match &mut self.container {
            Container::Sorted(lows) => {
                // Numbers ascend, so what was skipped is not asked for again.
                *lows = &lows[gallop(lows, |&member| member < low)..];
                lows.first() == Some(&low)
            }
            Container::Runs(runs) => {
                *runs = &runs[gallop(runs, |run| run.last < low)..];
                runs.first().is_some_and(|run| run.first <= low)
            }
            container => container.contains(low),
        }
    }

    fn enter(&mut self, key: u16) {
        self.key = Some(key);
        self.container = match self.bitmap.find_key(key) {
            Some(index) => self.bitmap.container(index),
            None => Container::Sorted(&[]),
        };
    }
}
