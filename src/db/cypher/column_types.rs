//! The types of the columns of an answer, from its values.

use hexgraph_base::answer::{TemporalUnit, TemporalZone};
use hexgraph_base::types::{Result, bounded};
use hexgraph_scalar::{Kind, Value};
use hexgraph_store::exec::RequestContext;
use jiff::civil::{DateTime, date};
use jiff::tz::Offset;
use jiff::{Timestamp, Zoned};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The largest int up to which every int is a float.
const EXACT_MAX: u64 = 1 << 53;

/// How deep lists and objects of a column may be nested: readers of Arrow have limits of their own.
const NESTING_MAX: usize = 32;

/// The most keys of an object of a column.
const KEYS_MAX: usize = 1_000;

/// A column of objects has at most so many cells for each value, if it has more than [`CELLS_FEW`].
const CELLS_PER_VALUE_MAX: usize = 16;

/// So many cells of objects may be empty.
const CELLS_FEW: usize = 1 << 20;

/// About the bytes of an [`ObservedType`] with its key.
const TYPE_BYTES: u64 = 192;

/// The context is checked once for so many values.
const VALUES_INTERVAL: usize = 1 << 14;

/// The most warnings of an answer.
const WARNINGS_MAX: usize = 50;

/// The seconds of an hour, and the offsets of full hours that have a zone in the database of time
/// zones.
const HOUR: i32 = 3600;
const OFFSET_HOURS: std::ops::RangeInclusive<i32> = -12..=14;

/// The years that all tools have.
const YEARS: std::ops::RangeInclusive<i16> = 1..=9999;

/// The type of a column, of the items of its lists, or of a key of its objects.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ColumnType {
    /// All values are null.
    Null,
    Bool,
    Int,
    Float,
    /// Strings as they are, other values as Cypher writes them.
    Text,
    /// Values as JSON text.
    Json,
    /// Dates and times.
    Temporal(TemporalUnit),
    List(Box<ColumnType>),
    /// Objects by their keys, in order.
    Object(Vec<(Arc<str>, ColumnType)>),
    /// Points, with or without `z`.
    Point {
        has_z: bool,
    },
}

/// The type of a column after some of its values.
#[derive(Debug, Clone, Default)]
enum ObservedType {
    #[default]
    Null,
    Bool,
    Number {
        has_ints: bool,
        has_floats: bool,
        /// Some int equals no float.
        has_long: bool,
    },
    /// Values of one kind that Arrow has texts for: strings, durations, and times with an offset.
    Text(Kind),
    Date {
        is_far: bool,
    },
    LocalTime,
    Timestamps(Timestamps),
    List(Box<ObservedType>),
    Object(Box<Objects>),
    Point {
        has_z: bool,
    },
    /// Values of several types.
    Mixed,
    /// Lists or objects below [`NESTING_MAX`] others.
    Deep,
}

#[derive(Debug, Clone, Default)]
struct Objects {
    keys: BTreeMap<Arc<str>, ObservedType>,
    /// The objects, and the values of all of their keys.
    count: usize,
    values: usize,
}

/// Local and zoned times that have a date.
#[derive(Debug, Clone)]
struct Timestamps {
    is_local: bool,
    /// The zone of all; `None` where there are several.
    zone: TemporalZone,
    /// Whether some time is outside of the years that nanoseconds of 64 bits have.
    is_wide: bool,
    /// Whether some time has nanoseconds below its microseconds.
    has_nanos: bool,
    /// Whether some time is outside of [`YEARS`].
    is_far: bool,
}

/// Determines types, and collects a warning for each column that loses something.
pub(super) struct TypeReader<'a> {
    context: &'a RequestContext,
    values: usize,
    warnings: Vec<String>,
    /// The warnings beyond [`WARNINGS_MAX`].
    more: usize,
}

impl<'a> TypeReader<'a> {
    pub(super) fn new(context: &'a RequestContext) -> TypeReader<'a> {
        TypeReader { context, values: 0, warnings: Vec::new(), more: 0 }
    }

    /// The type of a column. With `is_flat` it has no lists and objects, but JSON text of them, and
    /// no temporal values, but texts of ISO 8601.
    ///
    /// # Errors
    ///
    /// `Limit` when there is no memory for the types, or the context stops it.
    pub(super) fn column_type<'v>(
        &mut self,
        name: &str,
        values: impl Iterator<Item = &'v Value>,
        is_flat: bool,
    ) -> Result<ColumnType> {
        let mut observed = ObservedType::Null;
        let depth = if is_flat { 0 } else { NESTING_MAX };
        for value in values {
            self.observe(&mut observed, value, depth)?;
        }
        if !is_flat {
            return Ok(self.resolved(observed, &bounded(name)));
        }
        Ok(match observed {
            ObservedType::Deep => ColumnType::Json,
            ObservedType::Date { .. } | ObservedType::LocalTime | ObservedType::Timestamps(_) => {
                ColumnType::Text
            }
            observed => self.resolved(observed, &bounded(name)),
        })
    }

    /// Adds a value to those of a type; `depth` is how deep it may be nested.
    fn observe(&mut self, observed: &mut ObservedType, value: &Value, depth: usize) -> Result<()> {
        self.values += 1;
        if self.values.is_multiple_of(VALUES_INTERVAL) {
            self.context.check()?;
        }
        if value.is_null() {
            return Ok(());
        }
        if matches!(observed, ObservedType::Null) {
            *observed = ObservedType::of(value, depth);
        }
        match (&mut *observed, value) {
            (ObservedType::List(item), Value::List(items)) => {
                for value in items.iter() {
                    self.observe(item, value, depth - 1)?;
                }
            }
            (ObservedType::Object(objects), Value::Map(map)) => {
                objects.count += 1;
                objects.values += map.entries().len();
                for (key, value) in map.entries() {
                    if KEYS_MAX < objects.keys.len() {
                        break;
                    }
                    if !objects.keys.contains_key(key) {
                        self.context.reserve(TYPE_BYTES + key.len() as u64)?;
                    }
                    let key_type = objects.keys.entry(Arc::clone(key)).or_default();
                    self.observe(key_type, value, depth - 1)?;
                }
            }
            (observed, value) => observed.add_scalar(value),
        }
        Ok(())
    }

    /// The type of a column; `path` is its name in warnings.
    fn resolved(&mut self, observed: ObservedType, path: &str) -> ColumnType {
        match observed {
            ObservedType::Null => ColumnType::Null,
            ObservedType::Bool => ColumnType::Bool,
            ObservedType::Number { has_ints: true, has_floats: true, has_long: true } => {
                self.json(path, "values of several types")
            }
            ObservedType::Number { has_floats: true, .. } => ColumnType::Float,
            ObservedType::Number { .. } => ColumnType::Int,
            ObservedType::Text(_) => ColumnType::Text,
            ObservedType::Date { is_far: true } => self.far(path),
            ObservedType::Date { .. } => ColumnType::Temporal(TemporalUnit::Days),
            ObservedType::LocalTime => ColumnType::Temporal(TemporalUnit::NanosOfDay),
            ObservedType::Timestamps(times) => self.timestamps(times, path),
            ObservedType::List(item) => {
                ColumnType::List(Box::new(self.resolved(*item, &bounded(format_args!("{path}[]")))))
            }
            ObservedType::Object(objects) => self.object(*objects, path),
            ObservedType::Point { has_z } => ColumnType::Point { has_z },
            ObservedType::Mixed => self.json(path, "values of several types"),
            ObservedType::Deep => {
                self.json(path, &format!("values nested deeper than {NESTING_MAX} levels"))
            }
        }
    }

    fn object(&mut self, objects: Objects, path: &str) -> ColumnType {
        let Objects { keys, count, values } = objects;
        let cells = keys.len() * count;
        if KEYS_MAX < keys.len() {
            return self.json(path, &format!("objects with more than {KEYS_MAX} keys"));
        }
        if CELLS_FEW < cells && CELLS_PER_VALUE_MAX * values < cells {
            let fault = format!("objects that lack most of their {} keys", keys.len());
            return self.json(path, &fault);
        }
        // Some formats of files have no objects without keys.
        if keys.is_empty() {
            return ColumnType::Json;
        }
        let keys = keys.into_iter().map(|(key, observed)| {
            let key_type = self.resolved(observed, &bounded(format_args!("{path}.{key}")));
            (key, key_type)
        });
        ColumnType::Object(keys.collect())
    }

    fn timestamps(&mut self, times: Timestamps, path: &str) -> ColumnType {
        if times.is_far {
            return self.far(path);
        }
        let zone = match (times.is_local, times.zone) {
            (true, _) => None,
            (false, Some(zone)) => Some(zone),
            (false, None) => {
                self.warn(
                    path,
                    "times of several zones, or of an offset that is no hour: all are in UTC",
                );
                Some("UTC".into())
            }
        };
        if !times.is_wide {
            return ColumnType::Temporal(TemporalUnit::Nanos(zone));
        }
        if times.has_nanos {
            self.warn(path, "years outside of 1678 to 2261: times are cut to microseconds");
        }
        ColumnType::Temporal(TemporalUnit::Micros(zone))
    }

    fn far(&mut self, path: &str) -> ColumnType {
        self.warn(path, "years outside of 1 to 9999: each value is a text");
        ColumnType::Text
    }

    fn json(&mut self, path: &str, fault: &str) -> ColumnType {
        self.warn(path, &format!("{fault}: each is text of JSON"));
        ColumnType::Json
    }

    fn warn(&mut self, path: &str, fault: &str) {
        match self.warnings.len() < WARNINGS_MAX {
            true => self.warnings.push(format!("the column `{path}` has {fault}")),
            false => self.more += 1,
        }
    }

    /// The warnings of all columns.
    pub(super) fn into_warnings(self) -> Vec<String> {
        let TypeReader { mut warnings, more, .. } = self;
        if 0 < more {
            warnings.push(format!("{more} more warnings about columns are left out"));
        }
        warnings
    }
}

impl ObservedType {
    /// The type that a column begins with at its first value.
    fn of(value: &Value, depth: usize) -> ObservedType {
        match value {
            Value::List(_) | Value::Map(_) | Value::Point(_) if depth == 0 => ObservedType::Deep,
            Value::List(_) => ObservedType::List(Box::default()),
            Value::Map(_) => ObservedType::Object(Box::default()),
            Value::Point(_) => ObservedType::Point { has_z: false },
            Value::Bool(_) => ObservedType::Bool,
            Value::Int(_) | Value::Float(_) => {
                ObservedType::Number { has_ints: false, has_floats: false, has_long: false }
            }
            Value::Date(_) => ObservedType::Date { is_far: false },
            Value::LocalTime(_) => ObservedType::LocalTime,
            Value::LocalDateTime(_) => ObservedType::Timestamps(Timestamps::new(true, None)),
            Value::DateTime(time) => {
                ObservedType::Timestamps(Timestamps::new(false, zone_of(time)))
            }
            other => ObservedType::Text(other.kind()),
        }
    }

    fn add_scalar(&mut self, value: &Value) {
        match (&mut *self, value) {
            (ObservedType::Mixed, _) => {}
            (ObservedType::Bool, Value::Bool(_)) => {}
            (ObservedType::LocalTime, Value::LocalTime(_)) => {}
            (ObservedType::Deep, Value::List(_) | Value::Map(_) | Value::Point(_)) => {}
            (ObservedType::Number { has_ints, has_long, .. }, Value::Int(number)) => {
                *has_ints = true;
                *has_long |= EXACT_MAX < number.unsigned_abs();
            }
            (ObservedType::Number { has_floats, .. }, Value::Float(_)) => *has_floats = true,
            (ObservedType::Text(kind), value) if *kind == value.kind() => {}
            (ObservedType::Date { is_far }, Value::Date(date)) => {
                *is_far |= !YEARS.contains(&date.year());
            }
            (ObservedType::Point { has_z }, Value::Point(point)) => {
                *has_z |= 2 < point.coordinates().len();
            }
            (ObservedType::Timestamps(times), Value::LocalDateTime(time)) if times.is_local => {
                times.add_local(*time);
            }
            (ObservedType::Timestamps(times), Value::DateTime(time)) if !times.is_local => {
                times.add_zoned(time);
            }
            _ => *self = ObservedType::Mixed,
        }
    }
}

impl Timestamps {
    fn new(is_local: bool, zone: TemporalZone) -> Timestamps {
        Timestamps { is_local, zone, is_wide: false, has_nanos: false, is_far: false }
    }

    fn add_local(&mut self, time: DateTime) {
        match time.to_zoned(jiff::tz::TimeZone::UTC) {
            Ok(zoned) => self.add_instant(zoned.timestamp()),
            Err(_) => self.is_far = true,
        }
        self.is_far |= !YEARS.contains(&time.year());
    }

    fn add_zoned(&mut self, time: &Zoned) {
        if self.zone.is_some() && self.zone != zone_of(time) {
            self.zone = None;
        }
        self.is_far |= !YEARS.contains(&time.year());
        self.add_instant(time.timestamp());
    }

    fn add_instant(&mut self, instant: Timestamp) {
        let utc = Offset::UTC.to_datetime(instant);
        self.is_far |= !YEARS.contains(&utc.year());
        self.is_wide |= i64::try_from(instant.as_nanosecond()).is_err();
        self.has_nanos |= instant.subsec_nanosecond() % 1_000 != 0;
    }
}

/// The zone of a time: its name, or an offset of full hours; `None` for other offsets, which Polars
/// does not read.
fn zone_of(time: &Zoned) -> TemporalZone {
    let offset = time.offset().seconds();
    match time.time_zone().iana_name() {
        Some(name) => Some(name.into()),
        None if offset == 0 => Some("UTC".into()),
        None if offset % HOUR != 0 || !OFFSET_HOURS.contains(&(offset / HOUR)) => None,
        None => Some(format!("{:+03}:00", offset / HOUR).into()),
    }
}

/// A date or time as the number of a column of this unit.
pub(super) fn temporal_number(value: &Value, unit: &TemporalUnit) -> Option<i64> {
    let instant = match value {
        Value::Date(day) => {
            let days = date(1970, 1, 1).until(*day).ok()?.get_days();
            return Some(i64::from(days));
        }
        Value::LocalTime(time) => {
            let seconds = i64::from(time.hour()) * 3600
                + i64::from(time.minute()) * 60
                + i64::from(time.second());
            return Some(seconds * 1_000_000_000 + i64::from(time.subsec_nanosecond()));
        }
        Value::LocalDateTime(time) => time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp(),
        Value::DateTime(time) => time.timestamp(),
        _ => return None,
    };
    match unit {
        TemporalUnit::Nanos(_) => i64::try_from(instant.as_nanosecond()).ok(),
        TemporalUnit::Micros(_) => i64::try_from(instant.as_nanosecond().div_euclid(1_000)).ok(),
        TemporalUnit::Days | TemporalUnit::NanosOfDay => None,
    }
}
