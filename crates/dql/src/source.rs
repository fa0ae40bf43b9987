//! A text with its line starts, so that a byte offset becomes a position without a scan.

use hexgraph_base::types::Position;

/// A text that is being read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Source {
    text: Box<str>,
    /// The offsets of the lines but the first, ascending.
    lines: Vec<u32>,
}

impl Source {
    /// Keeps a copy of `text`, which is shorter than 4 GiB.
    pub(crate) fn new(text: &str) -> Source {
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let lines = breaks.map(|(at, _)| at as u32 + 1).collect();
        Source { text: text.into(), lines }
    }

    /// The whole text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The position of a byte. Costs a binary search over the lines.
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
