//! The types of columns of text, and their cells as Arrow arrays.
//!
//! One function reads a cell of each type, and inference and conversion both call it: what one
//! accepts the other does.

use crate::tables::shape::cell_error::{CellError, is_gap};
use crate::tables::shape::parts::{ColumnName, Fault, shown};
use arrow_array::builder::{BooleanBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::timezone::Tz;
use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int64Type, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{ArrayRef, NullArray, RecordBatch, RecordBatchOptions};
use arrow_cast::parse::string_to_datetime;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use hexgraph_base::types::{DateTime, Error, Result, ValueRef, ValueType};
use std::borrow::Cow;
use std::sync::Arc;

const NANOS_A_SECOND: i64 = 1_000_000_000;
const MICROS_A_SECOND: i64 = 1_000_000;
const NANOS_A_MICRO: u32 = 1_000;

/// The least int that some float has in common with another int: 2^53.
const EXACT_INT_MAX: u64 = 1 << 53;

/// The type of a column of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tables) enum ColumnKind {
    /// No cell has a value.
    Missing,
    /// `true` and `false`, in any case.
    Bool,
    /// Ints of 64 bits.
    Int,
    /// Finite numbers.
    Float,
    /// Dates, and times with or without an offset.
    Time,
    /// Texts of values such as points, which the predicate's type reads.
    Encoded,
    /// Anything.
    Text,
}

impl From<ValueType> for ColumnKind {
    /// The type of the cells of a column that is to have values of a type.
    fn from(requested: ValueType) -> ColumnKind {
        match requested {
            ValueType::Int => ColumnKind::Int,
            ValueType::Float => ColumnKind::Float,
            ValueType::Bool => ColumnKind::Bool,
            ValueType::DateTime => ColumnKind::Time,
            ValueType::BigFloat | ValueType::Geo | ValueType::Vector => ColumnKind::Encoded,
            _ => ColumnKind::Text,
        }
    }
}

impl ColumnKind {
    /// Arrow's type for the column. Arrays of times have nanoseconds where these are needed.
    pub(in crate::tables) fn data_type(self) -> DataType {
        match self {
            ColumnKind::Missing => DataType::Null,
            ColumnKind::Bool => DataType::Boolean,
            ColumnKind::Int => DataType::Int64,
            ColumnKind::Float => DataType::Float64,
            ColumnKind::Time => DataType::Timestamp(TimeUnit::Microsecond, None),
            ColumnKind::Encoded | ColumnKind::Text => DataType::Utf8,
        }
    }

    /// The type of the values.
    fn value_type(self) -> ValueType {
        match self {
            ColumnKind::Bool => ValueType::Bool,
            ColumnKind::Int => ValueType::Int,
            ColumnKind::Float => ValueType::Float,
            ColumnKind::Time => ValueType::DateTime,
            ColumnKind::Missing | ColumnKind::Encoded | ColumnKind::Text => ValueType::String,
        }
    }
}

/// Columns of a batch that are made one by one, and the cells that are not of the types of their
/// columns.
#[derive(Default)]
pub(in crate::tables) struct TypedColumns {
    arrays: Vec<ArrayRef>,
    fields: Vec<Field>,
    faults: Vec<Fault>,
}

impl TypedColumns {
    /// Adds a column. `mismatches` are the rows and texts of the cells that are not of its type, in
    /// a batch that starts at `first_row`.
    pub(in crate::tables) fn push<'t>(
        &mut self,
        (name, kind): (ColumnName, ColumnKind),
        array: ArrayRef,
        mismatches: impl Iterator<Item = (usize, Cow<'t, str>)>,
        first_row: u64,
    ) {
        let requested = kind.value_type();
        for (row, text) in mismatches {
            let reason = CellError::Untyped { expected: requested };
            let reason = reason.of_value(shown(ValueRef::String(&text))).expecting(requested);
            self.faults.push(name.fault(first_row + row as u64, reason));
        }
        self.fields.push(Field::new(name.name, array.data_type().clone(), true));
        self.arrays.push(array);
    }

    /// The batch, which has so many rows also where it has no columns.
    pub(in crate::tables) fn finish(self, rows: usize) -> Result<(RecordBatch, Vec<Fault>)> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::new(Schema::new(self.fields));
        let batch = RecordBatch::try_new_with_options(schema, self.arrays, &options);
        Ok((batch.map_err(|error| Error::query(error.to_string()))?, self.faults))
    }
}

/// The texts that stand for no value.
#[derive(Debug, Clone, Default)]
pub(in crate::tables) struct MissingTexts {
    /// Texts that are missing values in each column. Where there are none, the usual ones such as
    /// `n/a` are missing in columns of numbers, truth values and times.
    pub given: Vec<String>,
    /// Whether an empty field in quotes is missing, too; else it is an empty text.
    pub quoted_empty: bool,
}

impl MissingTexts {
    /// Returns true for a cell that has no value in a column of any type.
    pub(super) fn is_missing(&self, text: &str, is_quoted: bool) -> bool {
        if text.is_empty() {
            return !is_quoted || self.quoted_empty;
        }
        self.given.iter().any(|missing| missing == text)
    }

    /// Returns true for a cell that has no value in a column of another type than text.
    pub(super) fn is_gap(&self, text: &str) -> bool {
        let text = text.trim();
        text.is_empty() || self.given.is_empty() && is_gap(text)
    }
}

/// Reads a truth value.
fn bool_of(text: &str) -> Option<bool> {
    is_one_of(text, &["true"])
        .then_some(true)
        .or_else(|| is_one_of(text, &["false"]).then_some(false))
}

fn is_one_of(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}

/// Reads what also represents a truth value in a column that is said to have them.
fn given_bool(text: &str) -> Option<bool> {
    let no = || is_one_of(text, &["false", "f", "no", "n", "off", "0"]).then_some(false);
    is_one_of(text, &["true", "t", "yes", "y", "on", "1"]).then_some(true).or_else(no)
}

/// Reads an int, `007` too, in a column that is said to have ints.
fn given_int(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

/// Reads a number in a column that is said to have floats.
fn given_float(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

/// Reads a time in a column that is said to have them: in the forms of the schema, too, such as
/// `2006`.
fn given_time(text: &str) -> Option<(i64, u32)> {
    time_of(text).or_else(|| Some(DateTime::parse(text.trim()).ok()?.instant()))
}

/// Reads an int. A number that begins with a zero is none: `007` is a text.
fn int_of(text: &str) -> Option<i64> {
    if has_leading_zero(text.trim()) { None } else { given_int(text) }
}

/// Reads a finite number.
fn float_of(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_number = text.bytes().any(|byte| byte.is_ascii_digit()) && !has_leading_zero(text);
    let number = is_number.then(|| text.parse::<f64>().ok())?;
    number.filter(|number| number.is_finite())
}

/// Whether a text is digits alone, perhaps after a sign.
fn is_complete(text: &str) -> bool {
    let digits = text.trim().trim_start_matches(['-', '+']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `007`, `-01` and `00.5`, but not `0`, `0.5` and `-0`.
fn has_leading_zero(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text).as_bytes();
    matches!(digits, [b'0', next, ..] if next.is_ascii_digit())
}

/// Reads a date, or a time, as seconds since 1970 in UTC and nanoseconds. A time without an offset
/// is one of UTC.
fn time_of(text: &str) -> Option<(i64, u32)> {
    let text = text.trim();
    let text = match text.as_bytes() {
        [_, _, _, _, b'-', _, _, b'-', _, _, ..] => Cow::Borrowed(text),
        [_, _, _, _, b'/', _, _, b'/', _, _, ..] => Cow::Owned(text.replacen('/', "-", 2)),
        _ => return None,
    };
    let utc: Tz = "+00:00".parse().ok()?;
    let time = string_to_datetime(&utc, &text);
    let time = time.or_else(|fault| match with_seconds(&text) {
        Some(text) => string_to_datetime(&utc, &text),
        None => Err(fault),
    });
    let time = time.ok()?;
    // A leap second has more nanoseconds than a second.
    let nanos = i64::from(time.timestamp_subsec_nanos());
    let seconds = time.timestamp() + nanos / NANOS_A_SECOND;
    Some((seconds, (nanos % NANOS_A_SECOND) as u32))
}

/// A time to the minute, `2020-01-31 10:00` with or without an offset, to the second.
fn with_seconds(text: &str) -> Option<String> {
    const MINUTES_LEN: usize = 16;
    let (minutes, offset) = text.split_at_checked(MINUTES_LEN)?;
    let is_time = matches!(minutes.as_bytes(), [.., b'T' | b't' | b' ', _, _, b':', _, _]);
    let is_offset = matches!(offset.as_bytes(), [] | [b'Z' | b'z' | b'+' | b'-' | b' ', ..]);
    (is_time && is_offset).then(|| format!("{minutes}:00{offset}"))
}

/// What the cells of a column were so far.
#[derive(Debug, Clone, Default)]
pub(in crate::tables) struct Observed {
    has_bool: bool,
    has_int: bool,
    /// An int that a float can't represent.
    has_large_int: bool,
    has_float: bool,
    has_time: bool,
    /// A time that needs nanoseconds.
    has_fine_time: bool,
    /// A time that is too far from 1970 to be reported in nanoseconds.
    has_far_time: bool,
    has_text: bool,
    /// A cell such as `n/a`, or an empty one in quotes.
    has_gap: bool,
    /// The first cell of the kind that made the column what it is, and its line.
    reason: Option<(String, u64)>,
}

impl Observed {
    /// Adds a cell.
    pub(in crate::tables) fn add(
        &mut self,
        text: &str,
        is_quoted: bool,
        line: u64,
        missing: &MissingTexts,
    ) {
        if self.has_text || missing.is_missing(text, is_quoted) {
            return;
        }
        if missing.is_gap(text) {
            self.has_gap = true;
            return;
        }
        let before = self.kind();
        match () {
            () if bool_of(text).is_some() => self.has_bool = true,
            () if let Some(int) = int_of(text) => {
                self.has_int = true;
                self.has_large_int |= EXACT_INT_MAX < int.unsigned_abs();
            }
            // An int beyond 64 bits, which loses digits as a float.
            () if is_complete(text) => self.has_text = true,
            () if float_of(text).is_some() => self.has_float = true,
            () if let Some((seconds, nanos)) = time_of(text) => {
                self.has_time = true;
                self.has_fine_time |= nanos % NANOS_A_MICRO != 0;
                self.has_far_time |= in_nanos((seconds, nanos)).is_none();
            }
            () => self.has_text = true,
        }
        if self.kind() != before {
            self.reason = Some((text.to_owned(), line));
        }
    }

    /// Adds the cells that another one has seen, which come after.
    pub(in crate::tables) fn merge(&mut self, later: Observed) {
        let before = self.kind();
        self.has_bool |= later.has_bool;
        self.has_int |= later.has_int;
        self.has_large_int |= later.has_large_int;
        self.has_float |= later.has_float;
        self.has_time |= later.has_time;
        self.has_fine_time |= later.has_fine_time;
        self.has_far_time |= later.has_far_time;
        self.has_text |= later.has_text;
        self.has_gap |= later.has_gap;
        if self.kind() != before {
            self.reason = later.reason;
        }
    }

    /// The narrowest type that has all cells.
    pub(in crate::tables) fn kind(&self) -> ColumnKind {
        let Observed {
            has_bool,
            has_int,
            has_large_int,
            has_float,
            has_time,
            has_text,
            has_gap,
            ..
        } = *self;
        match (has_text, has_bool, has_int || has_float, has_time) {
            (true, ..) => ColumnKind::Text,
            (_, false, false, false) if has_gap => ColumnKind::Text,
            (_, false, false, false) => ColumnKind::Missing,
            (_, true, false, false) => ColumnKind::Bool,
            (_, false, true, false) if !has_float => ColumnKind::Int,
            (_, false, true, false) if !has_large_int => ColumnKind::Float,
            (_, false, false, true) if !(self.has_fine_time && self.has_far_time) => {
                ColumnKind::Time
            }
            _ => ColumnKind::Text,
        }
    }

    /// The cell that made texts of a column that had other values before, and its line.
    pub(in crate::tables) fn mixed_reason(&self) -> Option<(&str, u64)> {
        let has_others = self.has_bool || self.has_int || self.has_float || self.has_time;
        let (text, line) = self.reason.as_ref().filter(|_| has_others)?;
        Some((text, *line))
    }

    /// The cell that made the column what it is, and its line.
    #[cfg(test)]
    fn reason(&self) -> Option<&(String, u64)> {
        self.reason.as_ref()
    }
}

/// The cells of a column as an array, and the rows of those that are not of its type; these are
/// null. `is_given` says that the type was not inferred: then more texts are values of it.
pub(in crate::tables) fn column_array<'t>(
    cells: impl ExactSizeIterator<Item = (Cow<'t, str>, bool)>,
    (kind, is_given): (ColumnKind, bool),
    missing: &MissingTexts,
) -> (ArrayRef, Vec<usize>) {
    let rows = cells.len();
    let mut mismatches = Vec::new();
    let array: ArrayRef = match kind {
        ColumnKind::Missing => {
            let has_value = |(row, (text, is_quoted)): (usize, (Cow<'t, str>, bool))| {
                (!missing.is_missing(&text, is_quoted)).then_some(row)
            };
            mismatches.extend(cells.enumerate().filter_map(has_value));
            Arc::new(NullArray::new(rows))
        }
        ColumnKind::Bool => {
            let mut builder = BooleanBuilder::with_capacity(rows);
            let read = if is_given { given_bool } else { bool_of };
            each(cells, missing, read, &mut mismatches, |value| builder.append_option(value));
            Arc::new(builder.finish())
        }
        ColumnKind::Int => {
            let mut builder = PrimitiveBuilder::<Int64Type>::with_capacity(rows);
            let read = if is_given { given_int } else { int_of };
            each(cells, missing, read, &mut mismatches, |value| builder.append_option(value));
            Arc::new(builder.finish())
        }
        ColumnKind::Float => {
            let mut builder = PrimitiveBuilder::<Float64Type>::with_capacity(rows);
            let read = if is_given { given_float } else { float_of };
            each(cells, missing, read, &mut mismatches, |value| builder.append_option(value));
            Arc::new(builder.finish())
        }
        ColumnKind::Time => {
            let mut times = Vec::with_capacity(rows);
            let read = if is_given { given_time } else { time_of };
            each(cells, missing, read, &mut mismatches, |value| times.push(value));
            let has_no_unit = is_given && !has_unit(&times);
            if has_no_unit { text_of_times(&times) } else { time_array(&times, &mut mismatches) }
        }
        ColumnKind::Encoded => {
            let mut builder = StringBuilder::with_capacity(rows, 8 * rows);
            for (text, is_quoted) in cells {
                let is_missing = missing.is_missing(&text, is_quoted) || missing.is_gap(&text);
                builder.append_option((!is_missing).then_some(&*text));
            }
            Arc::new(builder.finish())
        }
        ColumnKind::Text => {
            let mut builder = StringBuilder::with_capacity(rows, 8 * rows);
            for (text, is_quoted) in cells {
                let is_missing = missing.is_missing(&text, is_quoted);
                builder.append_option((!is_missing).then_some(&*text));
            }
            Arc::new(builder.finish())
        }
    };
    (array, mismatches)
}

/// Reads each cell with `read`; a cell that it refuses is a mismatch, unless it represents no
/// value.
fn each<'t, T>(
    cells: impl Iterator<Item = (Cow<'t, str>, bool)>,
    missing: &MissingTexts,
    read: impl Fn(&str) -> Option<T>,
    mismatches: &mut Vec<usize>,
    mut append: impl FnMut(Option<T>),
) {
    for (row, (text, is_quoted)) in cells.enumerate() {
        let value = if missing.is_missing(&text, is_quoted) {
            None
        } else {
            let value = read(&text);
            if value.is_none() && !missing.is_gap(&text) {
                mismatches.push(row);
            }
            value
        };
        append(value);
    }
}

fn in_nanos((seconds, nanos): (i64, u32)) -> Option<i64> {
    // The first second of the range begins before it.
    i64::try_from(i128::from(seconds) * i128::from(NANOS_A_SECOND) + i128::from(nanos)).ok()
}

fn needs_nanos(times: &[Option<(i64, u32)>]) -> bool {
    times.iter().flatten().any(|(_, nanos)| nanos % NANOS_A_MICRO != 0)
}

/// Whether some unit of 64 bits has all times.
fn has_unit(times: &[Option<(i64, u32)>]) -> bool {
    !needs_nanos(times) || times.iter().flatten().all(|time| in_nanos(*time).is_some())
}

/// Times as texts, which have those that no unit has.
fn text_of_times(times: &[Option<(i64, u32)>]) -> ArrayRef {
    let mut builder = StringBuilder::with_capacity(times.len(), 32 * times.len());
    let mut text = Vec::new();
    for time in times {
        text.clear();
        if let Some((seconds, nanos)) = time {
            DateTime::from_unix(*seconds, i64::from(*nanos)).write(&mut text);
        }
        builder.append_option(time.map(|_| String::from_utf8_lossy(&text)));
    }
    Arc::new(builder.finish())
}

/// Times in nanoseconds where one of them needs these and all fit into 64 bits, else in
/// microseconds. A time that loses nanoseconds by that is a mismatch.
fn time_array(times: &[Option<(i64, u32)>], mismatches: &mut Vec<usize>) -> ArrayRef {
    if needs_nanos(times) && has_unit(times) {
        return primitive::<TimestampNanosecondType>(times, in_nanos);
    }
    let loses =
        |time: &Option<(i64, u32)>| time.is_some_and(|(_, nanos)| nanos % NANOS_A_MICRO != 0);
    mismatches.extend((0..times.len()).filter(|&row| loses(&times[row])));
    mismatches.sort_unstable();
    primitive::<TimestampMicrosecondType>(times, |(seconds, nanos)| {
        (nanos % NANOS_A_MICRO == 0)
            .then(|| seconds.checked_mul(MICROS_A_SECOND))
            .flatten()
            .map(|micros| micros + i64::from(nanos / NANOS_A_MICRO))
    })
}

fn primitive<T: ArrowPrimitiveType<Native = i64>>(
    times: &[Option<(i64, u32)>],
    unit: impl Fn((i64, u32)) -> Option<i64>,
) -> ArrayRef {
    let mut builder = PrimitiveBuilder::<T>::with_capacity(times.len());
    times.iter().for_each(|time| builder.append_option(time.and_then(&unit)));
    Arc::new(builder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;

    fn observed(cells: &[&str]) -> Observed {
        let mut observed = Observed::default();
        for (row, cell) in cells.iter().enumerate() {
            observed.add(cell, false, row as u64 + 1, &MissingTexts::default());
        }
        observed
    }

    /// Each row: the cells => the type, and the line that made it that.
    #[test]
    fn columns_have_the_narrowest_type_of_their_cells() {
        use ColumnKind as K;
        #[rustfmt::skip]
        let cases: &[(&[&str], K, u64)] = &[
            (&["1", " -2", "+3", ""], K::Int, 1),
            (&["1", "7.5"], K::Float, 2),
            (&["1e3", "1"], K::Float, 1),
            (&["0", "-0", "0.5"], K::Float, 3),
            (&["007", "7"], K::Text, 1),                       // a number of letters
            (&["7", "007"], K::Text, 2),
            (&["9223372036854775807"], K::Int, 1),
            (&["9223372036854775808"], K::Text, 1),             // a float loses digits of it
            (&["9007199254740993", "0.5"], K::Text, 2),        // a float loses a digit of the int
            (&["true", "False"], K::Bool, 1),
            (&["true", "1"], K::Text, 2),
            (&["2020-01-31", "2020-01-31T10:00:00Z"], K::Time, 1),
            (&["1234-56-78"], K::Text, 1),                     // no date, but its shape
            (&["2011-08-20 11:25:30Z+00:00"], K::Text, 1),
            (&["2020-01-31 10:00", "2020-01-31T10:00Z", "2020-01-31 10:00+02:00"], K::Time, 1),
            (&["2020/01/31", "2020/01/31 10:00"], K::Time, 1),
            (&["31/01/2020"], K::Text, 1),                     // perhaps the month stands first elsewhere
            (&["2020-01-31 1:00"], K::Text, 1),
            (&["2020-01-31", "1"], K::Text, 2),
            (&["0001-01-01", "2020-01-31 10:00:00.000000001"], K::Text, 2), // no unit of 64 bits has both
            (&["1", "n/a", "NULL"], K::Int, 1),
            (&["n/a", "NA"], K::Text, 0),                      // perhaps Namibia
            (&["inf", "1"], K::Text, 1),
            (&["1", "1e400"], K::Text, 2),                     // no finite number
            (&["", ""], K::Missing, 0),
            (&["", "x"], K::Text, 2),
        ];
        for (cells, want, line) in cases {
            let result = observed(cells);
            assert_eq!(result.kind(), *want, "{cells:?}");
            assert_eq!(result.reason().map_or(0, |(_, line)| *line), *line, "{cells:?}");
        }
    }

    #[test]
    fn nanoseconds_are_retained() {
        let cells = ["2020-01-31 10:00:00.123456789", "1969-12-31T23:59:59.999999999Z", ""];
        let cells = cells.iter().map(|cell| (Cow::Borrowed(*cell), false));
        let (array, mismatches) =
            column_array(cells, (ColumnKind::Time, false), &MissingTexts::default());
        let nanos = array.as_primitive::<TimestampNanosecondType>();
        assert_eq!((nanos.value(1), nanos.null_count(), mismatches.len()), (-1, 1, 0));
        let cells = ["0001-01-01T00:00:00.000000001Z", "0001-01-01T00:00:00Z"];
        let cells = cells.iter().map(|cell| (Cow::Borrowed(*cell), false));
        let (array, mismatches) =
            column_array(cells, (ColumnKind::Time, false), &MissingTexts::default());
        assert_eq!((array.null_count(), mismatches), (1, vec![0]));
    }

    /// The range of 64 bits has both bounds within a second.
    #[test]
    fn the_first_and_the_last_nanosecond_are_times() {
        let cells = ["1677-09-21 00:12:43.145224192", "2262-04-11 23:47:16.854775807"];
        assert_eq!(observed(&cells).kind(), ColumnKind::Time);
        let cells = cells.iter().map(|cell| (Cow::Borrowed(*cell), false));
        let (array, mismatches) =
            column_array(cells, (ColumnKind::Time, false), &MissingTexts::default());
        let nanos = array.as_primitive::<TimestampNanosecondType>();
        assert_eq!((nanos.value(0), nanos.value(1)), (i64::MIN, i64::MAX));
        assert_eq!(mismatches, Vec::<usize>::new());
    }

    /// Where the type is given, more forms are times, and each is retained to the nanosecond.
    #[test]
    fn given_times_are_read_in_the_forms_of_the_schema() {
        let cells = ["2006", "2006-01", "n/a", "0001-02-03", "2020-01-31 10:00:00.000000001", "x"];
        let cells = cells.iter().map(|cell| (Cow::Borrowed(*cell), false));
        let (array, mismatches) =
            column_array(cells, (ColumnKind::Time, true), &MissingTexts::default());
        let texts = array.as_string::<i32>();
        let texts: Vec<&str> = texts.iter().map(Option::unwrap_or_default).collect();
        let fine = "2020-01-31T10:00:00.000000001Z";
        let far = "0001-02-03T00:00:00Z";
        let want = ["2006-01-01T00:00:00Z", "2006-01-01T00:00:00Z", "", far, fine, ""];
        assert_eq!((texts.as_slice(), mismatches), (want.as_slice(), vec![5]));
    }

    #[test]
    fn a_quoted_empty_field_is_an_empty_text() {
        let cells = [("", true), ("", false), ("x", false)];
        let cells = cells.map(|(text, is_quoted)| (Cow::Borrowed(text), is_quoted));
        for (quoted_empty, nulls) in [(false, 1), (true, 2)] {
            let missing = MissingTexts { quoted_empty, ..MissingTexts::default() };
            let (array, _) =
                column_array(cells.clone().into_iter(), (ColumnKind::Text, false), &missing);
            assert_eq!(array.null_count(), nulls);
        }
    }

    proptest::proptest! {
        /// What inference accepts is converted, whatever the cells are.
        #[test]
        fn inference_and_conversion_agree(
            cells in proptest::collection::vec("[0-9+-]{0,3}[.]?[0-9]{0,20}|[a-zA-Z/]{0,5}|[0-9]{4}-[0-9]{2}-[0-9]{2}[ T:0-9Z+.]{0,20}", 0..5)
        ) {
            let texts: Vec<&str> = cells.iter().map(String::as_str).collect();
            let kind = observed(&texts).kind();
            let cells = texts.iter().map(|text| (Cow::Borrowed(*text), false));
            let (array, mismatches) = column_array(cells, (kind, false), &MissingTexts::default());
            proptest::prop_assert!(mismatches.is_empty(), "{kind:?} {mismatches:?}");
            proptest::prop_assert_eq!(array.len(), texts.len());
        }
    }
}
