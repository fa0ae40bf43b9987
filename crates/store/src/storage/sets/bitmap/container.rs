//! The members of a bitmap with the same upper 16 bits.

use bytemuck::{Pod, Zeroable};

/// A longer sorted container is no smaller than bits.
pub(in crate::storage::sets::bitmap) const SORTED_LEN_MAX: usize = 4096;
/// The words that hold the bits themselves.
pub(in crate::storage::sets::bitmap) const BIT_WORDS: usize = 1024;
/// The number of bits from one entry of the rank directory to the next.
pub(in crate::storage::sets::bitmap) const RANK_STEP: usize = 512;
pub(in crate::storage::sets::bitmap) const RANKS: usize = BIT_WORDS * 64 / RANK_STEP;
/// The words of bits and their rank directory.
pub(in crate::storage::sets::bitmap) const BITS_WORDS: usize = BIT_WORDS + RANKS / 4;

/// The form in which the members of a container are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::storage::sets::bitmap) enum Kind {
    Sorted = 0,
    Bits = 1,
    Range = 2,
    Runs = 3,
}

impl Kind {
    #[inline]
    pub(in crate::storage::sets::bitmap) fn of(number: u16) -> Option<Kind> {
        match number {
            0 => Some(Kind::Sorted),
            1 => Some(Kind::Bits),
            2 => Some(Kind::Range),
            3 => Some(Kind::Runs),
            _ => None,
        }
    }
}

/// The payload size of a container. `None` has none.
pub(in crate::storage::sets::bitmap) fn word_len(
    kind: Option<Kind>,
    cardinality: usize,
    runs: usize,
) -> usize {
    match kind {
        Some(Kind::Sorted) => cardinality.div_ceil(4),
        Some(Kind::Bits) => BITS_WORDS,
        Some(Kind::Runs) => runs,
        Some(Kind::Range) | None => 0,
    }
}

/// Members without a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(in crate::storage::sets::bitmap) struct Run {
    pub(in crate::storage::sets::bitmap) first: u16,
    pub(in crate::storage::sets::bitmap) last: u16,
    /// The number of members of the container before it.
    pub(in crate::storage::sets::bitmap) before: u16,
    /// Fills the word, always 0.
    pub(in crate::storage::sets::bitmap) filler: u16,
}

/// The members of one container, read where they lie.
#[derive(Debug, Clone, Copy)]
pub(in crate::storage::sets::bitmap) enum Container<'a> {
    Sorted(&'a [u16]),
    Bits(&'a [u64; BIT_WORDS], &'a [u16; RANKS]),
    Range(Run),
    Runs(&'a [Run]),
}

impl<'a> Container<'a> {
    #[inline]
    pub(in crate::storage::sets::bitmap) fn sorted(
        words: &'a [u64],
        cardinality: usize,
    ) -> Container<'a> {
        let lows: &[u16] = bytemuck::cast_slice(words);
        Container::Sorted(&lows[..cardinality])
    }

    #[inline]
    pub(in crate::storage::sets::bitmap) fn bits(words: &'a [u64]) -> Container<'a> {
        let (bits, ranks) = words.split_at(BIT_WORDS);
        let ranks = bytemuck::cast_slice(ranks).try_into().expect("the slice has BITS_WORDS words");
        Container::Bits(bits.try_into().expect("split there"), ranks)
    }

    #[inline]
    pub(in crate::storage::sets::bitmap) fn range(first: u16, len_less_one: u16) -> Container<'a> {
        let last = first.saturating_add(len_less_one);
        Container::Range(Run { first, last, before: 0, filler: 0 })
    }

    #[inline]
    pub(in crate::storage::sets::bitmap) fn runs(words: &'a [u64]) -> Container<'a> {
        Container::Runs(bytemuck::cast_slice(words))
    }

    #[inline]
    pub(in crate::storage::sets::bitmap) fn contains(&self, low: u16) -> bool {
        match self {
            Container::Sorted(lows) => lows.binary_search(&low).is_ok(),
            Container::Bits(words, _) => has_bit(words, low),
            Container::Range(run) => run.first <= low && low <= run.last,
            Container::Runs(runs) => {
                let run = runs.get(runs.partition_point(|run| run.last < low));
                run.is_some_and(|run| run.first <= low)
            }
        }
    }

    /// The number of members of the container that are smaller than `low`; `None` when `low` is no
    /// member.
    #[inline]
    pub(in crate::storage::sets::bitmap) fn row_of(&self, low: u16) -> Option<usize> {
        match self {
            Container::Sorted(lows) => lows.binary_search(&low).ok(),
            Container::Bits(words, ranks) => {
                has_bit(words, low).then(|| bits_rank(words, ranks, low))
            }
            Container::Range(run) => {
                (run.first <= low && low <= run.last).then(|| usize::from(low - run.first))
            }
            Container::Runs(runs) => {
                let run = runs.get(runs.partition_point(|run| run.last < low))?;
                // The first run that does not end before `low` has it, unless it begins after
                // it.
                let row = low.checked_sub(run.first)?;
                Some(usize::from(run.before) + usize::from(row))
            }
        }
    }

    /// The number of members of the container that are smaller than `low`.
    pub(in crate::storage::sets::bitmap) fn rank(&self, low: u16) -> usize {
        match self {
            Container::Sorted(lows) => lows.partition_point(|&member| member < low),
            Container::Bits(words, ranks) => bits_rank(words, ranks, low),
            // Counted in usize: the end of a run may be 65536.
            Container::Range(run) => (usize::from(low).min(usize::from(run.last) + 1))
                .saturating_sub(usize::from(run.first)),
            Container::Runs(runs) => {
                let below = &runs[..runs.partition_point(|run| run.first < low)];
                let Some(run) = below.last() else { return 0 };
                let end = usize::from(low).min(usize::from(run.last) + 1);
                usize::from(run.before) + end.saturating_sub(usize::from(run.first))
            }
        }
    }

    /// The number of members from `first` to `last`, both included.
    pub(in crate::storage::sets::bitmap) fn count_between(&self, first: u16, last: u16) -> usize {
        if let Container::Bits(words, _) = self
            && first / 64 == last / 64
        {
            // Nothing is before or after the word that matters.
            let index = usize::from(first / 64);
            return (words[index] & run_mask(index, first, last)).count_ones() as usize;
        }
        let below = self.rank(first);
        // Ranks of an invalid payload need not ascend; of any other one this never saturates.
        (self.rank(last) + usize::from(self.contains(last))).saturating_sub(below)
    }

    /// The member that has `row` smaller ones in the container.
    pub(in crate::storage::sets::bitmap) fn select(&self, row: usize) -> Option<u16> {
        match self {
            Container::Sorted(lows) => lows.get(row).copied(),
            Container::Bits(words, ranks) => bits_select(words, ranks, row),
            // Not compared with `run.last`: the caller has checked the row against the cardinality
            // in the directory.
            Container::Range(run) => u16::try_from(usize::from(run.first) + row).ok(),
            Container::Runs(runs) => {
                let below = &runs[..runs.partition_point(|run| usize::from(run.before) <= row)];
                let run = below.last()?;
                u16::try_from(usize::from(run.first) + row - usize::from(run.before)).ok()
            }
        }
    }

    /// True when the members are the lower halves of some nodes, which are as many.
    pub(in crate::storage::sets::bitmap) fn has_all(&self, nodes: &[u32]) -> bool {
        match self {
            Container::Bits(words, _) => are_bits(nodes, words),
            Container::Sorted(lows) => {
                nodes.len() == lows.len()
                    && nodes.iter().zip(*lows).all(|(node, low)| *node as u16 == *low)
            }
            Container::Range(run) => are_runs(nodes, std::slice::from_ref(run)),
            Container::Runs(runs) => are_runs(nodes, runs),
        }
    }

    /// The members as runs, where they are stored so.
    pub(in crate::storage::sets::bitmap) fn as_runs(&self) -> Option<&[Run]> {
        match self {
            Container::Range(run) => Some(std::slice::from_ref(run)),
            Container::Runs(runs) => Some(runs),
            Container::Sorted(_) | Container::Bits(..) => None,
        }
    }
}

/// True when the bits are the lower halves of nodes: each word is put together from as many nodes
/// as it has bits.
fn are_bits(nodes: &[u32], words: &[u64; BIT_WORDS]) -> bool {
    let mut rest = nodes;
    words.iter().enumerate().all(|(index, &word)| {
        let Some((here, behind)) = rest.split_at_checked(word.count_ones() as usize) else {
            return false;
        };
        rest = behind;
        // Without an early end the loop has no branches that are hard to foresee.
        let put_together = here.iter().fold((0_u64, true), |(bits, lies_here), node| {
            let low = usize::from(*node as u16);
            (bits | 1 << (low % 64), lies_here & (low / 64 == index))
        });
        put_together == (word, true)
    }) && rest.is_empty()
}

/// True when runs are the lower halves of nodes.
fn are_runs(nodes: &[u32], runs: &[Run]) -> bool {
    let mut rest = nodes;
    let all = runs.iter().all(|run| {
        let len = usize::from(run.last.saturating_sub(run.first)) + 1;
        let Some((here, behind)) = rest.split_at_checked(len) else { return false };
        rest = behind;
        let lows = u32::from(run.first)..;
        here.iter().zip(lows).fold(true, |all, (node, low)| all & (*node & 0xffff == low))
    });
    all && rest.is_empty()
}

/// The rank of every 512th bit.
pub(in crate::storage::sets::bitmap) fn ranks_of(words: &[u64; BIT_WORDS]) -> [u16; RANKS] {
    let mut ranks = [0; RANKS];
    let mut rank = 0;
    for (slot, step) in ranks.iter_mut().zip(words.chunks_exact(RANK_STEP / 64)) {
        // The last rank counts 127 of 128 steps, at most 65024 bits.
        *slot = rank as u16;
        rank += count_ones(step);
    }
    ranks
}

/// The number of bits set.
pub(in crate::storage::sets::bitmap) fn count_ones(words: &[u64]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

/// Sets the bits from `first` to `last`.
pub(in crate::storage::sets::bitmap) fn set_bits(
    words: &mut [u64; BIT_WORDS],
    first: u16,
    last: u16,
) {
    let start = usize::from(first / 64);
    for (index, word) in words[..=usize::from(last / 64)].iter_mut().enumerate().skip(start) {
        *word |= run_mask(index, first, last);
    }
}

/// The bits of the word at `index` that lie between `first` and `last`, which that word touches.
pub(in crate::storage::sets::bitmap) fn run_mask(index: usize, first: u16, last: u16) -> u64 {
    // Neither shift reaches 64, which would be an overflow.
    let above = if index == usize::from(first / 64) { u64::MAX << (first % 64) } else { u64::MAX };
    let below =
        if index == usize::from(last / 64) { u64::MAX >> (63 - last % 64) } else { u64::MAX };
    above & below
}

/// Writes the numbers of the bits set after `lows`, ascending.
pub(in crate::storage::sets::bitmap) fn push_bits_of(
    words: &[u64; BIT_WORDS],
    lows: &mut Vec<u16>,
) {
    for (index, &word) in words.iter().enumerate() {
        let mut word = word;
        while word != 0 {
            // The lowest bit that is set, which the line after takes away.
            lows.push((index * 64) as u16 + word.trailing_zeros() as u16);
            word &= word - 1;
        }
    }
}

#[inline]
fn has_bit(words: &[u64; BIT_WORDS], low: u16) -> bool {
    words[usize::from(low / 64)] >> (low % 64) & 1 != 0
}

#[inline]
fn bits_rank(words: &[u64; BIT_WORDS], ranks: &[u16; RANKS], low: u16) -> usize {
    let low = usize::from(low);
    let mut rank = usize::from(ranks[low / RANK_STEP]);
    // At most seven complete words of the step, and the lower part of one more.
    for &word in &words[low / RANK_STEP * (RANK_STEP / 64)..low / 64] {
        rank += word.count_ones() as usize;
    }
    rank + (words[low / 64] & ((1 << (low % 64)) - 1)).count_ones() as usize
}

fn bits_select(words: &[u64; BIT_WORDS], ranks: &[u16; RANKS], row: usize) -> Option<u16> {
    // Ranks ascend, so the step before the first greater rank has the bit. It is among the eight
    // words of that step: the loop goes further only where the ranks are invalid.
    let step = ranks.partition_point(|&rank| usize::from(rank) <= row).checked_sub(1)?;
    let mut left = row - usize::from(ranks[step]);
    let start = step * (RANK_STEP / 64);
    for (index, &word) in words.iter().enumerate().skip(start) {
        let ones = word.count_ones() as usize;
        if left < ones {
            return Some((index * 64) as u16 + select_bit(word, left) as u16);
        }
        left -= ones;
    }
    None
}

/// The number of the set bit that has `row` set ones below it.
fn select_bit(word: u64, row: usize) -> u32 {
    let mut word = word;
    for _ in 0..row {
        word &= word - 1;
    }
    word.trailing_zeros()
}
