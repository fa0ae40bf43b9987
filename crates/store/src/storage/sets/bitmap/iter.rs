//! Walks a bitmap, ascending.

use crate::storage::sets::bitmap::FrozenBitmap;
use crate::storage::sets::bitmap::container::{BIT_WORDS, Container, Run};
use crate::storage::sets::span_bits::list_word;

/// The members of a [`FrozenBitmap`], ascending.
#[derive(Debug, Clone)]
pub struct FrozenIter<'a> {
    bitmap: &'a FrozenBitmap,
    /// The container after the one that is being walked.
    next_index: usize,
    /// The upper halves of the container that is being walked.
    base: u32,
    members: Members<'a>,
}

/// The members of a container that are still to come.
#[derive(Debug, Clone)]
enum Members<'a> {
    Sorted(std::slice::Iter<'a, u16>),
    Bits {
        words: &'a [u64; BIT_WORDS],
        index: usize,
        /// The bits of the word at `index` that are still to come.
        word: u64,
    },
    Runs {
        runs: &'a [Run],
        /// What is still to come of the run before `runs`.
        next: u32,
        end: u32,
    },
}

impl<'a> FrozenIter<'a> {
    /// A walk from the beginning of the container at `index` on.
    pub(in crate::storage::sets::bitmap) fn new(
        bitmap: &'a FrozenBitmap,
        index: usize,
    ) -> FrozenIter<'a> {
        FrozenIter { bitmap, next_index: index, base: 0, members: Members::Sorted([].iter()) }
    }

    /// Enters the next container where its members are at least `least`.
    pub(in crate::storage::sets::bitmap) fn enter_at(&mut self, least: u16) {
        if self.enter() {
            self.members.skip_to(least);
        }
    }

    /// Enters the next container. False when there is none.
    #[inline]
    fn enter(&mut self) -> bool {
        let index = self.next_index;
        let Some(entry) = self.bitmap.directory.as_slice().get(index) else { return false };
        self.base = u32::from(entry.key) << 16;
        self.members = Members::of(self.bitmap.container(index));
        self.next_index += 1;
        true
    }

    /// Adds the members up to `last` to a list.
    pub(in crate::storage::sets::bitmap) fn list_to(mut self, last: u32, list: &mut Vec<u32>) {
        loop {
            let base = self.base;
            if last <= base | 0xffff {
                break;
            }
            self.members.list_to(u16::MAX, base, list);
            if !self.enter() {
                return;
            }
        }
        let base = self.base;
        // Where `last` lies in a gap between containers, the one that was entered is after it and
        // has nothing to list.
        if base <= last {
            self.members.list_to((last - base) as u16, base, list);
        }
    }

    /// The number of members to come: O(1), O(runs) in a container of runs.
    fn left(&self) -> usize {
        let entered = self.bitmap.directory.as_slice().get(self.next_index);
        let before = entered.map_or(self.bitmap.len, |entry| entry.before as usize);
        let current = match &self.members {
            Members::Sorted(lows) => lows.len(),
            Members::Bits { words, index, word } => {
                // Those of the words before, and those of this word that were given already. Not
                // below 0: there are bits to be walked only after the first container that was
                // entered.
                let gone = self.bitmap.container(self.next_index - 1).rank((index * 64) as u16)
                    + (words[*index].count_ones() - word.count_ones()) as usize;
                let entry = self.bitmap.directory.get(self.next_index - 1);
                entry.cardinality().saturating_sub(gone)
            }
            Members::Runs { runs, next, end } => {
                let full = |run: &Run| usize::from(run.last.saturating_sub(run.first)) + 1;
                (end - next) as usize + runs.iter().map(full).sum::<usize>()
            }
        };
        current + self.bitmap.len - before
    }
}

impl Iterator for FrozenIter<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        loop {
            if let Some(low) = self.members.next() {
                return Some(self.base | low);
            }
            if !self.enter() {
                return None;
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.left();
        (left, Some(left))
    }

    fn fold<B, F: FnMut(B, u32) -> B>(mut self, first: B, mut step: F) -> B {
        let mut accumulated = first;
        loop {
            // Read once for each container, so that the loop over its members has it in a register.
            let base = self.base;
            accumulated = self
                .members
                .accumulate(accumulated, |accumulated, low| step(accumulated, base | low));
            if !self.enter() {
                return accumulated;
            }
        }
    }
}

impl<'a> Members<'a> {
    #[inline]
    fn of(container: Container<'a>) -> Members<'a> {
        match container {
            Container::Sorted(lows) => Members::Sorted(lows.iter()),
            Container::Bits(words, _) => Members::Bits { words, index: 0, word: words[0] },
            Container::Range(run) => {
                Members::Runs { runs: &[], next: run.first.into(), end: u32::from(run.last) + 1 }
            }
            Container::Runs(runs) => Members::Runs { runs, next: 0, end: 0 },
        }
    }

    /// Drops the members below `least`.
    fn skip_to(&mut self, least: u16) {
        match self {
            Members::Sorted(lows) => {
                let lows = lows.as_slice();
                *self = Members::Sorted(lows[lows.partition_point(|&low| low < least)..].iter());
            }
            Members::Bits { words, index, word } => {
                *index = usize::from(least / 64);
                *word = words[*index] & (u64::MAX << (least % 64));
            }
            Members::Runs { runs, next, end } => {
                // Where the run that was entered goes on beyond `least`, none is skipped.
                if *end <= u32::from(least) {
                    *runs = &runs[runs.partition_point(|run| run.last < least)..];
                    step_run(runs, next, end);
                }
                *next = (*next).max(least.into()).min(*end);
            }
        }
    }

    /// Adds the members up to `last` to a list, each with `base` added: those without gaps between
    /// them as ranges.
    fn list_to(&self, last: u16, base: u32, list: &mut Vec<u32>) {
        match *self {
            Members::Sorted(ref lows) => {
                let lows = lows.as_slice();
                let end = lows.partition_point(|&low| low <= last);
                list.extend(lows[..end].iter().map(|&low| base | u32::from(low)));
            }
            Members::Bits { words, index: first, word } => {
                let end = usize::from(last / 64);
                for (index, &full) in words.iter().enumerate().take(end + 1).skip(first) {
                    let mut word = if index == first { word } else { full };
                    if index == end {
                        word &= u64::MAX >> (63 - last % 64);
                    }
                    list_word(word, base | (index as u32 * 64), list);
                }
            }
            Members::Runs { mut runs, mut next, mut end } => loop {
                list.extend((next..end.min(u32::from(last) + 1)).map(|low| base | low));
                if u32::from(last) < end || !step_run(&mut runs, &mut next, &mut end) {
                    break;
                }
            },
        }
    }

    fn accumulate<B>(&self, first: B, mut step: impl FnMut(B, u32) -> B) -> B {
        let mut accumulated = first;
        match *self {
            Members::Sorted(ref lows) => {
                for &low in lows.as_slice() {
                    accumulated = step(accumulated, low.into());
                }
            }
            Members::Bits { words, index, word } => {
                accumulated = accumulate_word(accumulated, word, index as u32 * 64, &mut step);
                for (index, &word) in words.iter().enumerate().skip(index + 1) {
                    accumulated = accumulate_word(accumulated, word, index as u32 * 64, &mut step);
                }
            }
            Members::Runs { mut runs, mut next, mut end } => loop {
                accumulated = (next..end).fold(accumulated, &mut step);
                if !step_run(&mut runs, &mut next, &mut end) {
                    break;
                }
            },
        }
        accumulated
    }
}

impl Iterator for Members<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        match self {
            Members::Sorted(lows) => lows.next().map(|&low| low.into()),
            Members::Bits { words, index, word } => {
                while *word == 0 {
                    *word = *words.get(*index + 1)?;
                    *index += 1;
                }
                let low = *index as u32 * 64 + word.trailing_zeros();
                // Takes away the lowest bit that is set, the one that was just counted.
                *word &= *word - 1;
                Some(low)
            }
            Members::Runs { runs, next, end } => {
                if *next == *end && !step_run(runs, next, end) {
                    return None;
                }
                let low = *next;
                *next += 1;
                Some(low)
            }
        }
    }
}

/// Goes to the next run that has members. Runs of a file that overlap are walked once, so a
/// container never yields more than 65536 members.
fn step_run(runs: &mut &[Run], next: &mut u32, end: &mut u32) -> bool {
    while let [run, rest @ ..] = *runs {
        *runs = rest;
        // Not before the end of the run before, even where a file says so.
        *next = u32::from(run.first).max(*end);
        *end = (u32::from(run.last) + 1).max(*next);
        if *next < *end {
            return true;
        }
    }
    *next = *end;
    false
}

fn accumulate_word<B>(first: B, word: u64, base: u32, step: &mut impl FnMut(B, u32) -> B) -> B {
    let mut accumulated = first;
    let mut word = word;
    while word != 0 {
        accumulated = step(accumulated, base + word.trailing_zeros());
        word &= word - 1;
    }
    accumulated
}
