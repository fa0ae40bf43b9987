//! Positions in a text, as lines and columns.

/// A position as GraphQL counts: line and column from 1, columns in characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The character of the line, from 1.
    pub column: u32,
}

/// Converts offsets in a text to positions.
#[derive(Debug, Clone)]
pub struct Positions<'a> {
    text: &'a str,
    /// The offset in bytes at which each line starts, ascending.
    line_starts: Vec<usize>,
    /// The number of characters before each block of [`BLOCK`] bytes. With it a column costs the
    /// same in a line as long as the text.
    characters: Vec<usize>,
}

/// The number of bytes after which characters are counted anew.
const BLOCK: usize = 256;

/// Counts the characters that start in the bytes of UTF-8.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

impl<'a> Positions<'a> {
    /// Finds the lines of a text. O(text).
    pub fn of(text: &'a str) -> Positions<'a> {
        let bytes = text.as_bytes();
        let is_line_break = |at: usize| match bytes[at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let starts = (0..bytes.len()).filter(|&at| is_line_break(at)).map(|at| at + 1);
        let blocks = bytes.chunks(BLOCK).scan(0, |sum, block| {
            *sum += characters(block);
            Some(*sum)
        });
        Positions {
            text,
            line_starts: std::iter::once(0).chain(starts).collect(),
            characters: std::iter::once(0).chain(blocks).collect(),
        }
    }

    /// Returns the position of a byte. O(log lines).
    pub fn at(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        // The first line starts at 0, so there is always a start that is not after the offset.
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let start = self.line_starts[line - 1];
        let column = self.characters_before(offset) - self.characters_before(start) + 1;
        Position { line: line as u32, column: column as u32 }
    }

    /// Counts the characters before an offset.
    fn characters_before(&self, offset: usize) -> usize {
        let block = offset / BLOCK;
        self.characters[block] + characters(&self.text.as_bytes()[block * BLOCK..offset])
    }

    /// Returns the text.
    pub fn text(&self) -> &'a str {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let positions = Positions::of("äb\r\ncd\re");
        assert_eq!(positions.at(2), Position { line: 1, column: 2 });
        assert_eq!(positions.at(5), Position { line: 2, column: 1 });
        assert_eq!(positions.at(8), Position { line: 3, column: 1 });
        assert_eq!(positions.at(100), Position { line: 3, column: 2 });
    }

    #[test]
    fn long_lines_count_as_short_ones() {
        let text = format!("\n{}", "aé€".repeat(1000));
        let positions = Positions::of(&text);
        for (column, (offset, _)) in text[1..].char_indices().enumerate() {
            assert_eq!(positions.at(offset + 1), Position { line: 2, column: column as u32 + 1 });
        }
        let end = Positions::of(&text[..BLOCK]).at(BLOCK);
        assert_eq!(end.line, 2);
    }
}
