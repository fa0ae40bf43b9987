//! Random values of all kinds. Pairs that are equal by one rule and not by another are likely.

use crate::{Duration, Map, OffsetTime, Path, Point, Relationship, Srid, Value};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use proptest::prelude::*;
use proptest::sample::select;

pub(super) fn ints() -> impl Strategy<Value = i64> {
    let special = select(vec![0, 1, -1, 2, 7, 1 << 53, (1 << 53) + 1, i64::MAX, i64::MIN]);
    prop_oneof![special, -20..20_i64, any::<i64>()]
}

pub(super) fn floats() -> impl Strategy<Value = f64> {
    let special = select(vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        9_007_199_254_740_992.0,
        9_223_372_036_854_775_808.0,
        -9_223_372_036_854_775_808.0,
        1e300,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ]);
    prop_oneof![special, -3.0..3.0_f64, any::<f64>()]
}

pub(super) fn texts() -> impl Strategy<Value = String> {
    let special = select(vec![
        "",
        "a",
        "ab",
        "A",
        "é",
        "1",
        "1.5",
        "true",
        "NaN",
        "P1D",
        "2015-07-21",
        "2015W302",
        "21:40:32.142+01:00",
        "2015-07-21T21:40[Europe/Stockholm]",
        "year",
        "week",
        "HALF_UP",
        "(a",
        "a+",
        "[",
        "\u{10ffff}",
        "'`\\\n",
    ]);
    prop_oneof![special.prop_map(str::to_owned), any::<String>()]
}

pub(super) fn dates() -> impl Strategy<Value = Date> {
    let special = select(vec![Date::MIN, Date::MAX, Date::ZERO, Date::constant(2016, 2, 29)]);
    let days = (-9999..=9999_i16, 1..=12_i8, 1..=28_i8);
    prop_oneof![1 => special, 3 => days.prop_map(|(y, m, d)| Date::new(y, m, d).unwrap())]
}

pub(super) fn times() -> impl Strategy<Value = Time> {
    let special = select(vec![Time::MIN, Time::MAX, Time::constant(12, 0, 0, 0)]);
    let some = (0..24_i8, 0..60_i8, 0..60_i8, 0..1_000_000_000_i32);
    prop_oneof![special, some.prop_map(|(h, m, s, n)| Time::new(h, m, s, n).unwrap())]
}

fn offsets() -> impl Strategy<Value = Offset> {
    prop_oneof![Just(0), (-18..=18).prop_map(|it| it * 3600), -64_800..=64_800]
        .prop_map(|seconds| Offset::from_seconds(seconds).unwrap())
}

fn zones() -> impl Strategy<Value = TimeZone> {
    let names = select(vec!["Europe/Stockholm", "America/New_York", "Pacific/Apia", "UTC"]);
    prop_oneof![
        offsets().prop_map(TimeZone::fixed),
        names.prop_map(|name| TimeZone::get(name).unwrap())
    ]
}

pub(super) fn durations() -> impl Strategy<Value = Duration> {
    let nanos = select(vec![0, 1, -1, 999_999_999, 500_000_000]);
    let some = (-30..30_i64, -70..70_i64, -200_000..200_000_i64, nanos);
    let any_size = (ints(), ints(), ints());
    prop_oneof![
        3 => some.prop_map(|(m, d, s, n)| Duration::new(m, d, s, n).unwrap()),
        1 => any_size.prop_map(|(m, d, s)| Duration::new(m, d, s, 0).unwrap()),
    ]
}

fn points() -> impl Strategy<Value = Point> {
    let srids = select(Srid::ALL.to_vec());
    (srids, floats(), floats(), floats()).prop_map(|(srid, x, y, z)| Point::new(srid, [x, y, z]))
}

fn relationships() -> impl Strategy<Value = Relationship> {
    (0..3_u64, 0..3_u64, 0..2_u32).prop_map(|(subject, object, type_id)| Relationship {
        subject,
        object,
        type_id,
    })
}

pub(super) fn temporals() -> impl Strategy<Value = Value> {
    let moments = prop_oneof![-1000..1000_i64, -377_000_000_000..253_000_000_000_i64];
    prop_oneof![
        dates().prop_map(Value::Date),
        times().prop_map(Value::LocalTime),
        (times(), offsets()).prop_map(|(time, offset)| Value::Time(OffsetTime { time, offset })),
        (dates(), times()).prop_map(|(d, t)| Value::LocalDateTime(DateTime::from_parts(d, t))),
        (moments, zones()).prop_map(|(seconds, zone)| {
            Value::from(Timestamp::from_second(seconds).unwrap().to_zoned(zone))
        }),
        durations().prop_map(Value::from),
    ]
}

pub(super) fn scalars() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        ints().prop_map(Value::Int),
        floats().prop_map(Value::Float),
        texts().prop_map(Value::from),
        temporals(),
        points().prop_map(Value::from),
        (0..3_u64).prop_map(Value::Node),
        relationships().prop_map(Value::Relationship),
        prop::collection::vec(relationships(), 0..3).prop_map(|relationships| {
            let nodes = (0..=relationships.len() as u64).collect();
            Value::from(Path { nodes, relationships })
        }),
    ]
}

/// The keys of maps are those that functions read.
fn keys() -> impl Strategy<Value = &'static str> {
    select(vec![
        "a",
        "b",
        "year",
        "month",
        "day",
        "week",
        "hour",
        "second",
        "timezone",
        "date",
        "time",
        "datetime",
        "x",
        "y",
        "z",
        "longitude",
        "latitude",
        "srid",
        "crs",
        "months",
        "days",
        "seconds",
        "nanoseconds",
        "epochSeconds",
    ])
}

pub(super) fn values() -> impl Strategy<Value = Value> {
    scalars().prop_recursive(3, 20, 4, |inner| {
        let entries = prop::collection::vec((keys().prop_map(Into::into), inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|items| Value::list(items).unwrap()),
            entries.prop_map(|entries| Value::Map(Map::new(entries).unwrap())),
        ]
    })
}
