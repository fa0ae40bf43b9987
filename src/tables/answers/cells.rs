//! Cells of a table as texts, and the names of its columns.

use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, LargeListArray,
    LargeStringArray, RecordBatch, StringArray, StructArray, Time64NanosecondArray,
    TimestampMicrosecondArray, TimestampNanosecondArray,
};
use arrow_schema::DataType;
use hexgraph_base::answer::JsonSink;
use hexgraph_base::types::{DateTime, Error, Sink, ValueRef, stack};
use jiff::civil::{Time, date};
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Span, Timestamp};
use std::io;

/// Writes a row as an object of JSON: the cells that have a value, under the names of their
/// columns.
pub(super) fn write_object(
    names: &[String],
    columns: &[ArrayRef],
    row: usize,
    sink: &mut JsonSink,
) {
    sink.begin_object();
    for (name, column) in names.iter().zip(columns) {
        if !column.is_null(row) {
            sink.key(name);
            write_json(column, row, sink);
        }
    }
    sink.end_object();
}

/// Returns a cell as a plain text: a text as it is, anything else as JSON without quotes around it;
/// `None` where there is no value. `sink` is a buffer.
pub(super) fn plain_text(column: &ArrayRef, row: usize, sink: &mut JsonSink) -> Option<String> {
    if column.is_null(row) || is_null_column(column) {
        return None;
    }
    if let Some(text) = text_at(column, row) {
        return Some(text.to_owned());
    }
    sink.clear();
    write_json(column, row, sink);
    let json = String::from_utf8_lossy(sink.as_bytes());
    // A date or time has quotes in JSON, and nothing that is escaped.
    Some(if column.data_type().is_temporal() {
        json.trim_matches('"').to_owned()
    } else {
        json.into_owned()
    })
}

/// The names of the columns.
pub(super) fn names_of(rows: &RecordBatch) -> Vec<String> {
    rows.schema().fields().iter().map(|field| field.name().clone()).collect()
}

/// The error of a writer that refuses the rows.
pub(super) fn failed(error: io::Error) -> Error {
    Error::io("writing the rows", error)
}

/// Whether the cells of a column are numbers.
pub(super) fn is_numeric(column: &ArrayRef) -> bool {
    of::<Int64Array>(column).is_some() || of::<Float64Array>(column).is_some()
}

fn is_null_column(column: &ArrayRef) -> bool {
    column.data_type().is_null()
}

/// Writes a cell as JSON. Tables of answers have no other types.
fn write_json(column: &ArrayRef, row: usize, sink: &mut JsonSink) {
    stack::require();
    if column.is_null(row) {
        sink.null();
    } else if let Some(text) = text_at(column, row) {
        sink.text(text);
    } else if let Some(array) = of::<Int64Array>(column) {
        sink.int(array.value(row));
    } else if let Some(array) = of::<Float64Array>(column) {
        let number = array.value(row);
        match number.is_finite() {
            true => sink.value(ValueRef::Float(number)),
            false => sink.null(),
        }
    } else if let Some(array) = of::<BooleanArray>(column) {
        sink.value(ValueRef::Bool(array.value(row)));
    } else if column.data_type().is_temporal() {
        write_temporal(column, row, sink);
    } else if let Some(lists) = of::<LargeListArray>(column) {
        let items = lists.value(row);
        sink.begin_array();
        (0..items.len()).for_each(|item| write_json(&items, item, sink));
        sink.end_array();
    } else if let Some(objects) = of::<StructArray>(column) {
        let names: Vec<String> = objects.fields().iter().map(|it| it.name().clone()).collect();
        write_object(&names, objects.columns(), row, sink);
    } else {
        sink.null();
    }
}

fn text_at(column: &ArrayRef, row: usize) -> Option<&str> {
    match of::<StringArray>(column) {
        Some(array) => Some(array.value(row)),
        None => of::<LargeStringArray>(column).map(|array| array.value(row)),
    }
}

/// Writes a date or time: one in UTC as answers in DQL have it, others as ISO 8601 with their
/// offset, if there is one.
fn write_temporal(column: &ArrayRef, row: usize, sink: &mut JsonSink) {
    let text = match column.data_type() {
        DataType::Timestamp(_, Some(zone)) if zone.eq_ignore_ascii_case("UTC") => {
            return match time_at(column, row) {
                Some(time) => sink.value(ValueRef::DateTime(time)),
                None => sink.null(),
            };
        }
        DataType::Timestamp(_, zone) => {
            time_at(column, row).and_then(|time| local_text(time, zone.as_deref()))
        }
        DataType::Date32 => of::<Date32Array>(column).and_then(|days| {
            let days = Span::new().try_days(days.value(row)).ok()?;
            Some(date(1970, 1, 1).checked_add(days).ok()?.to_string())
        }),
        DataType::Time64(_) => of::<Time64NanosecondArray>(column).and_then(|nanos| {
            let since_midnight = SignedDuration::from_nanos(nanos.value(row));
            Some(Time::midnight().checked_add(since_midnight).ok()?.to_string())
        }),
        _ => None,
    };
    match text {
        Some(text) => sink.text(&text),
        None => sink.null(),
    }
}

/// A time in a zone with its offset, or a local time.
fn local_text(time: DateTime, zone: Option<&str>) -> Option<String> {
    let instant = Timestamp::new(time.seconds, time.nanos as i32).ok()?;
    let Some(zone) = zone else {
        return Some(Offset::UTC.to_datetime(instant).to_string());
    };
    let zone = match zone.strip_prefix(['+', '-']).and_then(|digits| digits.split_once(':')) {
        Some((hours, minutes)) => {
            let seconds = hours.parse::<i32>().ok()? * 3600 + minutes.parse::<i32>().ok()? * 60;
            let sign = if zone.starts_with('-') { -1 } else { 1 };
            TimeZone::fixed(Offset::from_seconds(sign * seconds).ok()?)
        }
        None => TimeZone::get(zone).ok()?,
    };
    let offset = zone.to_offset(instant);
    let mut text = String::new();
    DateTimePrinter::new().print_timestamp_with_offset(&instant, offset, &mut text).ok()?;
    Some(text)
}

fn time_at(column: &ArrayRef, row: usize) -> Option<DateTime> {
    let (count, a_second) = match of::<TimestampNanosecondArray>(column) {
        Some(array) => (array.value(row), 1_000_000_000),
        None => (of::<TimestampMicrosecondArray>(column)?.value(row), 1_000_000),
    };
    let nanos = count.rem_euclid(a_second) * (1_000_000_000 / a_second);
    Some(DateTime { seconds: count.div_euclid(a_second), nanos: nanos as u32, offset_minutes: 0 })
}

fn of<T: 'static>(column: &ArrayRef) -> Option<&T> {
    column.as_any().downcast_ref::<T>()
}
