//! A text with an index of its lines, which converts byte offsets to positions without scanning the
//! text.

use hexgraph_base::types::Position;

/// A source text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Source {
    text: Box<str>,
    /// The offsets where lines begin, except for the first line; ascending.
    lines: Vec<u32>,
}

impl Source {
    /// Copies a text, which must be shorter than 4 GiB, and finds its lines in one pass.
    pub(crate) fn new(text: &str) -> Source {
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let lines = breaks.map(|(at, _)| at as u32 + 1).collect();
        Source { text: text.into(), lines }
    }

    /// Returns the entire text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns line and column of the byte at `offset`, by a binary search over the lines.
    pub(crate) fn position(&self, offset: u32) -> Position {
        let line = self.lines.partition_point(|&start| start <= offset);
        let start = if line == 0 { 0 } else { self.lines[line - 1] };
        Position { line: line as u32 + 1, column: offset - start }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_agree_with_a_scan() {
        let text = "ab\n\ncd\ne";
        let source = Source::new(text);
        for offset in 0..=text.len() {
            assert_eq!(source.position(offset as u32), Position::of(text, offset));
        }
    }
}
