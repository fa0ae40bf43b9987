//! The rows of many nodes at once as runs: nodes whose rows lie contiguously.
//!
//! Nodes and members are compared word by word, 64 ids at a time:
//!
//! ```text
//!   nodes     1 1 1 0 1 1 1 1      the ids in which they differ are looked at one by one:
//!   members   1 1 1 0 1 0 1 1      here the sixth, a node without a row
//!   runs      |---3---+-1-|x|-2-|
//! ```
//!
//! Where a word has the same ids of both the nodes are the members, whatever gaps there are, and
//! their rows go on without one. So nodes of a set that is nearly that of the members cost a few
//! instructions for 64 of them, and some for each id in which the two differ.

use crate::storage::sets::bitmap::container::{BIT_WORDS, Container, Run, run_mask};
use crate::storage::sets::bitmap::{FrozenBitmap, NO_ROW, join, split};
use crate::storage::sets::sorted::gallop;

/// Nodes contiguous that have no rows, or rows contiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowRun {
    /// The row of the first node; [`NO_ROW`] where none of them has one.
    pub(crate) row: u32,
    /// The number of nodes.
    pub(crate) len: u32,
}

impl FrozenBitmap {
    /// Lists the rows of nodes, which ascend without repeats, as runs in their order, and returns
    /// for how many of the nodes: where that would be many more than `most` runs, those that are
    /// left are not looked at.
    pub(crate) fn row_runs(&self, nodes: &[u32], most: usize, runs: &mut Vec<RowRun>) -> usize {
        runs.clear();
        let mut done = 0;
        while let Some(&first) = nodes.get(done).filter(|_| runs.len() <= most) {
            let (key, _) = split(first);
            let (rest, last) = (&nodes[done..], join(key, u16::MAX));
            // Most batches lie in one container.
            let len = match rest[rest.len() - 1] <= last {
                true => rest.len(),
                false => gallop(rest, |node| *node <= last),
            };
            done += match self.find_key(key) {
                Some(index) => {
                    let before = self.directory.get(index).before;
                    self.container(index).row_runs(&rest[..len], before, most, runs)
                }
                None => {
                    add(runs, NO_ROW, len as u32);
                    len
                }
            };
        }
        done
    }
}

/// Puts nodes with their rows after others.
fn add(runs: &mut Vec<RowRun>, row: u32, len: u32) {
    if len == 0 {
        return;
    }
    if let Some(last) = runs.last_mut() {
        let goes_on = match last.row {
            NO_ROW => row == NO_ROW,
            before => row == before.wrapping_add(last.len),
        };
        if goes_on {
            last.len += len;
            return;
        }
    }
    runs.push(RowRun { row, len });
}

impl Container<'_> {
    /// As [`FrozenBitmap::row_runs`], of nodes whose lower halves are looked at alone; `before`
    /// members are in other containers.
    fn row_runs(&self, nodes: &[u32], before: u32, most: usize, runs: &mut Vec<RowRun>) -> usize {
        let mut words = Words::of(self);
        let (mut position, mut next, mut row) = (0, BIT_WORDS, before);
        while let Some(&node) = nodes.get(position).filter(|_| runs.len() <= most) {
            let index = usize::from(node as u16) / 64;
            // The rows before this word are counted; words without a node in between are skipped.
            if index != next {
                row = before.wrapping_add(self.rank((index * 64) as u16) as u32);
            }
            let (mine, end) = bits_of(nodes, position, index);
            let theirs = words.at(index);
            row = add_word(runs, mine, theirs, row, (end - position) as u32);
            (position, next) = (end, index + 1);
        }
        position
    }
}

/// The lower halves of nodes from `position` on that lie in the word at `index`, as bits, and the
/// position after them.
#[inline]
fn bits_of(nodes: &[u32], position: usize, index: usize) -> (u64, usize) {
    let lies_here = |node: &u32| usize::from(*node as u16) / 64 == index;
    if nodes.get(position + 63).is_some_and(lies_here) {
        // So many different ones are all that there are.
        return (u64::MAX, position + 64);
    }
    let (mut bits, mut end) = (0, position);
    while let Some(node) = nodes.get(end).filter(|node| lies_here(node)) {
        bits |= 1 << (node % 64);
        end += 1;
    }
    (bits, end)
}

/// Adds the nodes of a word, `count` of them, of whose members the first one has `row`. Returns the
/// row after its members.
#[inline]
fn add_word(runs: &mut Vec<RowRun>, mine: u64, theirs: u64, row: u32, count: u32) -> u32 {
    if mine == theirs {
        add(runs, row, count);
        return row.wrapping_add(count);
    }
    if mine & theirs == 0 {
        add(runs, NO_ROW, count);
        return row.wrapping_add(theirs.count_ones());
    }
    let (mut row, mut left) = (row, u64::MAX);
    let mut differ = mine ^ theirs;
    while differ != 0 {
        let bit = differ & differ.wrapping_neg();
        // What both have below it, and above the bit before.
        let same = (mine & left & (bit - 1)).count_ones();
        add(runs, row, same);
        row = row.wrapping_add(same);
        match mine & bit {
            0 => row = row.wrapping_add(1),
            _ => add(runs, NO_ROW, 1),
        }
        // The bits above this one.
        left = !(bit | (bit - 1));
        differ &= left;
    }
    let same = (mine & left).count_ones();
    add(runs, row, same);
    row.wrapping_add(same)
}

/// The members of a container as words of bits, which are read in ascending order.
pub(in crate::storage::sets::bitmap) enum Words<'a> {
    Bits(&'a [u64; BIT_WORDS]),
    /// The runs that are not passed yet.
    Runs(&'a [Run]),
    /// The lower halves that are not passed yet.
    Sorted(&'a [u16]),
}

impl<'a> Words<'a> {
    pub(in crate::storage::sets::bitmap) fn of(container: &'a Container<'a>) -> Words<'a> {
        match container {
            Container::Bits(words, _) => Words::Bits(words),
            Container::Range(run) => Words::Runs(std::slice::from_ref(run)),
            Container::Runs(runs) => Words::Runs(runs),
            Container::Sorted(lows) => Words::Sorted(lows),
        }
    }

    /// The word at a position, not below the last one read.
    #[inline]
    pub(in crate::storage::sets::bitmap) fn at(&mut self, index: usize) -> u64 {
        let (first, last) = ((index * 64) as u16, (index * 64 + 63) as u16);
        match self {
            Words::Bits(words) => words[index],
            Words::Runs(runs) => {
                *runs = &runs[gallop(runs, |run| run.last < first)..];
                let here = runs.iter().take_while(|run| run.first <= last);
                here.fold(0, |word, run| {
                    word | run_mask(index, run.first.max(first), run.last.min(last))
                })
            }
            Words::Sorted(lows) => {
                *lows = &lows[gallop(lows, |low| *low < first)..];
                let here = lows.iter().take_while(|low| **low <= last);
                here.fold(0, |word, low| word | 1 << (low % 64))
            }
        }
    }
}
