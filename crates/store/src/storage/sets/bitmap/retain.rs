//! Reduces sorted lists of nodes to the members of a bitmap, or to the others.

use crate::storage::sets::bitmap::container::{Container, Run};
use crate::storage::sets::bitmap::{FrozenBitmap, join, split};
use crate::storage::sets::sorted::gallop;
use std::ops::Range;

/// When a list has more than this many times as many numbers as the set has members, the members
/// are searched for in the list.
const SKEW: usize = 16;

impl FrozenBitmap {
    /// Retains the members of this set in an ascending list. O(list), or O(members · log) if the
    /// list is much longer.
    pub fn retain_in(&self, nodes: &mut Vec<u32>) {
        if self.len * SKEW < nodes.len() {
            return self.retain_by_search(nodes);
        }
        self.retain(nodes, true);
    }

    /// Drops the members of this set from an ascending list. O(list).
    pub fn retain_not_in(&self, nodes: &mut Vec<u32>) {
        self.retain(nodes, false);
    }

    /// Retains the members, or the others, in an ascending list, container by container.
    fn retain(&self, nodes: &mut Vec<u32>, retains: bool) {
        let (mut read, mut retained) = (0, 0);
        while let Some(&first) = nodes.get(read) {
            let (key, _) = split(first);
            let last = join(key, u16::MAX);
            let end = read + gallop(&nodes[read..], |node| *node <= last);
            retained = match self.find_key(key) {
                Some(index) => self.container(index).retain(nodes, read..end, retained, retains),
                None if retains => retained,
                None => moved(nodes, read..end, retained),
            };
            read = end;
        }
        nodes.truncate(retained);
    }

    /// Answers [`FrozenBitmap::contains`] for ascending numbers.
    pub(in crate::storage::sets::bitmap) fn prober(&self) -> Prober<'_> {
        Prober { bitmap: self, key: None, container: Container::Sorted(&[]) }
    }

    fn retain_by_search(&self, nodes: &mut Vec<u32>) {
        let (mut read, mut retained) = (0, 0);
        for member in self.iter_from(nodes.first().copied().unwrap_or_default()) {
            read += gallop(&nodes[read..], |&node| node < member);
            match nodes.get(read) {
                None => break,
                Some(&node) if node == member => {
                    // The write position never passes the read position, so the list is shortened
                    // in place.
                    nodes[retained] = member;
                    retained += 1;
                    read += 1;
                }
                Some(_) => {}
            }
        }
        nodes.truncate(retained);
    }
}

/// Moves a part of a list to before it, and returns the position after it.
fn moved(nodes: &mut [u32], part: Range<usize>, to: usize) -> usize {
    let len = part.len();
    nodes.copy_within(part, to);
    to + len
}

impl Container<'_> {
    /// Moves those of a part of a list that are members, or the others, to the position `to` before
    /// it. Their lower halves are looked at alone. Returns the position after them.
    fn retain(&self, nodes: &mut [u32], part: Range<usize>, to: usize, retains: bool) -> usize {
        let mut retained = to;
        match self {
            // Without a branch, which would be as hard to foresee as the members are.
            Container::Bits(words, _) => {
                for at in part {
                    let node = nodes[at];
                    nodes[retained] = node;
                    let low = usize::from(node as u16);
                    retained += usize::from((words[low / 64] >> (low % 64) & 1 == 1) == retains);
                }
            }
            Container::Range(run) => {
                let start =
                    part.start + gallop(&nodes[part.clone()], |it| (*it as u16) < run.first);
                let end = start + gallop(&nodes[start..part.end], |it| *it as u16 <= run.last);
                retained = match retains {
                    true => moved(nodes, start..end, retained),
                    false => {
                        let before = moved(nodes, part.start..start, retained);
                        moved(nodes, end..part.end, before)
                    }
                };
            }
            Container::Sorted(lows) => {
                let mut lows: &[u16] = lows;
                for at in part {
                    let node = nodes[at];
                    // Nodes ascend, so passed members are not needed again.
                    lows = &lows[gallop(lows, |&member| member < node as u16)..];
                    nodes[retained] = node;
                    retained += usize::from((lows.first() == Some(&(node as u16))) == retains);
                }
            }
            Container::Runs(runs) => {
                let mut runs: &[Run] = runs;
                for at in part {
                    let node = nodes[at];
                    runs = &runs[gallop(runs, |run| run.last < node as u16)..];
                    let is_member = runs.first().is_some_and(|run| run.first <= node as u16);
                    nodes[retained] = node;
                    retained += usize::from(is_member == retains);
                }
            }
        }
        retained
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
                // Numbers ascend, so skipped members are not needed again.
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
