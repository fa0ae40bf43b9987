//! Sets of u32 that are read in place, in heap or in a mapped snapshot.
//!
//! Members with the same upper 16 bits, the key, make a container. The directory has an entry for
//! each non-empty container, by ascending key: its kind, the start of its payload, and the number
//! of members before it. The payload is an array of 64-bit words:
//!
//! | kind   | payload                                                          | used for           |
//! |--------|------------------------------------------------------------------|--------------------|
//! | sorted | lower halves, ascending, four to a word                          | <= 4096 members    |
//! | bits   | 1024 words of bits; 32 words with the rank of every 512th bit    | > 4096 members     |
//! | range  | none, the entry is sufficient                                    | one run of members |
//! | runs   | a word a run: first, last, members of the container before it    | few runs           |
//!
//! So the row of a member (its rank) costs one access to the directory and one to the payload: the
//! eight words below a rank, or a binary search in at most 4096 lower halves. If the keys have no
//! gaps, as with dense node ids, the entry is computed by subtraction.
//!
//! The directory is read and checked when a set is opened, the payload only on access: its
//! positions are checked, its content is not. A file with valid checksums and an invalid payload
//! gives wrong members, never more harm. `counted.rs` caches a faster form of containers with
//! frequent row lookups.

mod algebra;
mod build;
mod container;
mod convert;
mod counted;
mod iter;
mod retain;
mod row_runs;
mod rows;
mod words;

pub(crate) use iter::FrozenIter;
pub(crate) use row_runs::RowRun;
pub(crate) use rows::NO_ROW;

use super::sorted::is_run;
use crate::storage::Array;
use build::BitmapBuilder;
use container::{Container, Kind};
use counted::Counted;
use hexgraph_base::types::Result;
use std::ops::Range;

/// An entry of the directory: it describes one container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct DirectoryEntry {
    /// The first word of the payload; for a range, its first member's lower half.
    offset: u32,
    /// The number of members in the containers before.
    before: u32,
    /// The upper half of the members.
    key: u16,
    /// The number of members, less one.
    last: u16,
    /// A [`Kind`] as number.
    kind: u16,
    /// The number of runs of a container of runs, else 0.
    runs: u16,
}

impl DirectoryEntry {
    fn cardinality(&self) -> usize {
        usize::from(self.last) + 1
    }

    /// The number of payload words, or `None` when the entry makes no sense.
    fn word_len(&self) -> Option<usize> {
        let cardinality = self.cardinality();
        let runs = usize::from(self.runs);
        let sensible = match Kind::of(self.kind)? {
            Kind::Sorted => cardinality <= container::SORTED_LEN_MAX && runs == 0,
            Kind::Bits => container::SORTED_LEN_MAX < cardinality && runs == 0,
            Kind::Range => {
                // `offset` is the first lower half here, and the last one must be one, too.
                self.offset.saturating_add(self.last.into()) <= u16::MAX.into() && runs == 0
            }
            // A run takes a word, so as many runs as bits have words would have been written as
            // bits.
            Kind::Runs => 0 < runs && runs < container::BITS_WORDS && runs <= cardinality,
        };
        sensible.then(|| container::word_len(Kind::of(self.kind), cardinality, runs))
    }
}

/// An immutable set of u32, read in place. A clone shares the members.
///
/// A mapped set unwinds as [`Array`] does for a damaged block of its payload.
#[derive(Debug, Clone)]
pub struct FrozenBitmap {
    /// Checked to the end when the set is made, so it is read without tests.
    directory: Array<DirectoryEntry>,
    payload: Array<u64>,
    len: usize,
    /// The first key, when the keys have no gaps.
    dense_from: Option<u16>,
    /// The smallest member, when the members have no gaps.
    range_from: Option<u32>,
    /// Faster forms of containers with frequent row lookups.
    counted: Counted,
}

impl Default for FrozenBitmap {
    fn default() -> FrozenBitmap {
        FrozenBitmap::empty()
    }
}

impl FrozenBitmap {
    /// True when it lies in a mapped file, and not in memory.
    pub fn is_mapped(&self) -> bool {
        self.payload.plain().is_none()
    }

    /// The set without members.
    pub fn empty() -> FrozenBitmap {
        BitmapBuilder::new().finish()
    }

    /// The set that a directory and a payload describe. O(containers): reads the directory.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Corrupt`] when the directory is damaged, not ascending,
    /// counts wrong or points after the payload.
    pub fn from_parts(
        directory: Array<DirectoryEntry>,
        payload: Array<u64>,
    ) -> Result<FrozenBitmap> {
        let named = directory.clone();
        let directory = directory.into_checked()?;
        let mut len = 0_u64;
        let mut key_before = None;
        for (index, entry) in directory.as_slice().iter().enumerate() {
            let words = entry.word_len();
            // A range has no payload, so its offset points nowhere.
            let start = if entry.kind == Kind::Range as u16 { 0 } else { entry.offset as usize };
            // `start` is below 2^32 and a container has 1056 words at most: in 64 bits the sum does
            // not overflow.
            let fits = words.is_some_and(|words| start + words <= payload.len());
            let ascends = key_before.is_none_or(|before| before < entry.key);
            // In 64 bits, since all containers together may have 2^32 members, one more than fits
            // `before`.
            if !fits || !ascends || u64::from(entry.before) != len {
                return Err(named.corrupt(format_args!("container {index} is invalid: {entry:?}")));
            }
            key_before = Some(entry.key);
            len += entry.cardinality() as u64;
        }
        Ok(FrozenBitmap::of_checked(directory, payload, len as usize))
    }

    /// The set of containers that make sense. O(containers).
    fn of_checked(
        directory: Array<DirectoryEntry>,
        payload: Array<u64>,
        len: usize,
    ) -> FrozenBitmap {
        let (dense_from, range_from) = shape(directory.as_slice());
        let counted = Counted::of(directory.as_slice());
        FrozenBitmap { directory, payload, len, dense_from, range_from, counted }
    }

    /// The directory and the payload, to be stored.
    pub fn parts(&self) -> (&Array<DirectoryEntry>, &Array<u64>) {
        (&self.directory, &self.payload)
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when there are no members.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes of the set.
    pub fn byte_len(&self) -> usize {
        self.directory.byte_len() + self.payload.byte_len()
    }

    /// True when `value` is a member: one look at the directory, and a bit test or a binary search
    /// in a container.
    #[inline]
    pub fn contains(&self, value: u32) -> bool {
        if let Some(from) = self.range_from {
            // A value below `from` wraps to a number beyond all members, so one comparison tests
            // both bounds.
            return (value.wrapping_sub(from) as usize) < self.len;
        }
        let (key, low) = split(value);
        self.find_key(key).is_some_and(|index| self.container(index).contains(low))
    }

    /// The number of members that are smaller than `value`, or `None` when `value` is no member.
    /// Costs about as much as [`FrozenBitmap::contains`].
    #[inline]
    pub fn row_of(&self, value: u32) -> Option<usize> {
        if let Some(from) = self.range_from {
            let row = value.wrapping_sub(from) as usize;
            return (row < self.len).then_some(row);
        }
        let (key, low) = split(value);
        let index = self.find_key(key)?;
        let row = match self.counted.get(index) {
            Some(bits) => bits.row_of(low)?,
            None => self.container(index).row_of(low)?,
        };
        Some(self.directory.get(index).before as usize + row)
    }

    /// The number of members that are smaller than `value`, which need not be a member.
    pub fn rank(&self, value: u32) -> usize {
        let (key, low) = split(value);
        let index = self.lower_bound(key);
        match self.directory.as_slice().get(index) {
            Some(entry) if entry.key == key => {
                entry.before as usize + self.container(index).rank(low)
            }
            Some(entry) => entry.before as usize,
            None => self.len,
        }
    }

    /// The member that has `row` smaller ones.
    pub fn select(&self, row: usize) -> Option<u32> {
        if self.len <= row {
            return None;
        }
        if let Some(from) = self.range_from {
            return Some(from + row as u32);
        }
        let directory = self.directory.as_slice();
        // No container is empty, so the last one with at most `row` members before it has the
        // member.
        let above = directory.partition_point(|entry| entry.before as usize <= row);
        let index = above.checked_sub(1)?;
        let entry = &directory[index];
        let low = self.container(index).select(row - entry.before as usize)?;
        Some(join(entry.key, low))
    }

    /// The smallest member.
    pub fn min(&self) -> Option<u32> {
        self.select(0)
    }

    /// The largest member.
    pub fn max(&self) -> Option<u32> {
        self.select(self.len.checked_sub(1)?)
    }

    /// The rows of nodes which ascend, when they have no gap between them and all are members;
    /// `None` does not mean that some are none. O(log members).
    pub fn rows_of_run(&self, nodes: &[u32]) -> Option<Range<usize>> {
        if !is_run(nodes) {
            return None;
        }
        let Some((&first, &last)) = nodes.first().zip(nodes.last()) else { return Some(0..0) };
        let (start, end) = (self.rank(first), self.row_of(last)?);
        // As many members as ids between the bounds: each of them is one.
        (end - start == nodes.len() - 1).then_some(start..end + 1)
    }

    /// The least and the greatest member, where there are some and they have no gap between them.
    /// O(1).
    pub(in crate::storage::sets) fn bounds_of_run(&self) -> Option<[u32; 2]> {
        let first = self.range_from.filter(|_| 0 < self.len)?;
        Some([first, first + (self.len - 1) as u32])
    }

    /// True when the set has exactly the members of `nodes`, which ascend. O(1) when their number
    /// differs, else O(members).
    pub fn is_exactly(&self, nodes: &[u32]) -> bool {
        if self.len != nodes.len() {
            return false;
        }
        let directory = self.directory.as_slice();
        (0..directory.len()).all(|index| {
            let entry = &directory[index];
            let start = entry.before as usize;
            // In bounds: `nodes` is as long as the cardinalities add up to, which the directory was
            // checked for.
            let nodes = &nodes[start..start + entry.cardinality()];
            let base = join(entry.key, 0);
            match self.container(index) {
                // Without an early end the loop runs several members at a time.
                Container::Sorted(lows) => {
                    let pairs = nodes.iter().zip(lows);
                    pairs.fold(true, |same, (node, low)| same & (*node == base | u32::from(*low)))
                }
                container => {
                    let endpoints = nodes.first().zip(nodes.last());
                    let lie_here = endpoints.is_some_and(|(first, last)| {
                        split(*first).0 == entry.key && split(*last).0 == entry.key
                    });
                    lie_here && container.has_all(nodes)
                }
            }
        })
    }

    /// True if the sets are equal without comparing members: they share them, or neither has gaps.
    /// `false` does not mean that they differ.
    pub(in crate::storage) fn is_surely_equal(&self, other: &FrozenBitmap) -> bool {
        let both_are_ranges = self.range_from.is_some() && self.range_from == other.range_from;
        let shared =
            self.directory.is_same(&other.directory) && self.payload.is_same(&other.payload);
        self.len == other.len && (both_are_ranges || shared)
    }

    /// True if the sets are stored in the same bytes, so that they are equal. `false` does not mean
    /// that they differ. O(payload), and O(1) if the sets differ in their lengths or share their
    /// members.
    pub(crate) fn is_stored_as(&self, other: &FrozenBitmap) -> bool {
        let words = |bitmap: &FrozenBitmap| 0..bitmap.payload.len();
        self.is_surely_equal(other)
            || self.len == other.len
                && self.directory.as_slice() == other.directory.as_slice()
                && self.payload.slice(words(self)) == other.payload.slice(words(other))
    }

    /// The members in some rows, which ascend. O(1) a row where the members have no gap between
    /// them; else O(log) a row for few rows, and one walk over the members for many.
    pub fn nodes_of_rows(&self, rows: &[u32]) -> Vec<u32> {
        /// The number of members that are walked over in the time of one search.
        const SEARCH_COST: usize = 16;
        let (Some(min), Some(max)) = (self.min(), self.max()) else { return Vec::new() };
        if (max - min) as usize == self.len() - 1 {
            return rows.iter().map(|row| min + row).collect();
        }
        if rows.len().saturating_mul(SEARCH_COST) < self.len() {
            return rows.iter().filter_map(|row| self.select(*row as usize)).collect();
        }
        let mut nodes = Vec::with_capacity(rows.len());
        let mut row = 0;
        self.iter().for_each(|node| {
            if rows.get(nodes.len()) == Some(&row) {
                nodes.push(node);
            }
            row += 1;
        });
        nodes
    }

    /// At most `count` members after the first `skip`, ascending. O(log members) and what is
    /// listed.
    pub fn page(&self, skip: usize, count: usize) -> Vec<u32> {
        let mut nodes = Vec::new();
        self.append_page(skip, count, &mut nodes);
        nodes
    }

    /// Adds a [page](FrozenBitmap::page) to a list.
    pub(in crate::storage::sets) fn append_page(
        &self,
        skip: usize,
        count: usize,
        nodes: &mut Vec<u32>,
    ) {
        let end = self.len().min(skip.saturating_add(count));
        let endpoints =
            end.checked_sub(1).and_then(|last| Some((self.select(skip)?, self.select(last)?)));
        let Some((first, last)) = endpoints.filter(|_| skip < end) else { return };
        nodes.reserve(end - skip);
        if (last - first) as usize == end - skip - 1 {
            nodes.extend(first..last);
            nodes.push(last);
            return;
        }
        // `first` is a member, so the walk has entered its container, which `list_to` takes for
        // granted.
        self.iter_from(first).list_to(last, nodes);
    }

    /// The members, ascending.
    pub fn iter(&self) -> FrozenIter<'_> {
        FrozenIter::new(self, 0)
    }

    /// The members that are at least `least`, ascending. O(log) to find the first.
    pub fn iter_from(&self, least: u32) -> FrozenIter<'_> {
        let (key, low) = split(least);
        let index = self.lower_bound(key);
        let mut members = FrozenIter::new(self, index);
        if self.directory.as_slice().get(index).is_some_and(|entry| entry.key == key) {
            // A container of a greater key is entered by the walk itself, from its first member
            // on.
            members.enter_at(low);
        }
        members
    }

    /// The container whose key is `key`.
    #[inline]
    fn find_key(&self, key: u16) -> Option<usize> {
        let directory = self.directory.as_slice();
        match self.dense_from {
            Some(from) => {
                // A key below `from` wraps to an index after the end: of
                // keys from `from` to 65535 there are no more than that.
                let index = usize::from(key.wrapping_sub(from));
                (index < directory.len()).then_some(index)
            }
            None => directory.binary_search_by_key(&key, |entry| entry.key).ok(),
        }
    }

    /// The first container whose key is at least `key`.
    fn lower_bound(&self, key: u16) -> usize {
        let directory = self.directory.as_slice();
        match self.dense_from {
            Some(from) => usize::from(key.saturating_sub(from)).min(directory.len()),
            None => directory.partition_point(|entry| entry.key < key),
        }
    }

    /// The members of the container at `index` of the directory.
    #[inline]
    fn container(&self, index: usize) -> Container<'_> {
        let entry = self.directory.get(index);
        let start = entry.offset as usize;
        let cardinality = entry.cardinality();
        // The directory was checked, so an unknown kind can't be; a range reads no payload.
        match Kind::of(entry.kind) {
            Some(Kind::Sorted) => {
                let words = self.payload.slice(start..start + cardinality.div_ceil(4));
                Container::sorted(words, cardinality)
            }
            Some(Kind::Bits) => {
                Container::bits(self.payload.slice(start..start + container::BITS_WORDS))
            }
            Some(Kind::Runs) => {
                Container::runs(self.payload.slice(start..start + usize::from(entry.runs)))
            }
            Some(Kind::Range) | None => Container::range(entry.offset as u16, entry.last),
        }
    }
}

/// The first key when keys have no gaps, and the first member when members have none.
fn shape(directory: &[DirectoryEntry]) -> (Option<u16>, Option<u32>) {
    let (Some(first), Some(last)) = (directory.first(), directory.last()) else {
        return (None, None);
    };
    if usize::from(last.key - first.key) + 1 != directory.len() {
        return (None, None);
    }
    // A range continues in the next container if it ends at the last lower half and that one begins
    // at the first. The previous test ensures consecutive keys.
    let joined = |pair: &[DirectoryEntry]| {
        pair[0].offset + u32::from(pair[0].last) == u32::from(u16::MAX) && pair[1].offset == 0
    };
    let ranges = directory.iter().all(|entry| entry.kind == Kind::Range as u16);
    let is_range = ranges && directory.windows(2).all(joined);
    (Some(first.key), is_range.then(|| join(first.key, first.offset as u16)))
}

/// The container and the position in it of a member.
#[inline]
fn split(value: u32) -> (u16, u16) {
    ((value >> 16) as u16, value as u16)
}

/// The member at a position of a container.
#[inline]
fn join(key: u16, low: u16) -> u32 {
    u32::from(key) << 16 | u32::from(low)
}

#[cfg(test)]
mod tests;
