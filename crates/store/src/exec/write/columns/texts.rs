//! Texts of many nodes. Their lengths are available after they were read, so ranges are read to
//! chunks, which are then copied after one another.

use crate::exec::control::stop::RequestContext;
use crate::exec::cost;
use crate::storage::TextArray;
use hexgraph_base::answer::CellOffsets;
use hexgraph_base::types::{ObjectCells, Result};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The bytes of capacity that are reserved for a text.
const TEXT_BYTES: usize = 8;

/// The texts of a range.
#[derive(Default)]
pub(super) struct TextChunk {
    bytes: Vec<u8>,
    /// Where each text ends.
    ends: Vec<i32>,
    /// The texts that are said by their codes, where none of them is long; `None` until they were
    /// looked at.
    short: Option<Vec<Short>>,
}

/// A text of at most 16 bytes, and its length: all 16 are copied, which is quicker than a copy of
/// as many as there are.
type Short = ([u8; SHORT_LEN], u8);

const SHORT_LEN: usize = 16;

/// The most bytes of the text of a uid.
const UID_BYTES: usize = 18;

impl TextChunk {
    /// Makes space for the texts of so many nodes.
    pub(super) fn reserve(&mut self, nodes: usize) {
        self.ends.reserve_exact(nodes);
        self.bytes.reserve(TEXT_BYTES * nodes);
    }

    /// The bytes that [`TextChunk::reserve`] makes space for, for each node.
    pub(super) const NODE_BYTES: usize = TEXT_BYTES + size_of::<i32>();

    /// Makes space for more bytes of texts.
    fn grow(&mut self, control: &RequestContext, more: usize) -> Result<()> {
        let capacity = self.bytes.capacity();
        if capacity - self.bytes.len() < more {
            // As a vector does.
            let expected = (self.bytes.len() + more).max(2 * capacity);
            control.reserve((expected - capacity) as u64)?;
            self.bytes.reserve_exact(expected - self.bytes.len());
        }
        Ok(())
    }

    /// Adds the texts of a batch. Returns false where the chunk would be too long.
    ///
    /// # Errors
    ///
    /// Those of [`RequestContext::reserve`].
    pub(super) fn fill(
        &mut self,
        control: &RequestContext,
        valid: &mut [bool],
        cells: ObjectCells<'_>,
    ) -> Result<bool> {
        match cells {
            ObjectCells::Uids(uids) => {
                self.grow(control, UID_BYTES * uids.len())?;
                for uid in uids {
                    uid.text().append_to(&mut self.bytes);
                    self.ends.push(self.bytes.len() as i32);
                }
                valid.fill(true);
            }
            ObjectCells::Coded(codes, texts) => {
                if self.short.get_or_insert_with(|| short_texts(texts)).is_empty() {
                    let text = |&code: &u32| texts.get(code as usize).map(|text| text.as_bytes());
                    return self.push(control, valid, codes.iter().map(text));
                }
                self.grow(control, SHORT_LEN * (codes.len() + 1))?;
                self.push_short(valid, codes);
            }
            ObjectCells::Texts(..) => {
                let len = valid.len();
                let text = |position| cells.text(position).map(str::as_bytes);
                return self.push(control, valid, (0..len).map(text));
            }
            ObjectCells::Some(texts) => {
                let texts = texts.iter().map(|text| text.map(str::as_bytes));
                return self.push(control, valid, texts);
            }
            ObjectCells::Ints(..)
            | ObjectCells::Floats(..)
            | ObjectCells::Bools(..)
            | ObjectCells::Times(..)
            | ObjectCells::Lists(_) => return Ok(false),
        }
        Ok(self.is_short())
    }

    /// Adds a text for each of some nodes, or none. Returns false where the chunk would be too
    /// long.
    ///
    /// # Errors
    ///
    /// Those of [`RequestContext::reserve`].
    pub(super) fn push<'t>(
        &mut self,
        control: &RequestContext,
        valid: &mut [bool],
        texts: impl Iterator<Item = Option<&'t [u8]>> + Clone,
    ) -> Result<bool> {
        self.grow(control, texts.clone().flatten().map(<[u8]>::len).sum())?;
        for (text, valid) in texts.zip(valid) {
            self.bytes.extend_from_slice(text.unwrap_or_default());
            self.ends.push(self.bytes.len() as i32);
            *valid = text.is_some();
        }
        Ok(self.is_short())
    }

    /// Adds texts that are stored contiguously, of some rows, which are not none. Returns false
    /// where the chunk would be too long, and where the rows are damaged.
    ///
    /// # Errors
    ///
    /// Those of [`RequestContext::reserve`].
    pub(super) fn push_run(
        &mut self,
        control: &RequestContext,
        texts: &TextArray,
        rows: Range<usize>,
    ) -> Result<bool> {
        let (offsets, bytes) = texts.parts();
        let (start, end) = (offsets.start(rows.start), offsets.start(rows.end));
        let by = (self.bytes.len() as i64).wrapping_sub(start as i64);
        if !offsets.push_bounds(rows, by, &mut self.ends) {
            return Ok(false);
        }
        let bytes = bytes.slice(start..end);
        self.grow(control, bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        Ok(true)
    }

    fn is_short(&self) -> bool {
        i32::try_from(self.bytes.len()).is_ok()
    }

    fn push_short(&mut self, valid: &mut [bool], codes: &[u32]) {
        let TextChunk { bytes, ends, short } = self;
        let short = short.as_deref().unwrap_or_default();
        for (&code, valid) in codes.iter().zip(valid) {
            let (text, len) = short.get(code as usize).unwrap_or(&([0; SHORT_LEN], 0));
            let end = bytes.len() + usize::from(*len);
            bytes.extend_from_slice(text);
            bytes.truncate(end);
            ends.push(end as i32);
            *valid = code != ObjectCells::NONE;
        }
    }
}

/// The texts with their lengths; none where one is long.
fn short_texts(texts: &[&str]) -> Vec<Short> {
    let short = |text: &&str| {
        let mut bytes = [0; SHORT_LEN];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some((bytes, text.len() as u8))
    };
    texts.iter().map(short).collect::<Option<Vec<Short>>>().unwrap_or_default()
}

/// The texts of all chunks one after the other. Several threads copy them.
///
/// # Errors
///
/// Those of [`RequestContext::reserve`] and [`RequestContext::check`].
pub(super) fn joined(
    control: &RequestContext,
    chunks: &[TextChunk],
) -> Result<(Vec<u8>, CellOffsets)> {
    let total: usize = chunks.iter().map(|chunk| chunk.bytes.len()).sum();
    let count: usize = chunks.iter().map(|chunk| chunk.ends.len()).sum();
    control.reserve((total + 4 * count) as u64)?;
    if i32::try_from(total).is_err() {
        let (mut bytes, mut all) = (Vec::with_capacity(total), CellOffsets::default());
        for chunk in chunks {
            let start = bytes.len();
            bytes.extend_from_slice(&chunk.bytes);
            chunk.ends.iter().for_each(|&end| all.push(start + end as usize));
        }
        return Ok((bytes, all));
    }
    let (mut bytes, mut ends) = (vec![0; total], vec![0; count + 1]);
    let (mut rest, mut rest_ends, mut start) = (&mut bytes[..], &mut ends[1..], 0);
    let mut parts = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let (own, others) = rest.split_at_mut(chunk.bytes.len());
        let (own_ends, other_ends) = rest_ends.split_at_mut(chunk.ends.len());
        (rest, rest_ends) = (others, other_ends);
        parts.push(Mutex::new((own, own_ends, start)));
        start += chunk.bytes.len() as i32;
    }
    let each = cost::ROW.times(total / 8 + count / 2).part(chunks.len());
    control.morsels(chunks.len(), each, |range| {
        for position in range {
            let mut part = parts[position].lock().unwrap_or_else(PoisonError::into_inner);
            let (bytes, ends, start) = &mut *part;
            bytes.copy_from_slice(&chunks[position].bytes);
            let own = ends.iter_mut().zip(&chunks[position].ends);
            own.for_each(|(all, end)| *all = *start + end);
        }
        Ok(())
    })?;
    drop(parts);
    Ok((bytes, CellOffsets::Narrow(ends)))
}
