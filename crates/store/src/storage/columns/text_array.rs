//! Texts laid end to end.

use crate::storage::files::blocks::unwind_with;
use crate::storage::{Array, Offsets};
use hexgraph_base::types::Result;
use std::ops::Range;

/// So many texts are checked at a time.
const CHECKED_ROWS: usize = 1 << 16;

/// An immutable array of texts.
///
/// A mapped one unwinds as [`Array`] does, also where its bytes are no UTF-8.
#[derive(Debug, Clone, Default)]
pub struct TextArray {
    offsets: Offsets,
    bytes: Array<u8>,
}

/// Collects the texts of a [`TextArray`].
#[derive(Debug, Clone)]
pub(in crate::storage) struct TextArrayBuilder {
    starts: Vec<u64>,
    bytes: Vec<u8>,
}

impl Default for TextArrayBuilder {
    fn default() -> TextArrayBuilder {
        TextArrayBuilder { starts: vec![0], bytes: Vec::new() }
    }
}

impl TextArrayBuilder {
    /// A builder that has no text yet.
    pub(in crate::storage) fn new() -> TextArrayBuilder {
        TextArrayBuilder::default()
    }

    /// Adds a text after the others.
    pub(in crate::storage) fn push(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.starts.push(self.bytes.len() as u64);
    }

    /// The array of all texts that were pushed.
    pub(in crate::storage) fn finish(self) -> TextArray {
        let TextArrayBuilder { starts, bytes } = self;
        TextArray { offsets: Offsets::from_vec(starts), bytes: Array::from_vec(bytes) }
    }
}

impl<S: AsRef<str>> FromIterator<S> for TextArray {
    fn from_iter<I: IntoIterator<Item = S>>(texts: I) -> TextArray {
        let mut builder = TextArrayBuilder::new();
        for text in texts {
            builder.push(text.as_ref());
        }
        builder.finish()
    }
}

impl TextArray {
    /// The texts that `offsets` cuts `bytes` into.
    ///
    /// # Panics
    ///
    /// When the last text exceeds the bytes; mapped parts unwind.
    pub fn from_parts(offsets: Offsets, bytes: Array<u8>) -> TextArray {
        // An empty slice: it tests the bound and reads nothing.
        let _last = bytes.slice(offsets.total()..offsets.total());
        TextArray { offsets, bytes }
    }

    /// Checks parts from a file as far as possible in O(1).
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Corrupt`] when the last text exceeds the bytes.
    pub(in crate::storage) fn from_file_parts(
        offsets: Offsets,
        bytes: Array<u8>,
    ) -> Result<TextArray> {
        let (total, len) = (offsets.total(), bytes.len());
        if len < total {
            return Err(bytes.corrupt(format_args!("{len} bytes, {total} are needed")));
        }
        Ok(TextArray { offsets, bytes })
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.offsets.rows()
    }

    /// True when there are no texts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text at `index`.
    ///
    /// # Panics
    ///
    /// When there is no such text; a mapped array unwinds.
    pub fn get(&self, index: usize) -> &str {
        match std::str::from_utf8(self.get_bytes(index)) {
            Ok(text) => text,
            Err(fault) => unwind_with(self.bytes.corrupt(format_args!("text {index}: {fault}"))),
        }
    }

    /// The bytes of the text at `index`, cheaper than [`TextArray::get`] where text is not needed.
    ///
    /// # Panics
    ///
    /// When there is no such text; a mapped array unwinds.
    #[inline]
    pub fn get_bytes(&self, index: usize) -> &[u8] {
        self.bytes.slice(self.offsets.range(index))
    }

    /// Calls `visit` with the bytes of the texts of some rows, in their order: a few instructions
    /// for each.
    ///
    /// # Panics
    ///
    /// When there are no such texts; a mapped array unwinds.
    #[inline]
    pub(crate) fn for_each<'t>(&'t self, rows: Range<usize>, mut visit: impl FnMut(&'t [u8])) {
        if rows.is_empty() {
            return;
        }
        let start = self.offsets.start(rows.start);
        let bytes = self.bytes.slice(start..self.offsets.start(rows.end).max(start));
        self.offsets.for_each(rows, |row, positions| {
            // One of a damaged file that lies elsewhere is looked for there, and unwinds or is an
            // invalid text.
            let position = positions.start.wrapping_sub(start)..positions.end.wrapping_sub(start);
            visit(bytes.get(position).unwrap_or_else(|| self.get_bytes(row)));
        });
    }

    /// Contiguous texts as one slice, validated at once, and the end of each in that slice.
    ///
    /// # Panics
    ///
    /// When there are no such texts; a mapped array unwinds.
    pub(crate) fn run(&self, rows: Range<usize>, bounds: &mut Vec<usize>) -> &str {
        bounds.clear();
        let start = self.offsets.start(rows.start);
        // A row of negative length unwinds.
        self.offsets.for_each(rows.clone(), |_, positions| bounds.push(positions.end - start));
        let bytes = self.bytes.slice(start..start + bounds.last().copied().unwrap_or_default());
        if let Ok(text) = std::str::from_utf8(bytes)
            && bounds.iter().all(|end| text.is_char_boundary(*end))
        {
            return text;
        }
        // One of them is none, and says so.
        rows.for_each(|row| _ = self.get(row));
        ""
    }

    /// Reads all texts.
    ///
    /// # Panics
    ///
    /// Unwinds where one is no text.
    pub(crate) fn check(&self) {
        let mut bounds = Vec::new();
        for start in (0..self.len()).step_by(CHECKED_ROWS) {
            _ = self.run(start..self.len().min(start + CHECKED_ROWS), &mut bounds);
        }
    }

    /// The offsets and the bytes.
    pub fn parts(&self) -> (&Offsets, &Array<u8>) {
        (&self.offsets, &self.bytes)
    }

    /// The bytes of the texts.
    pub fn byte_len(&self) -> usize {
        self.offsets.byte_len() + self.bytes.byte_len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::files::blocks::catch_corrupt;

    #[test]
    fn reads_what_was_stored() {
        let texts = ["", "a", "žluťoučký", "", "0x1f"];
        let array = TextArray::from_iter(texts);
        assert_eq!((array.len(), array.is_empty()), (5, false));
        assert_eq!((0..5).map(|index| array.get(index)).collect::<Vec<_>>(), texts);
        assert_eq!(array.get_bytes(4), b"0x1f");
        assert!(TextArray::default().is_empty());
    }

    #[test]
    fn texts_are_visited_one_by_one() {
        let texts = ["", "ab", "\u{17e}", "", "c"];
        let array = TextArray::from_iter(texts);
        for start in 0..6 {
            for end in start..6 {
                let mut seen = Vec::new();
                array.for_each(start..end, |text| seen.push(text));
                assert_eq!(
                    seen,
                    texts[start..end].iter().map(|it| it.as_bytes()).collect::<Vec<_>>()
                );
            }
        }
        let offsets = Offsets::Narrow(Array::from_vec(vec![0, 3, 1, 4]));
        let reversed = TextArray::from_parts(offsets, Array::from_vec(b"abcd".to_vec()));
        let error = catch_corrupt(|| reversed.for_each(0..3, |_| {})).unwrap_err();
        assert!(error.to_string().contains("row 1"), "{error}");
    }

    #[test]
    fn contiguous_texts_are_one_slice() {
        let array = TextArray::from_iter(["ab", "", "\u{17e}", "c"]);
        let mut bounds = vec![7];
        assert_eq!(array.run(0..4, &mut bounds), "ab\u{17e}c");
        assert_eq!(bounds, [2, 2, 4, 5]);
        assert_eq!(array.run(1..3, &mut bounds), "\u{17e}");
        assert_eq!(bounds, [0, 2]);
        assert_eq!(array.run(4..4, &mut bounds), "");
        assert!(bounds.is_empty());
    }

    #[test]
    fn half_a_character_is_corrupt() {
        let bytes = Array::from_vec("\u{17e}".as_bytes().to_vec());
        let array = TextArray::from_parts(Offsets::from_vec(vec![0, 1, 2]), bytes);
        let error = catch_corrupt(|| array.run(0..2, &mut Vec::new()).len()).unwrap_err();
        assert!(error.to_string().contains("text 0: incomplete utf-8"), "{error}");
    }

    #[test]
    fn what_is_no_text_is_corrupt() {
        let array =
            TextArray::from_parts(Offsets::from_vec(vec![0, 2]), Array::from_vec(vec![255, 0]));
        let error = catch_corrupt(|| array.get(0).len()).unwrap_err();
        assert!(error.to_string().contains("text 0: invalid utf-8"), "{error}");
    }
}
