//! The slow twin of the reader: splits a text character by character, and compares.

use super::dialect::Dialect;
use super::options::CsvOptions;
use super::reader::TextReader;
use super::records::FIELDS_MAX;
use super::sniff::{CsvFormat, sniff};
use crate::tables::shape::options::{NO_SEPARATOR, Ragged};

/// A record: the value of each field, and whether it is quoted.
type Record = Vec<(String, bool)>;

/// Sniffs a text and reads it in small batches. The records are those that the slow twin says.
///
/// # Panics
///
/// Panics where they differ.
pub(in crate::tables) fn check_text_table(text: &str, usual: u8, is_list: bool) {
    let text = text.trim_start_matches('\u{feff}');
    let given = CsvOptions { is_list, ..CsvOptions::default() };
    let CsvFormat { dialect, skip, header, .. } = sniff(text, false, usual, &given).sniffed;
    let width = header.columns.len();
    let table = ("t".to_owned(), text.as_bytes());
    let has_header = header.is_first_record;
    let mut reader = TextReader::new(table, dialect, (skip, has_header), (width, Ragged::Skip));
    let (mut records, mut skipped, mut is_complete) = (Vec::new(), 0, true);
    loop {
        match reader.next(3) {
            Ok(Some(batch)) => {
                let batch = &batch;
                let cells = |row| (0..width).map(move |column| batch.cell(row, column));
                let record = |row| cells(row).map(|(text, is)| (text.into_owned(), is)).collect();
                records.extend((0..batch.len()).map(record));
                skipped += batch.skipped.len();
            }
            Ok(None) => break,
            Err(_) => {
                is_complete = false;
                break;
            }
        }
    }
    let Some(slow) = slow_records(text, skip, dialect) else {
        assert!(!is_complete, "{text:?}: a quote stays open, {dialect:?}");
        return;
    };
    assert!(is_complete, "{text:?}: no quote stays open, {dialect:?}");
    let rows = slow.into_iter().skip(usize::from(has_header));
    let (even, others): (Vec<Record>, Vec<Record>) = rows.partition(|record| {
        record.len() == width
            || record.len() == width + 1 && record.last().is_some_and(|(text, _)| text.is_empty())
    });
    let even: Vec<Record> =
        even.into_iter().map(|mut record| record.drain(..width).collect()).collect();
    assert_eq!((&records, skipped), (&even, others.len()), "{text:?}: {dialect:?}");
}

/// The records of a text after some lines; `None` where a quote is not closed, or a record has too
/// many fields.
fn slow_records(text: &str, skip: u64, dialect: Dialect) -> Option<Vec<Record>> {
    let mut slow = Slow { text: text.chars().collect(), at: 0, dialect };
    (0..skip).for_each(|_| slow.pass_line());
    let mut records = Vec::new();
    while slow.at < slow.text.len() {
        let first = slow.text[slow.at];
        let is_empty = matches!(first, '\n' | '\r') || slow.is_blank_line();
        let is_comment = slow.is_comment(slow.at + slow.blanks());
        if is_comment || is_empty && !dialect.retains_empty_lines {
            slow.pass_line();
        } else {
            let record = slow.record()?;
            if FIELDS_MAX < record.len() {
                return None;
            }
            records.push(record);
        }
    }
    Some(records)
}

struct Slow {
    text: Vec<char>,
    at: usize,
    dialect: Dialect,
}

/// What a field in quotes is.
enum Quoted {
    Closed(String, usize),
    /// Text follows the quote before the position.
    Stray(usize),
    Open,
}

impl Slow {
    fn separator(&self) -> Option<char> {
        Some(self.dialect.separator).filter(|it| *it != NO_SEPARATOR).map(char::from)
    }

    fn is_comment(&self, at: usize) -> bool {
        let sign = self.dialect.comment.map(char::from);
        sign.is_some() && self.text.get(at).copied() == sign
    }

    fn is_line_end(&self, at: usize) -> bool {
        self.text.get(at).is_none_or(|letter| matches!(letter, '\n' | '\r'))
    }

    /// Whether a position is after a record.
    fn is_line_break(&self, at: usize) -> bool {
        self.is_line_end(at) || self.dialect.has_comments_in_lines && self.is_comment(at)
    }

    fn terminates_field(&self, at: usize) -> bool {
        self.is_line_break(at) || Some(self.text[at]) == self.separator()
    }

    /// The number of blanks here that are no separators.
    fn blanks(&self) -> usize {
        let is_blank = |letter: char| {
            let is_separator = Some(letter) == self.separator() && !self.dialect.merges_separators;
            matches!(letter, ' ' | '\t') && !is_separator
        };
        self.text[self.at..].iter().take_while(|letter| is_blank(**letter)).count()
    }

    fn is_blank_line(&self) -> bool {
        0 < self.blanks() && self.is_line_end(self.at + self.blanks())
    }

    fn pass_line(&mut self) {
        while !self.is_line_end(self.at) {
            self.at += 1;
        }
        self.pass_line_end();
    }

    fn pass_line_end(&mut self) {
        let is_pair = self.text[self.at..].starts_with(&['\r', '\n']);
        self.at = (self.at + if is_pair { 2 } else { 1 }).min(self.text.len());
    }

    fn record(&mut self) -> Option<Record> {
        let mut record = Record::new();
        loop {
            if self.dialect.merges_separators {
                while self.text.get(self.at) == Some(&' ') {
                    self.at += 1;
                }
                if !record.is_empty() && self.is_line_break(self.at) {
                    break;
                }
            }
            record.push(self.field()?);
            if self.is_line_break(self.at) {
                break;
            }
            self.at += 1;
        }
        self.pass_line();
        Some(record)
    }

    fn field(&mut self) -> Option<(String, bool)> {
        let quote = self.dialect.quote.map(char::from);
        let mut start = self.at;
        while self.separator() != Some(' ') && self.text.get(start) == Some(&' ') {
            start += 1;
        }
        if quote.is_some() && self.text.get(start).copied() == quote {
            match (self.quoted(start), start == self.at) {
                (Quoted::Closed(value, end), _) => {
                    self.at = end;
                    return Some((value, true));
                }
                (Quoted::Stray(end), true) => return Some(self.stray((start, end))),
                (Quoted::Open, true) => return None,
                // The quote after blanks is literal.
                (_, false) => {}
            }
        }
        Some((self.escaped(), false))
    }

    /// A field without quotes, in which the escape makes a special character literal.
    fn escaped(&mut self) -> String {
        let Dialect { quote, escape, comment, .. } = self.dialect;
        let [quote, escape, comment] = [quote, escape, comment].map(|it| it.map(char::from));
        let signs = [self.separator(), quote, escape, comment];
        let mut value = String::new();
        loop {
            let letter = self.text.get(self.at).copied();
            let next = self.text.get(self.at + 1).copied();
            let is_escape = letter.is_some() && escape != quote && letter == escape;
            let is_sign = |next| matches!(next, '\n' | '\r') || signs.contains(&Some(next));
            if let Some(next) = next.filter(|next| is_escape && is_sign(*next)) {
                value.push(next);
                self.at += 2;
                if next == '\r' && self.text.get(self.at) == Some(&'\n') {
                    value.push('\n');
                    self.at += 1;
                }
            } else if !is_escape && self.terminates_field(self.at) {
                return value;
            } else if let Some(letter) = letter {
                value.push(letter);
                self.at += 1;
            }
        }
    }

    /// A field whose quote opens at `start`, and after whose quote before `closing` text stands.
    fn stray(&mut self, (start, closing): (usize, usize)) -> (String, bool) {
        self.at = closing;
        let behind = self.unquoted();
        let is_aligned = self.separator() == Some(' ');
        let letters = if is_aligned { &behind } else { behind.trim_end_matches(' ') };
        let mut last = letters.chars().rev();
        let (sign, before) = (last.next(), last.next());
        let escape = self.dialect.escape.map(char::from);
        if sign == Some(self.text[start]) && before.is_some() && before != escape {
            let inner: String = self.text[start + 1..closing].iter().collect();
            return (inner + &letters[..letters.len() - 1], true);
        }
        (self.text[start..self.at].iter().collect(), false)
    }

    fn unquoted(&mut self) -> String {
        let start = self.at;
        while !self.terminates_field(self.at) {
            self.at += 1;
        }
        self.text[start..self.at].iter().collect()
    }

    fn quoted(&self, start: usize) -> Quoted {
        let quote = self.text[start];
        let escape = self.dialect.escape.map_or(quote, char::from);
        let (mut value, mut at) = (String::new(), start + 1);
        while let Some(&letter) = self.text.get(at) {
            let next = self.text.get(at + 1);
            if letter == quote && next != Some(&quote) {
                let mut end = at + 1;
                while self.separator() != Some(' ') && self.text.get(end) == Some(&' ') {
                    end += 1;
                }
                return match self.terminates_field(end) {
                    true => Quoted::Closed(value, end),
                    false => Quoted::Stray(at + 1),
                };
            }
            if letter == quote || letter == escape {
                let Some(&next) = next else { return Quoted::Open };
                value.push(next);
                at += 2;
            } else {
                value.push(letter);
                at += 1;
            }
        }
        Quoted::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(4000))]

        #[test]
        fn reader_and_slow_twin_agree(
            text in "[ab1,;\t|\"'\\\\#\n\r é]{0,60}",
            usual in proptest::sample::select(b",\t|".to_vec()),
            is_list: bool,
        ) {
            check_text_table(&text, usual, is_list);
        }

        /// Records that look like those of tables.
        #[test]
        fn reader_and_slow_twin_agree_on_tables(
            records in proptest::collection::vec(
                proptest::collection::vec(
                    "[ab1 ]{0,3}|\"[ab\n, ]{0,4}\"|\"a\"\"b\"| \"x,\"|\"\\\\\",\"|a\\\\,b|\\\\\n|'a,'|#a|\"a\"b", 1..4),
                0..8),
            separator in proptest::sample::select(vec![",", ";", "\t", " "]),
            line_end in proptest::sample::select(vec!["\n", "\r\n", "\r", "\n\n", "\n \n"]),
        ) {
            let records: Vec<String> = records.iter().map(|it| it.join(separator)).collect();
            check_text_table(&records.join(line_end), b',', separator == " ");
        }
    }
}
