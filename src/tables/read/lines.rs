//! Where rows of a text file stand. Only errors need it, so the file is read again for them.

use super::text::TextFile;
use hexgraph_base::types::{Error, Result};
use std::io::Read;

/// So many bytes are looked at a time.
const BUFFER_LEN: usize = 1 << 16;

/// The lines, from 1, on which rows begin; rows are counted from 0 behind the line of names, and
/// ascend. A row that is in no text file has its number. A field in quotes may go over many lines,
/// and empty lines are no rows.
///
/// # Errors
///
/// [`Error::Io`] when the file can't be read any more.
pub(super) fn lines_of(text: Option<&TextFile>, rows: &[u64]) -> Result<Vec<u64>> {
    let (Some(file), false) = (text, rows.is_empty()) else {
        return Ok(rows.iter().map(|row| row + 1).collect());
    };
    let failed = |error| Error::io(format!("reading {}", file.path.display()), error);
    let mut input = file.open()?;
    let (lines, state) = (Vec::new(), State::Start);
    let mut scan = Scan { rows, lines, line: 1, record: 0, starts: 1, state };
    let mut buffer = vec![0; BUFFER_LEN];
    while scan.lines.len() < rows.len() {
        let len = input.read(&mut buffer).map_err(failed)?;
        if len == 0 {
            break;
        }
        buffer[..len].iter().for_each(|&byte| scan.byte(byte));
    }
    scan.end();
    scan.lines.resize(rows.len(), scan.line);
    Ok(scan.lines)
}

#[derive(PartialEq)]
enum State {
    /// Nothing of a record was read.
    Start,
    Plain,
    Quoted,
}

struct Scan<'a> {
    rows: &'a [u64],
    lines: Vec<u64>,
    line: u64,
    /// The records that ended; the first has the names.
    record: u64,
    /// The line where this record starts.
    starts: u64,
    state: State,
}

impl Scan<'_> {
    fn byte(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.line += 1;
                if self.state == State::Plain {
                    self.end();
                }
            }
            b'\r' if self.state == State::Start => {}
            b'"' if self.state == State::Quoted => self.state = State::Plain,
            _ => {
                if self.state == State::Start {
                    self.starts = self.line;
                }
                if byte == b'"' {
                    self.state = State::Quoted;
                } else if self.state == State::Start {
                    self.state = State::Plain;
                }
            }
        }
    }

    fn end(&mut self) {
        while self.rows.get(self.lines.len()).is_some_and(|row| row + 1 == self.record) {
            self.lines.push(self.starts);
        }
        self.record += 1;
        self.state = State::Start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hide_line_feeds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "a,b\r\n1,\"x\n\"\"y\"\n\n2,z\n3,\"\"\n4,").unwrap();
        let file = TextFile::find(path, None).unwrap();
        assert_eq!(lines_of(Some(&file), &[0, 1, 1, 2, 3]).unwrap(), [2, 5, 5, 6, 7]);
        assert_eq!(lines_of(None, &[4]).unwrap(), [5]);
    }
}
