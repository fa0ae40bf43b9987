//! Finds out how a delimited text file is written, from its beginning.
//!
//! Each candidate, a separator with a quoting style, splits the sample. The one whose records agree
//! best on their number of fields wins; where several do equally well, the usual one does:
//!
//! 1. Its records have two fields or more, and nearly all as many.
//! 2. All have as many, but for lines in front that have fewer: these are a preamble.
//! 3. The preamble is short.
//! 4. No text follows a closing quote, and no quote stays open.
//! 5. The separator is the usual one; a record has many fields.
//!
//! The last candidate has no separator. It wins where no other one gives the lines a shared number
//! of fields: each line is a text.

use super::dialect::Dialect;
use super::header::{Header, header_of};
use super::kinds::Observed;
use super::options::CsvOptions;
use super::records::{Field, Records, Split, Splitter, commonest};
use crate::tables::shape::options::{NO_SEPARATOR, Ragged};
use std::cmp::Reverse;
use std::ops::Range;

/// The separators that are tried, the more usual one first.
const SEPARATORS: [u8; 4] = *b",\t;|";

/// The separators of lists of edges, which often have blanks.
const SEPARATORS_OF_LISTS: [u8; 5] = *b"\t ,;|";

/// The character of comments.
const COMMENT: char = '#';

/// The part of the records, in hundredths, that have as many fields in a file with faults.
const EVEN_PART: usize = 80;
/// The same for the separator that the file's name promises, and where such records are expected.
const EVEN_PART_OF_USUAL: usize = 50;

/// The part of the lines of one column, in hundredths, in which a separator is worth a warning.
const SEPARATED_PART: usize = 10;

/// How a file is written.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::tables) struct CsvFormat {
    /// Its special characters.
    pub dialect: Dialect,
    /// The number of lines before the first record.
    pub skip: u64,
    /// Its columns, and whether the first record has their names.
    pub header: Header,
    /// The separators in the lines of a file of one column, which give these no shared number of
    /// fields.
    pub separators: Vec<u8>,
}

/// What a sample shows.
#[derive(Debug)]
pub(in crate::tables) struct Sample {
    /// How the file is written.
    pub sniffed: CsvFormat,
    /// What the cells of each column are.
    pub observed: Vec<Observed>,
    /// Whether the first record of the table is completely in the sample, or the file has none.
    pub has_first_record: bool,
    /// How the split of the sample into records ended.
    pub split: Split,
}

/// How a candidate splits the sample; greater is better. Fields are compared in this order.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    is_table: bool,
    is_even: bool,
    preamble: Reverse<usize>,
    /// No quote stays open, and no text follows a closing one.
    is_quoted_well: bool,
    is_usual: bool,
    width: usize,
    quoted: usize,
    order: Reverse<usize>,
}

struct Candidate {
    dialect: Dialect,
    score: Score,
    /// The first record of the table.
    start: usize,
    /// Whether text follows many closing quotes, or some while other quoted fields span lines.
    has_letters_for_quotes: bool,
}

/// Finds out how a text is written. `is_cut` says that the file goes on after the sample, so that
/// its last record is not counted. `usual` is the separator that the name of the file promises.
pub(in crate::tables) fn sniff(text: &str, is_cut: bool, usual: u8, given: &CsvOptions) -> Sample {
    let (sample, first_line) = match given.skip {
        Some(lines) => behind_lines(text, lines),
        None => (text, 0),
    };
    let candidates = candidates(usual, given).into_iter().enumerate();
    let scored: Vec<Candidate> = candidates
        .map(|(order, dialect)| scored_of(sample, is_cut, dialect, (usual, order), given))
        .collect();
    // Only quotes that are none show that they are literal.
    let are_letters = |separator: u8| {
        scored.iter().any(|Candidate { dialect, score, .. }| {
            let is_quoted = dialect.separator == separator && dialect.quote == Some(b'"');
            is_quoted && !score.is_quoted_well
        })
    };
    let unquoted: Vec<u8> = SEPARATORS_OF_LISTS.into_iter().filter(|it| are_letters(*it)).collect();
    // Only fields in them show that apostrophes are quotes.
    let is_shown = |Candidate { dialect, score, .. }: &Candidate| match dialect.quote {
        _ if given.quote.is_some() => true,
        Some(quote) => quote != b'\'' || 0 < score.quoted,
        None => unquoted.contains(&dialect.separator),
    };
    let scored = scored.into_iter().filter(is_shown);
    let best = scored.max_by(|one, other| one.score.cmp(&other.score));
    let mut best = best.expect("there is a candidate");
    if given.quote.is_none() && best.has_letters_for_quotes {
        // The quotes are literal where the table is as good without them.
        let dialect = Dialect { quote: None, escape: None, ..best.dialect };
        let other = scored_of(sample, is_cut, dialect, (usual, 0), given);
        let retains = |candidate: &Candidate| (candidate.score.is_table, candidate.score.is_even);
        best = if retains(&best) <= retains(&other) { other } else { best };
    }
    let Candidate { mut dialect, start, .. } = best;
    let mut cut = split(sample, is_cut, dialect);
    let start = if given.skip.is_some() { 0 } else { start };
    let records = &cut.records;
    if 0 < records.len() && records.fields.len() == records.len() && start == 0 {
        // A file of one column: an empty line is a missing value, and a quote or blank is no
        // separator.
        dialect.retains_empty_lines = true;
        cut = split(sample, is_cut, dialect);
    }
    let is_one_column = dialect.retains_empty_lines && given.separator.is_none();
    let separators = if is_one_column { separators_in(sample, dialect, given) } else { Vec::new() };
    let Cut { mut records, split, has_complete_record, .. } = cut;
    records.lines.iter_mut().for_each(|line| *line += first_line);
    let start = if given.skip.is_none() { behind_empty(&records, start, given) } else { start };
    let skip = if start == 0 { first_line } else { records.lines[start] - 1 };
    let comments = dialect.comment.map_or(Vec::new(), |mark| comment_lines(sample, mark));
    let of_table = (&records, start, separators.as_slice());
    let (header, observed) = header_of((sample, dialect), of_table, &comments, given);
    let has_first_record = has_complete_record || !is_cut && !split.is_too_wide;
    let sniffed = CsvFormat { dialect, skip, header, separators };
    Sample { sniffed, observed, has_first_record, split }
}

/// The separators that are in a tenth of the lines of a file of one column.
fn separators_in(sample: &str, dialect: Dialect, given: &CsvOptions) -> Vec<u8> {
    let lines = || sample.lines().filter(|line| !line.trim().is_empty());
    let count = lines().count();
    let is_in = |separator: &u8| {
        let separated = lines().filter(|line| line.trim().as_bytes().contains(separator)).count();
        0 < separated && count * SEPARATED_PART <= 100 * separated
    };
    let quoted = |line: &str| dialect.quote.is_some_and(|quote| line.as_bytes()[0] == quote);
    // Separators within quotes are literal.
    if lines().all(quoted) {
        return Vec::new();
    }
    separators_of(given).into_iter().filter(is_in).collect()
}

/// The first record that has a value: those in front are no rows, as one says that is only
/// separators.
fn behind_empty(records: &Records, start: usize, given: &CsvOptions) -> usize {
    let has_value = |index: &usize| records.record(*index).iter().any(|field| !field.is_empty());
    match given.header {
        None => (start..records.len()).find(has_value).unwrap_or(start),
        Some(_) => start,
    }
}

/// The text after so many lines, and their number.
fn behind_lines(text: &str, lines: u64) -> (&str, u64) {
    let mut rest = text;
    for _ in 0..lines {
        let Some(end) = rest.find(['\n', '\r']) else { return ("", lines) };
        let len = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
        rest = &rest[end + len..];
    }
    (rest, lines)
}

fn separators_of(given: &CsvOptions) -> Vec<u8> {
    match (given.separator, given.is_list) {
        (Some(separator), _) => vec![separator],
        (None, true) => SEPARATORS_OF_LISTS.to_vec(),
        (None, false) => SEPARATORS.to_vec(),
    }
}

fn candidates(usual: u8, given: &CsvOptions) -> Vec<Dialect> {
    let separators = separators_of(given);
    let first = separators.contains(&usual).then_some(usual);
    let others = separators.into_iter().filter(|separator| *separator != usual);
    let last = given.separator.is_none().then_some(NO_SEPARATOR);
    let separators = first.into_iter().chain(others).chain(last);
    let quotes: Vec<(Option<u8>, Option<u8>)> = match (given.quote, given.escape) {
        (Some(quote), escape) => vec![(quote, escape)],
        (None, Some(escape)) => vec![(Some(b'"'), Some(escape)), (Some(b'\''), Some(escape))],
        (None, None) => vec![
            (Some(b'"'), None),
            (Some(b'"'), Some(b'\\')),
            (Some(b'\''), None),
            (Some(b'\''), Some(b'\\')),
            (None, None),
        ],
    };
    let mut candidates = Vec::new();
    for separator in separators {
        let merges_separators = separator == b' ';
        for &(quote, escape) in &quotes {
            let dialect = Dialect {
                quote,
                escape,
                comment: given.comment.flatten(),
                merges_separators,
                ..Dialect::separated_by(separator)
            };
            candidates.push(dialect);
        }
    }
    candidates
}

/// A sample that is split.
struct Cut {
    records: Records,
    split: Split,
    /// Whether a quote is open at the end of the file.
    has_open_quote: bool,
    /// Whether a record is complete in the sample.
    has_complete_record: bool,
}

/// The records of a sample, without the last one where it is cut.
fn split(sample: &str, is_cut: bool, dialect: Dialect) -> Cut {
    let mut records = Records::default();
    let split = Splitter::new(dialect).split(sample.as_bytes(), !is_cut, usize::MAX, &mut records);
    let has_complete_record = 0 < records.len();
    if !has_complete_record && is_cut {
        // One record that is longer than the sample.
        Splitter::new(dialect).split(sample.as_bytes(), true, usize::MAX, &mut records);
    }
    let has_open_quote = split.open_quote.is_some() && !is_cut;
    Cut { records, split, has_open_quote, has_complete_record }
}

fn scored_of(
    sample: &str,
    is_cut: bool,
    mut dialect: Dialect,
    (usual, order): (u8, usize),
    given: &CsvOptions,
) -> Candidate {
    let mut cut = split(sample, is_cut, dialect);
    if given.comment.is_none() && has_comments(sample, &cut.records) {
        dialect.comment = Some(COMMENT as u8);
        cut = split(sample, is_cut, dialect);
    }
    let mut shape = Shape::of(&cut.records);
    if dialect.comment.is_some() && !shape.is_even() {
        let in_lines = Dialect { has_comments_in_lines: true, ..dialect };
        let other = split(sample, is_cut, in_lines);
        let of_other = Shape::of(&other.records);
        if 1 < of_other.width && of_other.is_even() {
            (dialect, cut, shape) = (in_lines, other, of_other);
        }
    }
    let records = &cut.records;
    let is_even = shape.is_even();
    let Shape { widths, width, table, even } = shape;
    let (start, table_len) = (table.start, table.len());
    let is_usual = dialect.separator == usual;
    let is_expected = given.ragged != Ragged::Error || is_usual && widths.first() == Some(&width);
    let enough = if is_expected { EVEN_PART_OF_USUAL } else { EVEN_PART };
    let quoted = records.fields.iter().filter(|field| field.is_quoted()).count();
    // Words with blanks between are no table where some line has fewer.
    let is_word = |field: &Field| {
        sample.as_bytes().get(field.start()).is_some_and(|byte| byte.is_ascii_alphabetic())
    };
    let is_prose = dialect.merges_separators
        && !is_expected
        && (0 < start || !is_even)
        && (start..records.len()).any(|index| records.record(index).iter().any(is_word));
    let has_line_end =
        |field: &Field| field.is_quoted() && sample[field.range()].contains(['\n', '\r']);
    let (strays, has_open_quote) = (records.stray_quotes, cut.has_open_quote);
    let has_strays = has_open_quote || 0 < strays;
    let has_letters_for_quotes = has_strays
        && (quoted <= 2 * strays || 0 < strays && records.fields.iter().any(has_line_end));
    let score = Score {
        is_table: 2 <= width && table_len * enough <= 100 * even && !is_prose,
        is_even,
        preamble: Reverse(start),
        is_quoted_well: !has_strays && dialect.quote.is_some(),
        is_usual,
        width,
        // A quote that stands nowhere is no reason to prefer it.
        quoted,
        order: Reverse(order),
    };
    Candidate { dialect, score, start, has_letters_for_quotes }
}

/// How many fields the records of a sample have.
struct Shape {
    /// For each record the number of its fields.
    widths: Vec<usize>,
    /// The number of fields that most records have.
    width: usize,
    /// The records of the table, without notes in front of it and after it.
    table: Range<usize>,
    /// How many records of the table have that number.
    even: usize,
}

impl Shape {
    fn of(records: &Records) -> Shape {
        let mut widths = records.widths(0);
        let usual = commonest(&widths);
        // A line may have a separator after its last field; the first line of the table says
        // whether there is a field.
        let usual = usual.max(widths.last().copied().unwrap_or(0));
        let first = widths.iter().position(|&fields| usual <= fields + 1).unwrap_or(0);
        if 0 < first {
            widths.splice(first.., records.widths(first));
        }
        let behind_notes = behind_notes(&widths);
        let width = commonest(&widths[behind_notes..]);
        let table = table_of(&widths, width);
        let even = widths[table.clone()].iter().filter(|&&fields| fields == width).count();
        Shape { widths, width, table, even }
    }

    /// Whether all records from the first one of the table on have as many fields.
    fn is_even(&self) -> bool {
        self.even == self.widths.len() - self.table.start
    }
}

/// The first of at least two records at the end that have as many fields, where there are no more
/// in front of them, and these have at most half as many fields: a small table after notes. 0
/// where there are none such.
fn behind_notes(widths: &[usize]) -> usize {
    let Some(&width) = widths.last() else { return 0 };
    let first = widths.iter().rposition(|&fields| fields != width).map_or(0, |last| last + 1);
    let is_table = 1 < widths.len() - first && 2 * first <= widths.len();
    if is_table && widths[..first].iter().all(|&fields| 2 * fields <= width) { first } else { 0 }
}

/// The records after those in front that have fewer fields: a title, notes. They are no preamble
/// where such records come again, but for notes at the end, and one record is no table after
/// several.
fn table_of(widths: &[usize], width: usize) -> Range<usize> {
    let is_of_table = |&fields: &usize| fields == width;
    let first = widths.iter().position(is_of_table).unwrap_or(0);
    let end = widths.iter().rposition(is_of_table).map_or(widths.len(), |last| last + 1);
    let (table, behind) = (first..end, &widths[end..]);
    let is_note = |&fields: &usize| match behind {
        [] => fields < width,
        _ => 2 * fields < width,
    };
    let is_table = widths[table.clone()].iter().all(is_of_table) && (first <= 1 || 1 < table.len());
    let has_notes = widths[..first].iter().chain(behind).all(is_note);
    if is_table && has_notes { table } else { 0..widths.len() }
}

/// Whether the records that begin with `#` are comments. They are no rows of the table where
///
/// - one of them is in front of the table and has another number of fields than it, as a title has;
/// - or each of them has another number of fields. Colours and tags in the first column have as
///   many.
fn has_comments(sample: &str, records: &Records) -> bool {
    let is_comment = |index: &usize| {
        let first = records.record(*index)[0];
        !first.is_quoted() && sample[first.start()..].trim_start_matches(' ').starts_with(COMMENT)
    };
    let widths = records.widths(0);
    let (marked, others): (Vec<usize>, Vec<usize>) = (0..records.len()).partition(is_comment);
    let others: Vec<usize> = others.iter().map(|&index| widths[index]).collect();
    if marked.is_empty() || others.is_empty() {
        return !marked.is_empty() && marked.iter().any(|&index| widths[index] != widths[0]);
    }
    let width = commonest(&others);
    let in_front = marked.iter().enumerate().take_while(|(order, index)| order == *index).count();
    let is_other = |index: &usize| widths[*index] != width;
    // In a table of one column a line in front is a title, and `#` begins a text elsewhere.
    marked[..in_front].iter().any(is_other)
        || width == 1 && 0 < in_front
        || 1 < width && marked.iter().all(is_other)
}

/// The lines in front of the first record that are comments, without that character.
fn comment_lines(sample: &str, mark: u8) -> Vec<&str> {
    let lines = sample.lines().map(str::trim);
    let lines = lines.take_while(|line| line.is_empty() || line.as_bytes()[0] == mark);
    lines.filter_map(|line| line.get(1..)).map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, usual: u8) -> String {
        let sniffed = sniff(text, false, usual, &CsvOptions::default()).sniffed;
        let Dialect { separator, quote, escape, comment, .. } = sniffed.dialect;
        let sign = |byte: Option<u8>| byte.map_or('-', char::from);
        let header = &sniffed.header;
        let names = if header.is_first_record { "names" } else { "none" };
        format!(
            "{} {}{}{} +{} {names} {}",
            char::from(separator).escape_default(),
            sign(quote),
            sign(escape),
            sign(comment),
            sniffed.skip,
            header.columns.join(",")
        )
    }

    /// Each row: the text, the usual separator => separator, quote, escape, comment, lines in
    /// front, header, columns.
    #[test]
    fn dialects() {
        #[rustfmt::skip]
        let cases: &[(&str, u8, &str)] = &[
            ("a,b\n1,2\n", b',', ", \"-- +0 names a,b"),
            ("a;b\n1,5;2\n", b',', "; \"-- +0 names a,b"),                  // a comma as the point of a number
            ("a\tb\n1\t2\n", b',', "\\t \"-- +0 names a,b"),
            ("a|b|c\n1|2|3\n", b',', "| \"-- +0 names a,b,c"),
            ("a,b\n\"x;y\",\"z;w;\n;\"\n", b',', ", \"-- +0 names a,b"),    // quotes hide others
            ("a;b,c\n1;2,3\n", b',', ", \"-- +0 names a;b,c"),              // both are even: the usual one
            ("a\n1\n", b',', ", \"-- +0 names a"),
            ("a,b\n'x,y',1\n", b',', ", '-- +0 names a,b"),
            ("a,b\n\"x\\\",y\",1\n", b',', ", \"\\- +0 names a,b"),
            ("a,b\nx\\,y,1\nz,2\n", b',', ", \"\\- +0 names a,b"),           // outside quotes, too
            ("a,b\nC:\\x,1\nC:\\,2\n", b',', ", \"-- +0 names a,b"),        // paths
            ("a,b\n\"x,1\nz,2\n", b',', ", --- +0 names a,b"),              // a quote that nothing closes
            ("a,b\n\"x\"y,1\nz,2\n", b',', ", --- +0 names a,b"),
            ("a,b\n\"x\"y,1\n\"z,w\",2\n", b',', ", \"-- +0 names a,b"),
            ("a,b\n1, \"x,y\"\n2, \"z\"\n", b',', ", \"-- +0 names a,b"),
            ("a,b\n5\" pipe,1\n", b',', ", \"-- +0 names a,b"),
            ("Report\nof May\na,b\n1,2\n3,4\n", b',', ", \"-- +2 names a,b"),
            ("# one\n# two\na,b\n1,2\n", b',', ", \"-# +0 names a,b"),
            ("#a,b\n1,2\n", b',', ", \"-- +0 names #a,b"),
            ("# FromNodeId\tToNodeId\n# x\n# FromNodeId\tToNodeId\n0\t1\n", b'\t', "\\t \"-# +0 none FromNodeId,ToNodeId"),
            ("a,b\n#1,2\n#3,4\n", b',', ", \"-- +0 names a,b"),              // rows, not comments
            ("a,b\n1,2\n# two\n3,4\n", b',', ", \"-# +0 names a,b"),
            ("# of May\na\n1\n#2\n", b',', ", \"-# +0 names a"),
            ("a\n#1\n#2\n", b',', ", \"-- +0 names a"),
            ("#ff0000,1\n#00ff00,2\n", b',', ", \"-- +0 none column0,column1"),
            ("1,2\n3,4\n", b',', ", \"-- +0 none column0,column1"),
            ("a,1\nb,2\n", b',', ", \"-- +0 none column0,column1"),
            ("x,y\na,b\n", b',', ", \"-- +0 names x,y"),                    // all texts: assumed
            ("a,b,c\n", b',', ", \"-- +0 names a,b,c"),
            ("1,2,3\n", b',', ", \"-- +0 none column0,column1,column2"),
            ("a,b,\n1,2,\n", b',', ", \"-- +0 names a,b,"),                 // a separator behind each record
            ("a,b\n1,2,\n3,4,\n", b',', ", \"-- +0 names a,b"),             // behind each but the names
            ("1/1/2020\n5/7/1995\n", b',', ", \"-- +0 none column0"),        // either order of the parts
            ("12:30,x\n,y\n14:00,z\n", b',', ", \"-- +0 none column0,column1"),
            ("2.2.2;1.2.20\n", b',', "; \"-- +0 none column0,column1"),
            ("land,2019/20\nA,few\n", b',', ", \"-- +0 names land,2019/20"),
            ("a,b\na,b\nc,d\n", b',', ", \"-- +0 none column0,column1"), // a record that comes again at once
            ("", b',', ", \"-- +0 none "),
            ("# x\na;b\n1;3#5;7\n6;\"7#\" # y\n", b',', "; \"-# +0 names a,b"), // comments behind fields
            ("# x\na;b#c\n1;3#5\n", b',', "; \"-# +0 names a,b#c"),       // as even with them: letters
            (" # x\n1;3\n # y\n4;5\n", b',', "; \"-# +0 none column0,column1"),
            ("a\tb\n1\t\"x\n2\t\"y\" z\n", b'\t', "\\t --- +0 names a,b"),   // quotes that would join lines
            ("t\tx\nu\ty\na\tb\tc\td\n1\t2\t3\t4\t\n5\t6\t7\t8\t\n", b',', "\\t \"-- +2 names a,b,c,d"),
            ("Report\na,b,c\n1,2,3\n4,5,6\nSource: x\n", b',', ", \"-- +1 names a,b,c"),
            ("id,a,\n1,2\n3,4\n", b',', ", \"-- +0 names id,a"),
            ("x,y\nu,v,w\n", b',', ", \"-- +1 none column0,column1,column2"), // one record is a row
            ("a\t1;2,3\nx|y\n;;;\n\t\t\tq\n", b',', "\\u{ff} \"-- +0 none column0"), // no separator
        ];
        for (text, usual, want) in cases {
            assert_eq!(shown(text, *usual), *want, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(text in "[a1,;\t|\"'\\\\#\n\r é]{0,80}", is_cut: bool) {
            let sniffed = sniff(&text, is_cut, b',', &CsvOptions::default()).sniffed;
            proptest::prop_assert!(sniffed.skip <= text.len() as u64);
        }
    }
}
