//! Texts of a batch that are checked all at once.
//!
//! Rows lie anywhere in memory. A text that is checked before the next one is located makes the
//! processor wait for each of them; bytes that are only copied are fetched many at a time.

use crate::storage::TextArray;
use hexgraph_base::types::ObjectCells;
use std::ops::Range;

/// Texts that are longer on average are read where they are stored.
pub(super) const LEN_MAX: usize = 64;

/// Short texts one after the other.
#[derive(Default)]
pub(super) struct CheckedTexts {
    text: String,
    ends: Vec<usize>,
    /// Which nodes have one; empty where all have.
    has: Vec<bool>,
}

impl CheckedTexts {
    /// Copies the texts of some nodes. Returns false where they are long, or some are no texts.
    pub(super) fn fill(&mut self, result: &[Option<&[u8]>]) -> bool {
        let total: usize = result.iter().flatten().map(|text| text.len()).sum();
        if LEN_MAX * result.len() < total {
            return false;
        }
        let CheckedTexts { text, ends, has } = self;
        let mut bytes = std::mem::take(text).into_bytes();
        bytes.clear();
        bytes.reserve(total);
        ends.clear();
        for text in result {
            bytes.extend_from_slice(text.unwrap_or_default());
            ends.push(bytes.len());
        }
        has.clear();
        if result.iter().any(Option::is_none) {
            has.extend(result.iter().map(Option::is_some));
        }
        let Ok(checked) = String::from_utf8(bytes) else { return false };
        *text = checked;
        // Of texts in one that is UTF-8 those are that begin and end between two characters.
        ends.iter().all(|end| text.is_char_boundary(*end))
    }

    /// The texts that were copied.
    pub(super) fn cells(&self) -> ObjectCells<'_> {
        ObjectCells::Texts(&self.text, &self.ends, &self.has)
    }

    /// Texts that are stored one after the other, of some rows: where they are.
    ///
    /// # Panics
    ///
    /// As [`TextArray::run`].
    pub(super) fn of_run<'b>(
        &'b mut self,
        texts: &'b TextArray,
        rows: Range<usize>,
    ) -> ObjectCells<'b> {
        let text = texts.run(rows, &mut self.ends);
        ObjectCells::Texts(text, &self.ends, &[])
    }
}

/// All texts of an array.
///
/// # Panics
///
/// As [`TextArray::run`].
pub(super) fn all_texts(texts: &TextArray) -> Vec<&str> {
    let mut ends = Vec::new();
    let text = texts.run(0..texts.len(), &mut ends);
    let mut start = 0;
    let one = |end| &text[std::mem::replace(&mut start, end)..end];
    ends.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(result: &[Option<&[u8]>]) -> Option<Vec<Option<String>>> {
        let mut checked = CheckedTexts::default();
        // What was in it before does not count.
        assert!(checked.fill(&[Some(b"before"), None]));
        let is_filled = checked.fill(result);
        let cells = checked.cells();
        let text =
            |position| cells.text(position).filter(|_| cells.has(position)).map(str::to_owned);
        is_filled.then(|| (0..result.len()).map(text).collect())
    }

    #[test]
    fn texts_are_what_they_were() {
        let words = ["", "Ada", "\u{17e}lu\u{165}", "a b"].map(|word| Some(word.as_bytes()));
        let all = checked(&words).unwrap();
        assert_eq!(all, ["", "Ada", "\u{17e}lu\u{165}", "a b"].map(|word| Some(word.to_owned())));
        let some = checked(&[None, words[2], None]).unwrap();
        assert_eq!(some, [None, all[2].clone(), None]);
        assert_eq!(checked(&[]), Some(Vec::new()));
    }

    #[test]
    fn what_is_no_text_is_not_taken() {
        assert_eq!(checked(&[Some(b"a"), Some(&[0xff])]), None);
        // Two halves of a character.
        assert_eq!(checked(&[Some(&[0xc5]), Some(&[0xbe])]), None);
        let long = [b'x'; 2 * LEN_MAX + 1];
        assert_eq!(checked(&[Some(&long), None]), None);
        assert!(checked(&[Some(&long), None, None]).is_some());
    }
}
