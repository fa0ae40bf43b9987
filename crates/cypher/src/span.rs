//! Where something is in a text.

/// A range of bytes of the text.
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

/// Two trees are equal when they mean the same, however their texts are laid out. So all spans are equal.
impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}
