//! Makes temporal values of texts, maps and other temporal values, of numbers of seconds, and of
//! the present moment.

use super::fields::{DATE_KEYS, Fields, TIME_KEYS};
use super::parse;
use super::ranges::{beyond, within};
use super::zones::{parse_zone, zoned};
use crate::context::Context;
use crate::error::{Result, ScalarError};
use crate::values::{Map, OffsetTime, Value};
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// The kind of temporal value that is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Date,
    LocalTime,
    Time,
    LocalDateTime,
    DateTime,
}

impl Target {
    pub(super) fn name(self) -> &'static str {
        match self {
            Target::Date => "DATE",
            Target::LocalTime => "LOCAL TIME",
            Target::Time => "ZONED TIME",
            Target::LocalDateTime => "LOCAL DATETIME",
            Target::DateTime => "ZONED DATETIME",
        }
    }

    pub(super) fn has_date(self) -> bool {
        !matches!(self, Target::LocalTime | Target::Time)
    }

    pub(super) fn has_time(self) -> bool {
        self != Target::Date
    }

    pub(super) fn has_zone(self) -> bool {
        matches!(self, Target::Time | Target::DateTime)
    }
}

/// The parts of a temporal value.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts {
    pub(super) date: Option<Date>,
    pub(super) time: Option<Time>,
    pub(super) zone: Option<TimeZone>,
}

impl Parts {
    /// The parts of a temporal value; `None` for other values.
    pub(super) fn of(value: &Value) -> Option<Parts> {
        let (date, time, zone) = match value {
            Value::Date(date) => (Some(*date), None, None),
            Value::LocalTime(time) => (None, Some(*time), None),
            Value::Time(OffsetTime { time, offset }) => {
                (None, Some(*time), Some(TimeZone::fixed(*offset)))
            }
            Value::LocalDateTime(local) => (Some(local.date()), Some(local.time()), None),
            Value::DateTime(moment) => {
                (Some(moment.date()), Some(moment.time()), Some(moment.time_zone().clone()))
            }
            _ => return None,
        };
        Some(Parts { date, time, zone })
    }

    fn of_zoned(moment: &Zoned) -> Parts {
        let zone = Some(moment.time_zone().clone());
        Parts { date: Some(moment.date()), time: Some(moment.time()), zone }
    }

    /// Makes a value of the parts: midnight and UTC where there are none.
    pub(super) fn build(self, target: Target, context: &Context) -> Result<Value> {
        let time = self.time.unwrap_or_else(Time::midnight);
        if target == Target::LocalTime {
            return Ok(Value::LocalTime(time));
        }
        let zone = self.zone.unwrap_or(TimeZone::UTC);
        if target == Target::Time {
            let date = self.date.unwrap_or_else(|| context.now().date());
            let offset = zone.to_fixed_offset();
            let offset = match offset {
                Ok(offset) => offset,
                Err(_) => zoned(date.to_datetime(time), zone)?.offset(),
            };
            return Ok(Value::Time(OffsetTime { time, offset }));
        }
        let date = self.date.ok_or_else(|| {
            ScalarError::argument(
                format!("a {} needs a day", target.name()),
                "write a value that has one, or {year: ..., month: ..., day: ...}",
            )
        })?;
        let local = date.to_datetime(time);
        Ok(match target {
            Target::Date => Value::Date(date),
            Target::LocalDateTime => Value::LocalDateTime(local),
            _ => Value::from(zoned(local, zone)?),
        })
    }
}

/// Makes a temporal value of a text, a map or another temporal value.
pub(crate) fn construct(target: Target, value: &Value, context: &Context) -> Result<Value> {
    match value {
        Value::String(text) => of_text(target, text),
        Value::Map(map) => of_map(target, map, context),
        other => {
            let parts = Parts::of(other).filter(|parts| fits(parts, target));
            parts.ok_or_else(|| not_made_of(target, other))?.build(target, context)
        }
    }
}

/// Whether a value with these parts has what the target needs. A day alone is midnight.
fn fits(parts: &Parts, target: Target) -> bool {
    let has_time = parts.time.is_some() || target.has_date();
    (parts.date.is_some() || !target.has_date()) && (has_time || !target.has_time())
}

pub(super) fn not_made_of(target: Target, value: &Value) -> Box<ScalarError> {
    ScalarError::kind(
        format!("a {} is not made of {}", target.name(), value.kind().described()),
        "pass a STRING in ISO 8601, a MAP of fields, or a temporal value",
    )
}

fn of_text(target: Target, text: &str) -> Result<Value> {
    Ok(match target {
        Target::Date => Value::Date(parse::parse_date(text)?),
        Target::LocalTime => Value::LocalTime(parse::parse_local_time(text)?),
        Target::Time => Value::Time(parse::parse_time(text)?),
        Target::LocalDateTime => Value::LocalDateTime(parse::parse_local_date_time(text)?),
        Target::DateTime => Value::from(parse::parse_date_time(text)?),
    })
}

/// Makes a temporal value of the moment at which the query began, in a zone if there is one.
pub(crate) fn convert_now(
    target: Target,
    zone: Option<&Value>,
    context: &Context,
) -> Result<Value> {
    let zone = match zone {
        None => TimeZone::UTC,
        Some(Value::String(name)) => parse_zone(name)?,
        Some(other) => return Err(no_zone(other)),
    };
    Parts::of_zoned(&context.now().with_time_zone(zone)).build(target, context)
}

fn no_zone(value: &Value) -> Box<ScalarError> {
    ScalarError::kind(
        format!("a time zone is no {}", value.kind().name()),
        "write its name or an offset as a STRING",
    )
}

/// Makes a moment of seconds and nanoseconds since the beginning of 1970.
pub(crate) fn from_epoch(seconds: i64, nanos: i64) -> Result<Value> {
    let nanos = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    let moment = Timestamp::from_nanosecond(nanos).map_err(beyond)?;
    Ok(Value::from(moment.to_zoned(TimeZone::UTC)))
}

fn of_map(target: Target, map: &Map, context: &Context) -> Result<Value> {
    let fields = Fields(map);
    if fields.has_null() {
        return Ok(Value::Null);
    }
    if map.entries().len() == 1 && fields.get("timezone").is_some() {
        return convert_now(target, fields.get("timezone"), context);
    }
    check_keys(target, fields)?;
    let zone = given_zone(fields)?;
    if let Some(moment) = moment_of_epoch(fields)? {
        let moment = moment.with_time_zone(zone.unwrap_or(TimeZone::UTC));
        return Parts::of_zoned(&moment).build(target, context);
    }
    let mut both = source(fields, "datetime", |parts| parts.date.is_some())?;
    if let (Some(Value::DateTime(moment)), Some(zone)) = (fields.get("datetime"), &zone) {
        both = Some(Parts::of_zoned(&moment.with_time_zone(zone.clone())));
    }
    let day_source = source(fields, "date", |parts| parts.date.is_some())?;
    let clock_source = source(fields, "time", |parts| parts.time.is_some())?;
    let date_base = day_source.as_ref().or(both.as_ref()).and_then(|parts| parts.date);
    let date = target.has_date().then(|| fields.date(date_base)).transpose()?;
    let mut clock_base = clock_source.as_ref().or(both.as_ref()).and_then(|parts| parts.time);
    if let (Some(parts), Some(zone)) = (&clock_source, &zone) {
        let date = date.or(parts.date).unwrap_or_else(|| context.now().date());
        clock_base = Some(converted(parts, date, zone)?);
    }
    let time = target.has_time().then(|| fields.time(clock_base, false)).transpose()?;
    // The zone of a value that only gives the day does not count.
    let sources = [clock_source, both];
    let zone = zone.or_else(|| sources.into_iter().flatten().find_map(|parts| parts.zone));
    Parts { date, time, zone }.build(target, context)
}

pub(super) fn check_keys(target: Target, fields: Fields<'_>) -> Result<()> {
    let if_any = |is_any: bool, keys: &'static [&'static str]| if is_any { keys } else { &[] };
    let lists = [
        if_any(target.has_date(), &DATE_KEYS),
        if_any(target.has_time(), &TIME_KEYS),
        if_any(target.has_zone(), &["timezone"]),
        if_any(target.has_date(), &["date"]),
        if_any(target.has_time(), &["time"]),
        &["datetime"],
        if_any(target == Target::DateTime, &["epochSeconds", "epochMillis"]),
    ];
    fields.check_keys(target.name(), &lists)
}

pub(super) fn given_zone(fields: Fields<'_>) -> Result<Option<TimeZone>> {
    match fields.get("timezone") {
        None => Ok(None),
        Some(Value::String(name)) => parse_zone(name).map(Some),
        Some(other) => Err(no_zone(other)),
    }
}

/// The moment of `epochSeconds` or `epochMillis`, and `nanosecond`.
fn moment_of_epoch(fields: Fields<'_>) -> Result<Option<Zoned>> {
    let (start, extra_max) = match (fields.int("epochSeconds")?, fields.int("epochMillis")?) {
        (Some(seconds), _) => (i128::from(seconds) * 1_000_000_000, 999_999_999),
        (None, Some(millis)) => (i128::from(millis) * 1_000_000, 999_999),
        (None, None) => return Ok(None),
    };
    let extra: i64 = within(fields.int("nanosecond")?.unwrap_or(0), 0..=extra_max, "nanosecond")?;
    let moment = Timestamp::from_nanosecond(start + i128::from(extra)).map_err(beyond)?;
    Ok(Some(moment.to_zoned(TimeZone::UTC)))
}

/// The temporal value that a field holds.
fn source(
    fields: Fields<'_>,
    key: &str,
    is_possible: impl Fn(&Parts) -> bool,
) -> Result<Option<Parts>> {
    let Some(value) = fields.get(key) else { return Ok(None) };
    Parts::of(value).filter(is_possible).map(Some).ok_or_else(|| {
        ScalarError::kind(
            format!("`{key}` is not read of {}", value.kind().described()),
            "write a temporal value that has it",
        )
    })
}

/// The time of day that a time with a zone is in another one, on a day.
fn converted(parts: &Parts, date: Date, zone: &TimeZone) -> Result<Time> {
    let time = parts.time.unwrap_or_else(Time::midnight);
    let Some(from) = &parts.zone else { return Ok(time) };
    Ok(zoned(date.to_datetime(time), from.clone())?.with_time_zone(zone.clone()).time())
}
