//! Converts to the bitmaps of the roaring crate and back, a container at a time.
//!
//! That crate shows its containers to nobody, but it reads and writes the portable format of
//! roaring bitmaps: a header, then a list of lower halves, 1024 words or a list of runs for each
//! container. So a container is copied as it is, twice at most, instead of member by member.

use crate::storage::files::blocks::unwind_with;
use crate::storage::sets::bitmap::container::{BIT_WORDS, Container, SORTED_LEN_MAX};
use crate::storage::sets::bitmap::{BitmapBuilder, FrozenBitmap, container};
use hexgraph_base::types::Error;
use roaring::RoaringBitmap;
use std::io::Read;

/// Begins a portable bitmap without runs.
const COOKIE_PLAIN: u32 = 12346;
/// Begins a portable bitmap with runs, in the lower half of its first word.
const COOKIE_RUNS: u32 = 12347;
/// A portable bitmap with runs has a table of offsets from this number of containers on.
const OFFSETS_FROM: usize = 4;

impl FrozenBitmap {
    /// Makes a frozen set of a roaring bitmap. Costs a copy of each container.
    pub fn from_roaring(bitmap: &RoaringBitmap) -> FrozenBitmap {
        let mut portable = Vec::with_capacity(bitmap.serialized_size());
        bitmap.serialize_into(&mut portable).expect("a vector takes all that is written");
        read_portable(&portable).expect("the roaring crate writes the portable format")
    }

    /// Makes a roaring bitmap, which can be changed, of the set. Costs a copy of each container.
    pub fn to_roaring(&self) -> RoaringBitmap {
        self.to_roaring_of(0..self.directory.len())
    }

    /// The members in some of the containers, which are named by ascending index.
    pub(in crate::storage::sets::bitmap) fn to_roaring_of(
        &self,
        indexes: impl Iterator<Item = usize>,
    ) -> RoaringBitmap {
        let mut portable = PortableWriter::default();
        for index in indexes {
            let entry = self.directory.get(index);
            match self.container(index) {
                Container::Sorted(lows) => portable.push_sorted(entry.key, lows),
                Container::Bits(words, _) => {
                    portable.push_bits(entry.key, words, entry.cardinality());
                }
                Container::Range(run) => portable.push_runs(entry.key, &[(run.first, run.last)]),
                Container::Runs(runs) => {
                    let runs: Vec<_> = runs.iter().map(|run| (run.first, run.last)).collect();
                    portable.push_runs(entry.key, &runs);
                }
            }
        }
        portable.finish().unwrap_or_else(|fault| unwind_with(self.invalid(&fault)))
    }

    /// The error for a payload that the portable format can't express.
    pub(in crate::storage::sets::bitmap) fn invalid(&self, fault: &std::io::Error) -> Error {
        self.payload.corrupt(format_args!("a container is invalid: {fault}"))
    }
}

/// Writes a bitmap in the portable format, for the roaring crate to read.
#[derive(Default)]
pub(in crate::storage::sets::bitmap) struct PortableWriter {
    /// The key and the number of members, less one, of each container.
    descriptions: Vec<[u16; 2]>,
    is_run: Vec<u8>,
    offsets: Vec<u32>,
    payload: Vec<u8>,
}

impl PortableWriter {
    /// Adds a container of lower halves. None of them add none.
    pub(in crate::storage::sets::bitmap) fn push_sorted(&mut self, key: u16, lows: &[u16]) {
        if !lows.is_empty() {
            self.enter(key, lows.len(), false);
            self.payload.extend_from_slice(bytemuck::cast_slice(lows));
        }
    }

    /// Adds a container of bits with `cardinality` set.
    pub(in crate::storage::sets::bitmap) fn push_bits(
        &mut self,
        key: u16,
        bits: &[u64; BIT_WORDS],
        cardinality: usize,
    ) {
        if cardinality <= SORTED_LEN_MAX {
            let mut lows = Vec::with_capacity(cardinality);
            container::push_bits_of(bits, &mut lows);
            return self.push_sorted(key, &lows);
        }
        self.enter(key, cardinality, false);
        self.payload.extend_from_slice(bytemuck::cast_slice(bits));
    }

    /// Adds a container of runs (first, last). No runs add none.
    pub(in crate::storage::sets::bitmap) fn push_runs(&mut self, key: u16, runs: &[(u16, u16)]) {
        let lens = || runs.iter().map(|&(first, last)| last.wrapping_sub(first));
        // Invalid runs in a file may count any number; the reader refuses them.
        let cardinality = lens().map(|len| usize::from(len) + 1).sum::<usize>().min(1 << 16);
        if cardinality == 0 {
            return;
        }
        self.enter(key, cardinality, true);
        self.payload.extend_from_slice(&(runs.len() as u16).to_le_bytes());
        for (&(first, _), len) in runs.iter().zip(lens()) {
            self.payload.extend_from_slice(&first.to_le_bytes());
            self.payload.extend_from_slice(&len.to_le_bytes());
        }
    }

    /// The bitmap of all that was added.
    ///
    /// # Errors
    ///
    /// When members of a container do not ascend or are not as many as was said.
    pub(in crate::storage::sets::bitmap) fn finish(mut self) -> std::io::Result<RoaringBitmap> {
        let count = self.descriptions.len();
        let Some(count_less_one) = count.checked_sub(1) else { return Ok(RoaringBitmap::new()) };
        self.is_run.resize(count.div_ceil(8), 0);
        let has_offsets = OFFSETS_FROM <= count;
        let table_len = if has_offsets { 4 * count } else { 0 };
        // The form with runs, even where there are none: it may have plain containers, so one
        // form is enough to write. See github.com/RoaringBitmap/RoaringFormatSpec.
        let header_len = 4 + self.is_run.len() + 4 * count + table_len;
        let mut header = Vec::with_capacity(header_len);
        header.extend_from_slice(&(COOKIE_RUNS | (count_less_one as u32) << 16).to_le_bytes());
        header.extend_from_slice(&self.is_run);
        header.extend_from_slice(bytemuck::cast_slice(&self.descriptions));
        if has_offsets {
            // Offsets count from the first byte of the cookie.
            self.offsets.iter_mut().for_each(|offset| *offset += header_len as u32);
            header.extend_from_slice(bytemuck::cast_slice(&self.offsets));
        }
        RoaringBitmap::deserialize_from(header.chain(self.payload.as_slice()))
    }

    fn enter(&mut self, key: u16, cardinality: usize, is_run: bool) {
        let index = self.descriptions.len();
        if is_run {
            self.is_run.resize(index / 8 + 1, 0);
            self.is_run[index / 8] |= 1 << (index % 8);
        }
        self.descriptions.push([key, (cardinality - 1) as u16]);
        self.offsets.push(self.payload.len() as u32);
    }
}

/// Reads the portable format as the roaring crate wrote it. `None` when it ends too early.
fn read_portable(portable: &[u8]) -> Option<FrozenBitmap> {
    let mut rest = portable;
    let cookie = read_u32(&mut rest)?;
    let has_runs = cookie & 0xffff == COOKIE_RUNS;
    debug_assert!(has_runs || cookie == COOKIE_PLAIN, "these are the two forms");
    let count = if has_runs { (cookie >> 16) + 1 } else { read_u32(&mut rest)? } as usize;
    let is_run = rest.split_off(..if has_runs { count.div_ceil(8) } else { 0 })?;
    let descriptions = rest.split_off(..4 * count)?;
    // The containers are contiguous and in order, so their offsets are redundant.
    if !has_runs || OFFSETS_FROM <= count {
        rest.split_off(..4 * count)?;
    }
    let mut builder = BitmapBuilder::new();
    for (index, description) in descriptions.chunks_exact(4).enumerate() {
        let [key, last] = [0, 2].map(|at| u16_at(description, at));
        if is_run.get(index / 8).is_some_and(|flags| flags >> (index % 8) & 1 != 0) {
            let len = usize::from(u16_at(rest.split_off(..2)?, 0));
            let pairs = rest.split_off(..4 * len)?.chunks_exact(4);
            // No sum overflows: the crate has just written the runs, and a run ends at 65535 at the
            // latest.
            let runs: Vec<_> =
                // A run is written as its first member and the number of those that follow.
                pairs.map(|pair| (u16_at(pair, 0), u16_at(pair, 0) + u16_at(pair, 2))).collect();
            builder.push_runs(key, &runs);
        } else if usize::from(last) < SORTED_LEN_MAX {
            let bytes = rest.split_off(..2 * (usize::from(last) + 1))?;
            let lows: Vec<u16> = bytes.chunks_exact(2).map(|low| u16_at(low, 0)).collect();
            builder.push_sorted(key, &lows);
        } else {
            let mut bits = [0_u64; BIT_WORDS];
            bytemuck::cast_slice_mut(&mut bits).copy_from_slice(rest.split_off(..8 * BIT_WORDS)?);
            builder.push_bits(key, &bits);
        }
    }
    Some(builder.finish())
}

fn read_u32(rest: &mut &[u8]) -> Option<u32> {
    rest.split_off(..4).map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}
