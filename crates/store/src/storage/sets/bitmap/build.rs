//! Builds bitmaps, each container in a form that is fast to read and compact.

use crate::storage::Array;
use crate::storage::sets::bitmap::container::{BIT_WORDS, Kind, Run, SORTED_LEN_MAX};
use crate::storage::sets::bitmap::{DirectoryEntry, FrozenBitmap, container, split};
use std::ops::Range;

impl FrozenBitmap {
    /// The set of the members of a sorted list, which may name one more than once.
    ///
    /// # Panics
    ///
    /// When the list is not sorted.
    pub fn from_sorted(members: &[u32]) -> FrozenBitmap {
        FrozenBitmap::from_sorted_iter(members.iter().copied())
    }

    /// The set of ascending members, with repeats allowed.
    ///
    /// # Panics
    ///
    /// When a member is smaller than the one before.
    pub fn from_sorted_iter(members: impl Iterator<Item = u32>) -> FrozenBitmap {
        let mut builder = BitmapBuilder::new();
        let mut lows: Vec<u16> = Vec::new();
        let mut last = None;
        for member in members {
            let (key, low) = split(member);
            if let Some(before) = last {
                if before == member {
                    continue;
                }
                assert!(before < member, "{before} comes before {member}: the list is not sorted");
                if split(before).0 != key {
                    // The first member of the next key: the previous container is complete.
                    builder.push_sorted(split(before).0, &lows);
                    lows.clear();
                }
            }
            last = Some(member);
            lows.push(low);
        }
        if let Some(last) = last {
            builder.push_sorted(split(last).0, &lows);
        }
        builder.finish()
    }

    /// The set of all numbers in `range`: 16 bytes for each 65536 of them.
    pub fn from_range(range: Range<u32>) -> FrozenBitmap {
        let mut builder = BitmapBuilder::new();
        if range.is_empty() {
            return builder.finish();
        }
        let ((first_key, first_low), (last_key, last_low)) =
            (split(range.start), split(range.end - 1));
        for key in first_key..=last_key {
            let first = if key == first_key { first_low } else { 0 };
            let last = if key == last_key { last_low } else { u16::MAX };
            // A single run is a range, which has no payload: its 16 bytes are the directory entry.
            builder.push_runs(key, &[(first, last)]);
        }
        builder.finish()
    }
}

/// Collects the containers of a [`FrozenBitmap`], by ascending key.
#[derive(Debug, Default)]
pub(in crate::storage::sets::bitmap) struct BitmapBuilder {
    directory: Vec<DirectoryEntry>,
    words: Vec<u64>,
    len: usize,
}

impl BitmapBuilder {
    /// A builder without containers.
    pub(in crate::storage::sets::bitmap) fn new() -> BitmapBuilder {
        BitmapBuilder::default()
    }

    /// Adds a container of ascending lower halves. None of them add none.
    pub(in crate::storage::sets::bitmap) fn push_sorted(&mut self, key: u16, lows: &[u16]) {
        let gaps = lows.windows(2).filter(|pair| pair[0].wrapping_add(1) != pair[1]).count();
        if lows.is_empty() {
            return;
        }
        match best_kind(lows.len(), gaps + 1) {
            Kind::Sorted => {
                self.enter(key, Kind::Sorted, lows.len(), 0);
                self.push_words(bytemuck::cast_slice(lows));
            }
            Kind::Bits => {
                let mut bits = [0; BIT_WORDS];
                for &low in lows {
                    bits[usize::from(low / 64)] |= 1 << (low % 64);
                }
                self.enter_bits(key, &bits, lows.len());
            }
            Kind::Range | Kind::Runs => {
                let runs: Vec<_> = lows
                    .chunk_by(|one, next| one.wrapping_add(1) == *next)
                    .map(|run| (run[0], run[run.len() - 1]))
                    .collect();
                self.enter_runs(key, &runs, lows.len());
            }
        }
    }

    /// Adds a container of bits. No bit adds none.
    pub(in crate::storage::sets::bitmap) fn push_bits(
        &mut self,
        key: u16,
        bits: &[u64; BIT_WORDS],
    ) {
        let cardinality = container::count_ones(bits);
        let runs = count_runs(bits);
        // Few bits, or few runs of them, are smaller as a list or as runs: those are made from the
        // list.
        if SORTED_LEN_MAX < cardinality && best_kind(cardinality, runs) == Kind::Bits {
            return self.enter_bits(key, bits, cardinality);
        }
        let mut lows = Vec::with_capacity(cardinality);
        container::push_bits_of(bits, &mut lows);
        self.push_sorted(key, &lows);
    }

    /// Adds a container of runs (first, last), ascending and with gaps between them.
    pub(in crate::storage::sets::bitmap) fn push_runs(&mut self, key: u16, runs: &[(u16, u16)]) {
        let cardinality: usize =
            runs.iter().map(|&(first, last)| usize::from(last - first) + 1).sum();
        if matches!(best_kind(cardinality, runs.len()), Kind::Range | Kind::Runs) {
            return self.enter_runs(key, runs, cardinality);
        }
        // There are too many runs to be stored as runs: what is smallest, a list or bits, depends
        // on how many members they have.
        let mut bits = [0; BIT_WORDS];
        for &(first, last) in runs {
            container::set_bits(&mut bits, first, last);
        }
        self.push_bits(key, &bits);
    }

    /// The set of all containers that were added.
    pub(in crate::storage::sets::bitmap) fn finish(self) -> FrozenBitmap {
        let (directory, payload) = (Array::from_vec(self.directory), Array::from_vec(self.words));
        FrozenBitmap::of_checked(directory, payload, self.len)
    }

    fn enter(&mut self, key: u16, kind: Kind, cardinality: usize, runs: usize) {
        debug_assert!(self.directory.last().is_none_or(|entry| entry.key < key), "keys ascend");
        self.directory.push(DirectoryEntry {
            offset: u32::try_from(self.words.len()).expect("65536 payloads have below 2^27 words"),
            before: u32::try_from(self.len).expect("below 2^32 members come before the last one"),
            key,
            last: u16::try_from(cardinality - 1).expect("at most 65536 members share a key"),
            kind: kind as u16,
            runs: runs as u16,
        });
        self.len += cardinality;
    }

    fn enter_bits(&mut self, key: u16, bits: &[u64; BIT_WORDS], cardinality: usize) {
        self.enter(key, Kind::Bits, cardinality, 0);
        self.words.extend_from_slice(bits);
        self.push_words(bytemuck::cast_slice(&container::ranks_of(bits)));
    }

    fn enter_runs(&mut self, key: u16, runs: &[(u16, u16)], cardinality: usize) {
        if let [(first, _)] = runs {
            self.enter(key, Kind::Range, cardinality, 0);
            let entry = self.directory.last_mut().expect("it was pushed just now");
            // A range has no payload, so its offset field stores its start.
            entry.offset = u32::from(*first);
            return;
        }
        self.enter(key, Kind::Runs, cardinality, runs.len());
        let mut before = 0;
        for &(first, last) in runs {
            let run = Run { first, last, before, filler: 0 };
            self.words.push(bytemuck::cast(run));
            // The count after the last run may not fit, and is not needed.
            before = before.wrapping_add(last - first).wrapping_add(1);
        }
    }

    /// Adds bytes to the payload, filling up the last word with zeros.
    fn push_words(&mut self, bytes: &[u8]) {
        let start = self.words.len();
        self.words.resize(start + bytes.len().div_ceil(8), 0);
        bytemuck::cast_slice_mut(&mut self.words[start..])[..bytes.len()].copy_from_slice(bytes);
    }
}

/// The most runs instead of bits. More of them are smaller, too, but each row lookup would search
/// them, and two such sets are compared run by run. With some hundred runs that costs as much as
/// the words of a container, and ten times as much with a thousand, as deletions leave. The values
/// of so many members need far more than the 8 KiB of their bits.
const RUNS_MAX: usize = 128;

/// The smallest form, or one that is faster to read.
fn best_kind(cardinality: usize, runs: usize) -> Kind {
    match (runs, cardinality <= SORTED_LEN_MAX) {
        (1, _) => Kind::Range,
        (_, true) if runs < container::word_len(Some(Kind::Sorted), cardinality, 0) => Kind::Runs,
        (_, true) => Kind::Sorted,
        (_, false) if runs <= RUNS_MAX => Kind::Runs,
        (_, false) => Kind::Bits,
    }
}

/// The number of runs of set bits: those whose lower neighbour is not set.
fn count_runs(bits: &[u64; BIT_WORDS]) -> usize {
    let mut carry = 0;
    let mut runs = 0;
    for &word in bits {
        // The lower neighbour of a word's lowest bit is the highest bit of the word before.
        runs += (word & !(word << 1 | carry)).count_ones() as usize;
        carry = word >> 63;
    }
    runs
}
