//! Splits text into records and their fields.
//!
//! A field is a range of the text, so nothing is copied. A range may hold escaped quotes, which are
//! removed when the field is read. A record that the text cuts is left for the next call.
//!
//! ```text
//! id,name\n7,"a ""b"""\n     fields: [id] [name] [7] [a ""b"" QUOTED ESCAPED]
//!                            record ends: 2, 4; lines: 1, 2
//! ```
//!
//! A line is terminated by `\n`, `\r\n` or `\r`, in any mixture. A quote opens only where a field
//! begins; elsewhere it is literal. Where text follows a closing quote, the quotes of the field are
//! literal, too; if a quote is its last character, the outer two are around it. Outside quotes an
//! escape makes a special character literal, and is literal itself in front of others: `\N` and
//! `C:\dir` stay as they are. Cost: one pass over the text.

use super::dialect::Dialect;
use memchr::{memchr, memchr_iter, memchr2};
use std::borrow::Cow;

/// The most bytes that are split at once: ranges have 32 bits, with two flags.
pub(in crate::tables) const TEXT_LEN_MAX: usize = 1 << 30;

/// The most fields of a record: one that has more is no record of a table.
pub(in crate::tables) const FIELDS_MAX: usize = 1 << 16;

/// The field was quoted.
const QUOTED: u32 = 1 << 31;
/// The range has characters that are no part of the value.
const ESCAPED: u32 = 1 << 30;

/// The range of a field in the text, without the quotes around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tables) struct Field {
    start: u32,
    end_and_flags: u32,
}

impl Field {
    /// A field that is not there.
    pub(in crate::tables) const MISSING: Field = Field { start: 0, end_and_flags: 0 };

    fn new(start: usize, end: usize, flags: u32) -> Field {
        Field { start: start as u32, end_and_flags: end as u32 | flags }
    }

    /// Returns true for a field in quotes.
    pub(in crate::tables) fn is_quoted(self) -> bool {
        self.end_and_flags & QUOTED != 0
    }

    /// Whether a line break may be in it: in quotes, or after an escape.
    fn may_span_lines(self) -> bool {
        self.end_and_flags & (QUOTED | ESCAPED) != 0
    }

    /// Returns true for a field without a character, quoted or not.
    pub(in crate::tables) fn is_empty(self) -> bool {
        self.start == self.end_and_flags & !(QUOTED | ESCAPED)
    }

    /// Returns true if the end of the field is at or before a position of the text.
    pub(in crate::tables) fn stops_before(self, position: usize) -> bool {
        self.range().end <= position
    }

    /// The position of its first byte in the text, after a quote.
    pub(in crate::tables) fn start(self) -> usize {
        self.start as usize
    }

    /// The positions of its bytes in the text, without the quotes around it.
    pub(in crate::tables) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.end_and_flags & !(QUOTED | ESCAPED)) as usize
    }
}

/// The records of a text.
#[derive(Debug, Default)]
pub(in crate::tables) struct Records {
    /// The fields of all records, one record after the other.
    pub fields: Vec<Field>,
    /// For each record the number of fields up to its end.
    pub offsets: Vec<u32>,
    /// For each record the line on which it begins, from 1 in the entire file.
    pub lines: Vec<u64>,
    /// The number of fields with text after their closing quote.
    pub stray_quotes: usize,
}

impl Records {
    /// The number of records.
    pub(in crate::tables) fn len(&self) -> usize {
        self.offsets.len()
    }

    /// For each record from `start` on the number of its fields. A separator after the last field
    /// adds none: an empty field more than the first of them has, or that the first one alone has.
    pub(in crate::tables) fn widths(&self, start: usize) -> Vec<usize> {
        let all = start..self.len();
        let mut first = all.clone().next().map_or(0, |index| self.record(index).len());
        let is_alone =
            |fields: &usize| all.clone().skip(1).all(|it| self.record(it).len() == *fields);
        if 2 < first && 1 < all.len() && self.is_trailed(start) && is_alone(&(first - 1)) {
            first -= 1;
        }
        let width = |index: usize| match self.record(index).len() {
            fields if fields == first + 1 && self.is_trailed(index) => first,
            fields => fields,
        };
        all.clone().map(width).collect()
    }

    /// Whether a separator follows the last field of a record.
    fn is_trailed(&self, index: usize) -> bool {
        self.record(index).last().is_some_and(|last| last.is_empty() && !last.is_quoted())
    }

    /// The fields of a record.
    pub(in crate::tables) fn record(&self, index: usize) -> &[Field] {
        let start = if index == 0 { 0 } else { self.offsets[index - 1] as usize };
        &self.fields[start..self.offsets[index] as usize]
    }
}

/// The number of fields that most records have; of several the greatest.
pub(in crate::tables) fn commonest(widths: &[usize]) -> usize {
    let mut sorted = widths.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|one, other| one == other);
    runs.max_by_key(|run| (run.len(), run[0])).map_or(1, |run| run[0])
}

/// How a split ended.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::tables) struct Split {
    /// The bytes of the records; the record after them is cut.
    pub consumed: usize,
    /// The line, from 1, of a quote that opens and is not closed in this text.
    pub open_quote: Option<u64>,
    /// Whether the record after them has more than [`FIELDS_MAX`] fields.
    pub is_too_wide: bool,
}

/// Splits texts that follow each other.
pub(in crate::tables) struct Splitter {
    dialect: Dialect,
    /// The bytes that end an unquoted field.
    terminates_field: [bool; 256],
    /// These and the escape.
    stops_field: [bool; 256],
    /// The line on which the next record begins, from 1.
    line: u64,
}

/// A field, and the position of the byte that ended it.
enum Scanned {
    Field(Field, usize),
    /// The end of the text is within the field.
    Cut,
    /// The end of the text is within its quotes.
    Open,
}

impl Splitter {
    /// Begins at the first line of a file.
    pub(in crate::tables) fn new(dialect: Dialect) -> Splitter {
        let mut terminates_field = [false; 256];
        let comment = dialect.comment.filter(|_| dialect.has_comments_in_lines);
        for byte in [dialect.separator, b'\n', b'\r'].into_iter().chain(comment) {
            terminates_field[usize::from(byte)] = true;
        }
        let mut stops_field = terminates_field;
        if let Some(escape) = dialect.escape_outside() {
            stops_field[usize::from(escape)] = true;
        }
        Splitter { dialect, terminates_field, stops_field, line: 1 }
    }

    /// The line on which the next record begins, from 1.
    pub(in crate::tables) fn line(&self) -> u64 {
        self.line
    }

    /// Adds the complete records of a text of at most [`TEXT_LEN_MAX`] bytes to `records`, at most
    /// `limit` of them. `is_last` says that no more text follows, so that its last record is
    /// complete, too.
    pub(in crate::tables) fn split(
        &mut self,
        text: &[u8],
        is_last: bool,
        limit: usize,
        records: &mut Records,
    ) -> Split {
        debug_assert!(text.len() <= TEXT_LEN_MAX, "the reader bounds a record");
        let mut at = 0;
        let done = |consumed| Split { consumed, open_quote: None, is_too_wide: false };
        while at < text.len() && records.len() < limit {
            if let Some(next) = self.skipped_line(text, at, is_last) {
                match next {
                    Some(next) => at = next,
                    None => return done(at),
                }
                continue;
            }
            let (fields_before, strays_before) = (records.fields.len(), records.stray_quotes);
            match self.record(text, at, is_last, records) {
                Ok((next, lines)) => {
                    records.offsets.push(records.fields.len() as u32);
                    records.lines.push(self.line);
                    self.line += lines;
                    at = next;
                }
                Err(cut) => {
                    records.fields.truncate(fields_before);
                    records.stray_quotes = strays_before;
                    let open_quote = match cut {
                        Cut::Open(position) => Some(self.line + line_breaks(&text[at..position])),
                        Cut::Within | Cut::TooWide => None,
                    };
                    let is_too_wide = matches!(cut, Cut::TooWide);
                    return Split { consumed: at, open_quote, is_too_wide };
                }
            }
        }
        done(at)
    }

    /// Passes over an empty line or a comment at `at`: `None` where there is neither, and otherwise
    /// the position after it, which is unknown where the text cuts it.
    fn skipped_line(&mut self, text: &[u8], at: usize, is_last: bool) -> Option<Option<usize>> {
        let (separator, merges) = (self.dialect.separator, self.dialect.merges_separators);
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t') && (*byte != separator || merges);
        let first = at + text[at..].iter().take_while(|byte| is_blank(byte)).count();
        let skips_empty = !self.dialect.retains_empty_lines;
        let next = match text.get(first) {
            Some(b'\n' | b'\r') if skips_empty => behind_line_end(text, first, is_last),
            None if skips_empty => is_last.then_some(first),
            Some(byte) if self.dialect.comment == Some(*byte) => {
                behind_rest_of_line(text, first, is_last)
            }
            _ => return None,
        };
        self.line += u64::from(next.is_some());
        Some(next)
    }

    /// Adds the fields of the record at `at`. Returns the position after it, and the number of its
    /// lines.
    fn record(
        &self,
        text: &[u8],
        mut at: usize,
        is_last: bool,
        records: &mut Records,
    ) -> Result<(usize, u64), Cut> {
        let first_field = records.fields.len();
        let mut lines = 1;
        let mut is_first = true;
        loop {
            if self.dialect.merges_separators {
                while text.get(at) == Some(&self.dialect.separator) {
                    at += 1;
                }
                // Blanks before the end of the line begin no field.
                if !is_first
                    && text.get(at).is_none_or(|byte| self.terminates_field[usize::from(*byte)])
                {
                    return self.line_end(text, at, is_last).map(|next| (next, lines));
                }
            }
            is_first = false;
            let (field, end) = match self.field(text, at, is_last, records) {
                Scanned::Field(field, end) => (field, end),
                Scanned::Cut => return Err(Cut::Within),
                Scanned::Open => return Err(Cut::Open(at)),
            };
            if field.may_span_lines() || self.dialect.quote == text.get(field.start()).copied() {
                lines += line_breaks(&text[field.range()]);
            }
            if records.fields.len() - first_field == FIELDS_MAX {
                return Err(Cut::TooWide);
            }
            records.fields.push(field);
            match text.get(end) {
                Some(byte) if *byte == self.dialect.separator => at = end + 1,
                _ => return self.line_end(text, end, is_last).map(|next| (next, lines)),
            }
        }
    }

    /// The position after the line of a record whose last field stops at `at`, and after a
    /// comment in it.
    fn line_end(&self, text: &[u8], at: usize, is_last: bool) -> Result<usize, Cut> {
        behind_rest_of_line(text, at, is_last).ok_or(Cut::Within)
    }

    /// Reads the field at `start`.
    fn field(&self, text: &[u8], start: usize, is_last: bool, records: &mut Records) -> Scanned {
        if let Some(quote) = self.dialect.quote.filter(|quote| text.get(start) == Some(quote)) {
            return self.quoted(text, start, quote, is_last, records);
        }
        if text.get(start) == Some(&b' ')
            && let Some(scanned) = self.quoted_behind_blanks(text, start, is_last, records)
        {
            return scanned;
        }
        match self.unquoted(text, start, is_last) {
            Some(field) => Scanned::Field(field, field.range().end),
            None => Scanned::Cut,
        }
    }

    /// Reads a field without quotes, in which the escape makes a special character literal.
    fn unquoted(&self, text: &[u8], start: usize, is_last: bool) -> Option<Field> {
        let (mut at, mut flags) = (start, 0);
        loop {
            let stop = text[at..].iter().position(|byte| self.stops_field[usize::from(*byte)]);
            let Some(len) = stop else {
                return is_last.then(|| Field::new(start, text.len(), flags));
            };
            at += len;
            if self.dialect.escape_outside() != Some(text[at]) {
                return Some(Field::new(start, at, flags));
            }
            let escaped = self.dialect.escaped_len(&text[at + 1..]);
            // More text may have the character, or the second byte of a line break.
            if !is_last && text.len() <= at + 1 + escaped.max(1) {
                return None;
            }
            if 0 < escaped {
                flags = ESCAPED;
            }
            at += 1 + escaped;
        }
    }

    /// Reads a field whose quote follows blanks, `None` where they are text of a field as
    /// others.
    fn quoted_behind_blanks(
        &self,
        text: &[u8],
        start: usize,
        is_last: bool,
        records: &mut Records,
    ) -> Option<Scanned> {
        let quote = self.dialect.quote?;
        let blanks = text[start..].iter().take_while(|byte| **byte == b' ').count();
        let is_quote = self.dialect.separator != b' ' && text.get(start + blanks) == Some(&quote);
        let strays_before = records.stray_quotes;
        match is_quote.then(|| self.quoted(text, start + blanks, quote, is_last, records))? {
            Scanned::Field(..) if strays_before < records.stray_quotes => {
                records.stray_quotes = strays_before;
                None
            }
            Scanned::Open if is_last => None,
            scanned => Some(scanned),
        }
    }

    /// The position after the blanks at `at`, which are no part of a quoted field.
    fn behind_blanks(&self, text: &[u8], at: usize) -> usize {
        if self.dialect.separator == b' ' {
            return at;
        }
        at + text[at..].iter().take_while(|byte| **byte == b' ').count()
    }

    fn unquoted_end(&self, text: &[u8], start: usize, is_last: bool) -> Option<usize> {
        let end = text[start..].iter().position(|byte| self.terminates_field[usize::from(*byte)]);
        match end {
            Some(len) => Some(start + len),
            None => is_last.then_some(text.len()),
        }
    }

    fn quoted(
        &self,
        text: &[u8],
        start: usize,
        quote: u8,
        is_last: bool,
        records: &mut Records,
    ) -> Scanned {
        let escape = self.dialect.escape.unwrap_or(quote);
        let (mut at, mut flags) = (start + 1, QUOTED);
        loop {
            let Some(len) = memchr2(quote, escape, &text[at..]) else { return Scanned::Open };
            at += len;
            if text[at] != quote || text.get(at + 1) == Some(&quote) {
                // An escaped character. After an escape any character is meant as it is.
                (at, flags) = (at + 2, flags | ESCAPED);
                if text.len() < at {
                    return Scanned::Open;
                }
                continue;
            }
            let closing = at + 1;
            let behind = self.behind_blanks(text, closing);
            match text.get(behind) {
                // Perhaps the first of two quotes.
                None if !is_last => return Scanned::Open,
                None => return Scanned::Field(Field::new(start + 1, at, flags), behind),
                Some(byte) if self.terminates_field[usize::from(*byte)] => {
                    return Scanned::Field(Field::new(start + 1, at, flags), behind);
                }
                Some(_) => {}
            }
            let Some(end) = self.unquoted_end(text, closing, is_last) else { return Scanned::Cut };
            records.stray_quotes += 1;
            return Scanned::Field(self.stray_field(text, (start, closing, end), quote), end);
        }
    }

    /// A field from `start` to `end` in which text follows the quote before `closing`.
    fn stray_field(
        &self,
        text: &[u8],
        (start, closing, end): (usize, usize, usize),
        quote: u8,
    ) -> Field {
        let is_blank = |byte: &&u8| **byte == b' ' && self.dialect.separator != b' ';
        let last = end - text[closing..end].iter().rev().take_while(is_blank).count();
        match text[closing..last] {
            [.., before, sign] if sign == quote && Some(before) != self.dialect.escape => {
                Field::new(start + 1, last - 1, QUOTED)
            }
            _ => Field::new(start, end, 0),
        }
    }

    /// Passes over the next line, whatever is in it. Returns the position after it in a text that
    /// begins with it.
    pub(in crate::tables) fn behind_line(&mut self, text: &[u8]) -> usize {
        self.line += 1;
        behind_rest_of_line(text, 0, true).unwrap_or(text.len())
    }

    /// How the text is written.
    pub(in crate::tables) fn dialect(&self) -> Dialect {
        self.dialect
    }
}

/// Why a record is incomplete.
enum Cut {
    /// The end of the text is within it.
    Within,
    /// The end of the text is within the quotes that open at this position.
    Open(usize),
    /// It has more than [`FIELDS_MAX`] fields.
    TooWide,
}

/// The value of a field of a text.
pub(in crate::tables) fn field_text(text: &str, field: Field, dialect: Dialect) -> Cow<'_, str> {
    let raw = &text[field.range()];
    if field.end_and_flags & ESCAPED == 0 {
        return Cow::Borrowed(raw);
    }
    match (dialect.quote, dialect.escape_outside()) {
        (Some(quote), _) if field.is_quoted() => Cow::Owned(unescaped(raw, quote, dialect.escape)),
        (_, Some(escape)) => Cow::Owned(unescaped_outside(raw, escape, dialect)),
        _ => Cow::Borrowed(raw),
    }
}

/// The content of a field without quotes, without the escapes in front of special characters.
fn unescaped_outside(raw: &str, escape: u8, dialect: Dialect) -> String {
    let mut content = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(position) = memchr(escape, rest.as_bytes()) {
        let behind = position + 1;
        let escaped = dialect.escaped_len(&rest.as_bytes()[behind..]);
        let before = if 0 < escaped { position } else { behind };
        content.push_str(&rest[..before]);
        content.push_str(&rest[behind..behind + escaped]);
        rest = &rest[behind + escaped..];
    }
    content + rest
}

/// The content of a quoted field without the escapes and the first of two quotes.
fn unescaped(raw: &str, quote: u8, escape: Option<u8>) -> String {
    let mut content = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(position) = memchr2(quote, escape.unwrap_or(quote), rest.as_bytes()) {
        content.push_str(&rest[..position]);
        // Special characters are ASCII, so other characters begin after them.
        let mut letters = rest[position + 1..].chars();
        content.extend(letters.next());
        rest = letters.as_str();
    }
    content + rest
}

/// The position after the line that goes on at `at`; `None` where more text may belong to it.
fn behind_rest_of_line(text: &[u8], at: usize, is_last: bool) -> Option<usize> {
    match memchr2(b'\n', b'\r', &text[at.min(text.len())..]) {
        Some(len) => behind_line_end(text, at + len, is_last),
        None => is_last.then_some(text.len()),
    }
}

/// The position after the end of a line at `at`; `None` where more text may belong to it.
fn behind_line_end(text: &[u8], at: usize, is_last: bool) -> Option<usize> {
    match (text.get(at), text.get(at + 1)) {
        (Some(b'\r'), Some(b'\n')) => Some(at + 2),
        (Some(b'\r'), None) if !is_last => None,
        (Some(_), _) => Some(at + 1),
        (None, _) => is_last.then_some(text.len()),
    }
}

/// The number of line breaks in a text: each `\n`, and each `\r` without a `\n` after it.
fn line_breaks(text: &[u8]) -> u64 {
    let feeds = memchr_iter(b'\n', text).count() as u64;
    if memchr(b'\r', text).is_none() {
        return feeds;
    }
    let is_alone = |position: &usize| text.get(position + 1) != Some(&b'\n');
    feeds + memchr_iter(b'\r', text).filter(is_alone).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rows = Vec<(u64, Vec<String>)>;

    /// The records with their lines, of a text that comes in steps of `step` bytes.
    fn records_of(text: &str, dialect: Dialect, step: usize) -> (Rows, Option<u64>) {
        let mut splitter = Splitter::new(dialect);
        let (mut rows, mut begin, mut end) = (Vec::new(), 0, 0);
        loop {
            end = (end + step).min(text.len());
            let is_last = end == text.len();
            let (part, mut records) = (&text.as_bytes()[begin..end], Records::default());
            let split = splitter.split(part, is_last, usize::MAX, &mut records);
            for index in 0..records.len() {
                let fields = records.record(index).iter();
                let read = |field: &Field| {
                    let part = std::str::from_utf8(part).unwrap();
                    let mark = if field.is_quoted() { "'" } else { "" };
                    mark.to_owned() + &field_text(part, *field, dialect)
                };
                rows.push((records.lines[index], fields.map(read).collect()));
            }
            begin += split.consumed;
            if is_last {
                return (rows, split.open_quote);
            }
        }
    }

    /// Each row: the text => the records as `line:field|field`, quoted fields after `'`.
    #[test]
    fn texts_are_split() {
        let plain = Dialect::separated_by(b',');
        let backslash = Dialect { escape: Some(b'\\'), ..plain };
        let doubled = Dialect { escape: Some(b'"'), ..plain };
        let raw = Dialect { quote: None, ..backslash };
        let commented = Dialect { comment: Some(b'#'), ..plain };
        let blanks =
            Dialect { merges_separators: true, quote: None, ..Dialect::separated_by(b' ') };
        let in_lines = Dialect { has_comments_in_lines: true, ..commented };
        let in_columns = Dialect { comment: Some(b'#'), has_comments_in_lines: true, ..blanks };
        let column = Dialect { retains_empty_lines: true, ..plain };
        let unquoted = Dialect { quote: None, ..plain };
        #[rustfmt::skip]
        let cases: &[(Dialect, &str, &str)] = &[
            (plain, "a,b\n1,2\n", "1:a|b 2:1|2"),
            (plain, "a,b\r\n1,2\r\n", "1:a|b 2:1|2"),
            (plain, "a,b\r1,2\r", "1:a|b 2:1|2"),
            (plain, "a\r\nb\nc\rd", "1:a 2:b 3:c 4:d"),              // mixed line breaks
            (plain, "\n\na\n\n\nb\n\n", "3:a 6:b"),                  // empty lines are none
            (plain, "a,\n,b\n,\n", "1:a| 2:|b 3:|"),                 // empty fields are
            (plain, "\"a,b\",c\n", "1:'a,b|c"),
            (plain, "\"a\nb\",c\nd,e", "1:'a\nb|c 3:d|e"),           // a record over two lines
            (plain, "\"a\"\"b\",\"\"\n", "1:'a\"b|'"),               // a quoted empty field
            (plain, "\"\"\"\"\n", "1:'\""),
            (plain, "5\" pipe,6\"\n", "1:5\" pipe|6\""),             // within a field it is a letter
            (plain, "\"a\"b,c\n", "1:\"a\"b|c"),                     // letters behind a quote
            (plain, "\"a\"b\"\"c\n", "1:\"a\"b\"\"c"),
            (plain, "\"a \"b\" c\",\"d\"\n", "1:'a \"b\" c|'d"),      // quotes around others
            (plain, "\"a\nb\"c,d\ne,f\n", "1:\"a\nb\"c|d 3:e|f"),
            (backslash, "\"a\\\"b\",\"c\\\\\"\n", "1:'a\"b|'c\\"),
            (backslash, "\"a\"\"b\"\n", "1:'a\"b"),
            (backslash, "a\\,b,c\n\\\"d,e\\\\\n", "1:a,b|c 2:\"d|e\\"),      // outside quotes
            (backslash, "C:\\x,\\N\n\\,\\", "1:C:\\x|\\N 2:,\\"),           // other letters
            (backslash, "a\\\nb,c\\\r\nd\ne", "1:a\nb|c\r\nd 4:e"),
            (raw, "a\\,\"b\n", "1:a,\"b"),
            (doubled, "5\",\"a\"\"b\"\n", "1:5\"|'a\"b"),           // an escape that is the quote
            (commented, "# x,y\na,b\n#c\n1,#2", "2:a|b 4:1|#2"),
            (commented, " # x\na,b\n", "2:a|b"),
            (in_lines, "#x\na,b#c,d\n1,\"#2\"#\n3,\n", "2:a|b 3:1|'#2 4:3|"),
            (in_columns, "1 2 # x\n3 4#\n #\n", "1:1|2 2:3|4"),
            (blanks, "  1  2 \n 3 4\n", "1:1|2 2:3|4"),
            (column, "a\n\nb\n", "1:a 2: 3:b"),
            (unquoted, "\"a,b\n", "1:\"a|b"),
            (plain, "", ""),
        ];
        for (dialect, text, want) in cases {
            for step in [1, 2, 3, usize::MAX / 2] {
                let (rows, open) = records_of(text, *dialect, step);
                let shown = rows.iter().map(|(line, row)| format!("{line}:{}", row.join("|")));
                assert_eq!(shown.collect::<Vec<_>>().join(" "), *want, "{text:?}, step {step}");
                assert_eq!(open, None, "{text:?}");
            }
        }
    }

    #[test]
    fn a_quote_that_stays_open_is_reported_with_its_line() {
        for step in [1, 4, 100] {
            let (rows, open) =
                records_of("a,b\nc,d\ne,\"f\ng\n", Dialect::separated_by(b','), step);
            assert_eq!((rows.len(), open), (2, Some(3)));
        }
    }

    proptest::proptest! {
        /// Whatever the lengths are in which the text comes, and what `csv` reads where its rules
        /// are the same.
        #[test]
        fn texts_come_in_parts(text in "[a,\"\n\r]{0,60}", step in 1_usize..9) {
            let dialect = Dialect::separated_by(b',');
            proptest::prop_assert_eq!(
                records_of(&text, dialect, step),
                records_of(&text, dialect, usize::MAX / 2)
            );
        }
    }
}
