//! The position of a token or tree in the query text.

/// A range of bytes of the query text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Creates a span from offsets, which fit since texts are shorter than 4 GiB.
    pub(crate) fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    /// Returns the text of this span; `source` is the entire text.
    pub fn of(self, source: &str) -> &str {
        &source[self.start as usize..self.end as usize]
    }
}

/// All spans are equal, so that comparing two syntax trees ignores the layout of their texts.
impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}
