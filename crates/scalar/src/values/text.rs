//! The text of each kind: a literal of Cypher where there is one, ISO 8601 for temporal values.

use super::duration::Duration;
use super::graph::Path;
use super::offset_time::OffsetTime;
use super::point::Point;
use super::value::Value;
use jiff::Zoned;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;
use std::fmt::{self, Display, Formatter, Write};

/// What `toString` gives: a string as it is; strings inside of lists and maps have quotes.
impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Float(value) => write_float(f, *value),
            Value::String(value) => f.write_str(value),
            Value::List(items) => write_items(f, '[', ']', items.iter(), write_nested),
            Value::Map(map) => write_items(f, '{', '}', map.entries().iter(), |f, (key, value)| {
                write_key(f, key)?;
                f.write_str(": ")?;
                write_nested(f, value)
            }),
            Value::Date(date) => write_date(f, *date),
            Value::LocalTime(time) => write_time(f, *time),
            Value::Time(OffsetTime { time, offset }) => {
                write_time(f, *time)?;
                write_offset(f, *offset)
            }
            Value::LocalDateTime(local) => write_local(f, *local),
            Value::DateTime(zoned) => write_zoned(f, zoned),
            Value::Duration(duration) => write_duration(f, duration),
            Value::Point(point) => write_point(f, point),
            Value::Node(uid) => write!(f, "({uid:#x})"),
            Value::Relationship(it) => {
                let (subject, type_id, object) = (it.subject, it.type_id, it.object);
                write!(f, "({subject:#x})-[{type_id}]->({object:#x})")
            }
            Value::Path(path) => write_path(f, path),
        }
    }
}

/// The text of a value in an error: long ones are shortened.
pub(crate) fn shortened(value: &Value) -> String {
    const LETTERS_MAX: usize = 60;
    let text = match value {
        Value::List(_) | Value::Map(_) | Value::Path(_) => {
            return value.kind().described();
        }
        Value::String(text) => {
            let letters: String = text.chars().take(LETTERS_MAX).collect();
            let dots = if letters.len() < text.len() { "…" } else { "" };
            return format!("'{letters}{dots}'");
        }
        _ => value.to_string(),
    };
    text.chars().take(LETTERS_MAX).collect()
}

fn write_items<T>(
    f: &mut Formatter<'_>,
    open: char,
    close: char,
    items: impl Iterator<Item = T>,
    write: impl Fn(&mut Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    f.write_char(open)?;
    for (index, item) in items.enumerate() {
        if 0 < index {
            f.write_str(", ")?;
        }
        write(f, item)?;
    }
    f.write_char(close)
}

fn write_nested(f: &mut Formatter<'_>, value: &Value) -> fmt::Result {
    let Value::String(text) = value else { return write!(f, "{value}") };
    write_quoted(f, text, '\'')
}

fn write_key(f: &mut Formatter<'_>, key: &str) -> fmt::Result {
    let is_plain = key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_plain {
        return f.write_str(key);
    }
    write!(f, "`{}`", key.replace('`', "``"))
}

fn write_quoted(f: &mut Formatter<'_>, text: &str, quote: char) -> fmt::Result {
    f.write_char(quote)?;
    for c in text.chars() {
        match c {
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '\\' => f.write_str("\\\\")?,
            c if c == quote => write!(f, "\\{c}")?,
            c => f.write_char(c)?,
        }
    }
    f.write_char(quote)
}

fn write_float(f: &mut Formatter<'_>, value: f64) -> fmt::Result {
    if value.is_infinite() {
        return f.write_str(if value < 0.0 { "-Infinity" } else { "Infinity" });
    }
    // The shortest text that reads as the same float, with a point or an exponent.
    write!(f, "{value:?}")
}

fn write_date(f: &mut Formatter<'_>, date: Date) -> fmt::Result {
    if date.year() < 0 {
        f.write_char('-')?;
    }
    write!(f, "{:04}-{:02}-{:02}", date.year().unsigned_abs(), date.month(), date.day())
}

/// Seconds only where they are not zero, and no zeros after the last digit of a fraction.
fn write_time(f: &mut Formatter<'_>, time: Time) -> fmt::Result {
    write!(f, "{:02}:{:02}", time.hour(), time.minute())?;
    let nanos = time.subsec_nanosecond();
    if time.second() != 0 || nanos != 0 {
        write!(f, ":{:02}", time.second())?;
    }
    write_fraction(f, nanos.unsigned_abs())
}

fn write_fraction(f: &mut Formatter<'_>, nanos: u32) -> fmt::Result {
    if nanos == 0 {
        return Ok(());
    }
    write!(f, ".{}", format!("{nanos:09}").trim_end_matches('0'))
}

/// `Z`, `+01:00` or `-02:05:07`.
pub(crate) fn write_offset(f: &mut impl Write, offset: Offset) -> fmt::Result {
    let seconds = offset.seconds();
    if seconds == 0 {
        return f.write_char('Z');
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.unsigned_abs();
    write!(f, "{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60)?;
    if seconds.is_multiple_of(60) { Ok(()) } else { write!(f, ":{:02}", seconds % 60) }
}

fn write_local(f: &mut Formatter<'_>, local: DateTime) -> fmt::Result {
    write_date(f, local.date())?;
    f.write_char('T')?;
    write_time(f, local.time())
}

fn write_zoned(f: &mut Formatter<'_>, zoned: &Zoned) -> fmt::Result {
    write_local(f, zoned.datetime())?;
    write_offset(f, zoned.offset())?;
    match zoned.time_zone().iana_name() {
        Some(name) if name != "UTC" => write!(f, "[{name}]"),
        _ => Ok(()),
    }
}

/// Each part with a sign of its own, as months, days and seconds may have different ones.
fn write_duration(f: &mut Formatter<'_>, duration: &Duration) -> fmt::Result {
    let nanos = duration.total_nanos();
    if (duration.months(), duration.days(), nanos) == (0, 0, 0) {
        return f.write_str("PT0S");
    }
    let part = |f: &mut Formatter<'_>, number: i128, unit: char| {
        if number == 0 { Ok(()) } else { write!(f, "{number}{unit}") }
    };
    let months = i128::from(duration.months());
    f.write_char('P')?;
    part(f, months / 12, 'Y')?;
    part(f, months % 12, 'M')?;
    part(f, duration.days().into(), 'D')?;
    if nanos == 0 {
        return Ok(());
    }
    let seconds = nanos / 1_000_000_000;
    f.write_char('T')?;
    part(f, seconds / 3600, 'H')?;
    part(f, seconds / 60 % 60, 'M')?;
    let (second, nano) = (seconds % 60, (nanos % 1_000_000_000).unsigned_abs() as u32);
    if (second, nano) == (0, 0) {
        return Ok(());
    }
    if nanos < 0 {
        f.write_char('-')?;
    }
    write!(f, "{}", second.unsigned_abs())?;
    write_fraction(f, nano)?;
    f.write_char('S')
}

fn write_point(f: &mut Formatter<'_>, point: &Point) -> fmt::Result {
    write!(f, "point({{srid: {}", point.srid() as u16)?;
    for (name, value) in ["x", "y", "z"].iter().zip(point.coordinates()) {
        write!(f, ", {name}: ")?;
        write_float(f, *value)?;
    }
    f.write_str("})")
}

fn write_path(f: &mut Formatter<'_>, path: &Path) -> fmt::Result {
    for (index, uid) in path.nodes.iter().enumerate() {
        if let Some(it) = index.checked_sub(1).and_then(|before| path.relationships.get(before)) {
            let type_id = it.type_id;
            match { it.object } == *uid {
                true => write!(f, "-[{type_id}]->")?,
                false => write!(f, "<-[{type_id}]-")?,
            }
        }
        write!(f, "({uid:#x})")?;
    }
    Ok(())
}
