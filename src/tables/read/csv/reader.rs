//! Reads a delimited text file as batches of records that all have as many fields.
//!
//! Text is read in blocks; a record that a block cuts goes to the next one. A block grows for a
//! record that is longer, up to [`RECORD_LEN_MAX`].

use super::dialect::Dialect;
use super::records::{FIELDS_MAX, Field, Records, Splitter, field_text};
use crate::tables::read::pages::memory::ReadMemory;
use crate::tables::shape::options::Ragged;
use hexgraph_base::budget::Held;
use hexgraph_base::types::{BYTE_ORDER_MARK, Error, Result};
use std::borrow::Cow;
use std::io::Read;

/// The bytes of text of a batch: enough for a thread's work, small compared with the columns made
/// of them.
const BLOCK_LEN: usize = 1 << 22;

/// The longest record. One that is longer is a quote that is never closed, or no table.
const RECORD_LEN_MAX: usize = 1 << 26;

/// How often a text is in memory: as it was read, as columns, and as parts of predicates.
const TEXT_COPIES: u64 = 3;

/// The bytes of a field in addition to its text: its range, its cell in a column, and in a part.
const FIELD_LEN: u64 = 32;

/// Records with one number of fields.
pub(in crate::tables) struct TextBatch {
    text: String,
    dialect: Dialect,
    /// The fields, `width` for each record.
    fields: Vec<Field>,
    width: usize,
    /// For each record the line on which it begins, from 1.
    pub lines: Vec<u64>,
    /// The lines of records that were left out.
    pub skipped: Vec<u64>,
    /// The number of records to which fields were added.
    pub filled: usize,
}

impl TextBatch {
    /// The number of records.
    pub(in crate::tables) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The cells of a column: the value of each, and whether it was quoted.
    pub(in crate::tables) fn column(
        &self,
        column: usize,
    ) -> impl ExactSizeIterator<Item = (Cow<'_, str>, bool)> {
        (0..self.len()).map(move |row| self.cell(row, column))
    }

    /// The value of a cell, and whether it was quoted.
    pub(in crate::tables) fn cell(&self, row: usize, column: usize) -> (Cow<'_, str>, bool) {
        let field = self.fields[row * self.width + column];
        (field_text(&self.text, field, self.dialect), field.is_quoted())
    }
}

/// A file that is read in batches.
pub(in crate::tables) struct TextReader<R> {
    name: String,
    input: R,
    splitter: Splitter,
    width: usize,
    ragged: Ragged,
    /// Bytes that were read and are in no batch yet.
    rest: Vec<u8>,
    /// Lines in front that are not read as records.
    skip: u64,
    /// Whether the next record has the names of the columns.
    is_header_next: bool,
    is_begun: bool,
    is_ended: bool,
}

impl<R: Read> TextReader<R> {
    /// Reads the text of a file, in UTF-8, whose table begins after `skip` lines and has `width`
    /// columns.
    pub(in crate::tables) fn new(
        (name, input): (String, R),
        dialect: Dialect,
        (skip, has_header): (u64, bool),
        (width, ragged): (usize, Ragged),
    ) -> TextReader<R> {
        TextReader {
            name,
            input,
            splitter: Splitter::new(dialect),
            width,
            ragged,
            rest: Vec::new(),
            skip,
            is_header_next: has_header,
            is_begun: false,
            is_ended: false,
        }
    }

    /// The next records, at most `limit` of them, and their memory; `None` at the end.
    ///
    /// # Errors
    ///
    /// Those of [`TextReader::next`]; [`Error::Limit`] where there is no memory for a record.
    pub(in crate::tables) fn next_held(
        &mut self,
        limit: usize,
        memory: &ReadMemory,
    ) -> Result<Option<(TextBatch, Held)>> {
        let mut held = memory.reserve(0)?;
        let batch = self.next_reserved(limit, &mut |bytes| {
            let more = (bytes * TEXT_COPIES).saturating_sub(held.bytes());
            held.grow(more)
        })?;
        let Some(batch) = batch else { return Ok(None) };
        let all = batch.text.len() as u64 * TEXT_COPIES + batch.fields.len() as u64 * FIELD_LEN;
        held.grow(all.saturating_sub(held.bytes()))?;
        Ok(Some((batch, held)))
    }

    /// The next records, at most `limit` of them; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`Error::Load`] with the line of a record that has another number of fields, is too long or
    /// has a quote that is not closed, and of a text that is no UTF-8; [`Error::Io`] for a file
    /// that can't be read.
    pub(in crate::tables) fn next(&mut self, limit: usize) -> Result<Option<TextBatch>> {
        self.next_reserved(limit, &mut |_| Ok(()))
    }

    /// As [`TextReader::next`]. `reserve` is called with the bytes of text that are read next.
    fn next_reserved(
        &mut self,
        limit: usize,
        reserve: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Option<TextBatch>> {
        let mut block_len = BLOCK_LEN;
        loop {
            if !self.is_ended {
                reserve(block_len as u64)?;
            }
            self.fill(block_len)?;
            self.skip_lines();
            let mut records = Records::default();
            let header = usize::from(self.is_header_next);
            let limit = limit.saturating_add(header);
            let split = self.splitter.split(&self.rest, self.is_ended, limit, &mut records);
            if records.len() == 0 && split.is_too_wide {
                let fault = format!("a record begins here that has more than {FIELDS_MAX} fields");
                return Err(self.fault(self.splitter.line(), fault));
            }
            if records.len() == 0 && self.is_ended {
                return match split.open_quote {
                    Some(line) => Err(self.fault(line, "a quote opens here that is never closed; within quotes, write two for one, or say quote=\"\" where quotes are letters".to_owned())),
                    None => Ok(None),
                };
            }
            if records.len() == 0 {
                if RECORD_LEN_MAX <= self.rest.len() {
                    let line = split.open_quote.unwrap_or(self.splitter.line());
                    let fault = format!(
                        "a record begins here that is longer than {RECORD_LEN_MAX} bytes; is a quote not closed?"
                    );
                    return Err(self.fault(line, fault));
                }
                block_len = (2 * block_len).min(RECORD_LEN_MAX);
                continue;
            }
            let behind = self.rest.split_off(split.consumed);
            let text = std::mem::replace(&mut self.rest, behind);
            let text = String::from_utf8(text).map_err(|error| self.not_utf8(&error, &records))?;
            self.is_header_next = false;
            let batch = self.batch(text, records, header)?;
            if 0 < batch.len() || !batch.skipped.is_empty() || !self.is_ended {
                return Ok(Some(batch));
            }
        }
    }

    /// Reads until there are so many bytes, or the end of the file.
    fn fill(&mut self, len: usize) -> Result<()> {
        let missing = len.saturating_sub(self.rest.len());
        if self.is_ended || missing == 0 {
            return Ok(());
        }
        let failed = |error| Error::io(format!("reading {}", self.name), error);
        let mut part = self.input.by_ref().take(missing as u64);
        let count = part.read_to_end(&mut self.rest).map_err(failed)?;
        self.is_ended = count < missing;
        if !self.is_begun {
            self.is_begun = true;
            if self.rest.starts_with(BYTE_ORDER_MARK) {
                self.rest.drain(..BYTE_ORDER_MARK.len());
            }
        }
        Ok(())
    }

    fn skip_lines(&mut self) {
        // Lines in front are few, and are in the first block; what is longer is no table.
        while 0 < self.skip && !self.rest.is_empty() {
            let next = self.splitter.behind_line(&self.rest);
            self.rest.drain(..next);
            self.skip -= 1;
        }
    }

    fn batch(&self, text: String, mut records: Records, header: usize) -> Result<TextBatch> {
        let (width, dialect) = (self.width, self.splitter.dialect());
        let mut batch = TextBatch {
            text,
            dialect,
            fields: Vec::new(),
            width,
            lines: Vec::new(),
            skipped: Vec::new(),
            filled: 0,
        };
        let is_even = records
            .offsets
            .iter()
            .enumerate()
            .all(|(index, end)| *end as usize == (index + 1) * width);
        if is_even {
            records.fields.drain(..header * width);
            records.lines.drain(..header);
            (batch.fields, batch.lines) = (records.fields, records.lines);
            return Ok(batch);
        }
        for index in header..records.len() {
            let (fields, line) = (records.record(index), records.lines[index]);
            let extra = fields.get(width..).unwrap_or_default();
            let is_complete = fields.len() == width
                // A separator after the last field.
                || matches!(extra, [only] if only.is_empty());
            match self.ragged {
                _ if is_complete => batch.fields.extend_from_slice(&fields[..width]),
                Ragged::Fill if fields.len() < width => {
                    batch.fields.extend_from_slice(fields);
                    batch.fields.resize((batch.lines.len() + 1) * width, Field::MISSING);
                    batch.filled += 1;
                }
                Ragged::Skip => {
                    batch.skipped.push(line);
                    continue;
                }
                Ragged::Error | Ragged::Fill => return Err(self.uneven(line, fields.len())),
            }
            batch.lines.push(line);
        }
        Ok(batch)
    }

    fn uneven(&self, line: u64, fields: usize) -> Error {
        let fill = if fields < self.width {
            ", ragged=\"fill\" takes what is not there as missing"
        } else {
            ""
        };
        let (have, are) = (counted(fields, "field"), counted(self.width, "column"));
        let fault = format!(
            "this record has {have}, and the table has {are}; ragged=\"skip\" leaves such records out{fill}"
        );
        self.fault(line, fault)
    }

    fn not_utf8(&self, error: &std::string::FromUtf8Error, records: &Records) -> Error {
        let position = error.utf8_error().valid_up_to();
        let byte = error.as_bytes()[position];
        let is_before = |index: &usize| {
            records.fields[records.offsets[*index] as usize - 1].stops_before(position)
        };
        let record = (0..records.len()).find(|index| !is_before(index)).unwrap_or(0);
        let fault = format!(
            "byte 0x{byte:02x} is no UTF-8; name the encoding of the file, encoding=\"windows-1252\" for instance"
        );
        self.fault(records.lines[record], fault)
    }

    fn fault(&self, line: u64, message: String) -> Error {
        Error::Load { file: self.name.clone(), line, column: 1, message }
    }
}

/// A number and what it counts.
pub(in crate::tables) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, dialect: Dialect, ragged: Ragged) -> Result<Vec<String>> {
        let mut reader =
            TextReader::new(("t.csv".to_owned(), text.as_bytes()), dialect, (0, true), (2, ragged));
        let mut rows = Vec::new();
        while let Some(batch) = reader.next(2)? {
            for row in 0..batch.len() {
                let cell = |column| batch.cell(row, column).0.into_owned();
                rows.push(format!("{}:{}|{}", batch.lines[row], cell(0), cell(1)));
            }
            rows.extend(batch.skipped.iter().map(|line| format!("-{line}")));
        }
        Ok(rows)
    }

    #[test]
    fn records_are_of_one_width() {
        let plain = Dialect::separated_by(b',');
        let text = "\u{feff}a,b\n1,2\n\n3\n4,5,\n6,7,8\n";
        let error = |text, ragged| read(text, plain, ragged).unwrap_err().to_string();
        assert!(error(text, Ragged::Error).contains("t.csv:4"), "{}", error(text, Ragged::Error));
        assert!(error(text, Ragged::Fill).contains("t.csv:6"), "{}", error(text, Ragged::Fill));
        let rows = read(text, plain, Ragged::Skip).unwrap();
        assert_eq!(rows, ["2:1|2", "-4", "5:4|5", "-6"]);
        let rows = read("a,b\n1\n", plain, Ragged::Fill).unwrap();
        assert_eq!(rows, ["2:1|"]);
        assert!(error("a,b\n1,\"2\n", Ragged::Error).contains("t.csv:2"));
        assert!(read("", plain, Ragged::Error).unwrap().is_empty());
    }

    #[test]
    fn bytes_that_are_no_utf8_are_reported_with_their_line() {
        let mut bytes = b"a,b\n1,2\n3,".to_vec();
        bytes.extend(b"\xff\n");
        let dialect = Dialect::separated_by(b',');
        let named = ("t.csv".to_owned(), bytes.as_slice());
        let mut reader = TextReader::new(named, dialect, (0, true), (2, Ragged::Error));
        let error = reader.next(10).err().unwrap().to_string();
        assert!(error.contains("t.csv:3") && error.contains("0xff"), "{error}");
    }

    /// A quote that is never closed in a large file does not use all memory.
    #[test]
    fn a_record_is_bounded() {
        let text = std::io::repeat(b'x').take(1 << 40);
        let input = (&b"a,b\n1,\""[..]).chain(text);
        let named = ("t.csv".to_owned(), input);
        let dialect = Dialect::separated_by(b',');
        let mut reader = TextReader::new(named, dialect, (0, true), (2, Ragged::Error));
        assert_eq!(reader.next(10).unwrap().unwrap().len(), 0);
        let error = reader.next(10).err().unwrap().to_string();
        assert!(error.contains("longer than"), "{error}");
    }
}
