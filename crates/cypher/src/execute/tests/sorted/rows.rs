//! `ORDER BY` with `SKIP` and `LIMIT`, compared with a stable sort of all rows by their values.

use super::{MemoryGraph, context};
use crate::execute::execute;
use crate::{analyse, parse};
use hexgraph_scalar::{Map, Value};
use jiff::Timestamp;
use jiff::civil::date;
use jiff::tz::TimeZone;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use std::cmp::Ordering;

/// Values: many are equal, or begin alike.
fn values() -> impl Strategy<Value = Value> {
    let floats = vec![-0.0, 0.0, 1.0, -1.5, f64::NAN, f64::INFINITY];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-2..3_i64).prop_map(Value::Int),
        (0..3_i64).prop_map(|more| Value::Int((1 << 60) + more)),
        select(floats).prop_map(Value::Float),
        select(vec!["", "a", "alphabe", "alphabet 1", "alphabet 2"]).prop_map(Value::from),
        (1..4_i8).prop_map(|day| Value::Date(date(2020, 2, day))),
        (0..3_i32).prop_map(|nanos| {
            let time = Timestamp::new(1_600_000_000, nanos).unwrap();
            Value::from(time.to_zoned(TimeZone::UTC))
        }),
        (0..3_i64).prop_map(|item| Value::list(vec![Value::Int(item)]).unwrap()),
    ]
}

/// How a key is sorted.
#[derive(Debug, Clone)]
struct Direction {
    words: String,
    descends: bool,
    nulls_first: bool,
}

fn directions() -> impl Strategy<Value = Direction> {
    (any::<bool>(), any::<Option<bool>>()).prop_map(|(descends, nulls_first)| {
        let word = if descends { " DESC" } else { "" };
        let nulls = match nulls_first {
            Some(true) => " NULLS FIRST",
            Some(false) => " NULLS LAST",
            None => "",
        };
        // Null is the largest value.
        let nulls_first = nulls_first.unwrap_or(descends);
        Direction { words: format!("{word}{nulls}"), descends, nulls_first }
    })
}

fn order(one: &Value, other: &Value, direction: &Direction) -> Ordering {
    match (one.is_null(), other.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) if direction.nulls_first => Ordering::Less,
        (true, false) => Ordering::Greater,
        (false, true) => order(other, one, direction).reverse(),
        (false, false) if direction.descends => other.cmp(one),
        (false, false) => one.cmp(other),
    }
}

/// The numbers of rows in their order.
fn sorted(rows: &[(Value, Value)], text: &str) -> Vec<Value> {
    let graph = MemoryGraph::new(&json!({"nodes": [], "edges": []}));
    let row = |(number, (one, other)): (i64, &(Value, Value))| {
        Value::list(vec![one.clone(), other.clone(), Value::Int(number)]).unwrap()
    };
    let list = Value::list((0..).zip(rows).map(row).collect()).unwrap();
    let params = Map::new(vec![("rows".into(), list)]).unwrap();
    let parsed = parse(text).unwrap_or_else(|error| panic!("{}", error.report(text)));
    analyse(&parsed).unwrap_or_else(|error| panic!("{}", error.report(text)));
    let table = execute(&parsed, &params, &graph, &context()).unwrap();
    assert_eq!(graph.bytes_left.get(), 64 << 20, "{text}");
    table.rows.into_iter().flatten().collect()
}

fn check(
    rows: &[(Value, Value)],
    [one, other]: &[Direction; 2],
    skip: usize,
    limit: Option<usize>,
) {
    let bounds = limit.map(|limit| format!(" LIMIT {limit}")).unwrap_or_default();
    let text = format!(
        "UNWIND $rows AS row WITH row ORDER BY row[0]{}, row[1]{} SKIP {skip}{bounds} \
         RETURN row[2] AS number",
        one.words, other.words
    );
    let mut expected: Vec<_> = (0..).zip(rows).collect();
    expected.sort_by(|(_, left), (_, right)| {
        order(&left.0, &right.0, one).then(order(&left.1, &right.1, other))
    });
    let expected = expected.into_iter().skip(skip).take(limit.unwrap_or(usize::MAX));
    let expected: Vec<_> = expected.map(|(number, _)| Value::Int(number)).collect();
    assert_eq!(sorted(rows, &text), expected, "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn rows_are_sorted_stably_by_all_keys(
        rows in vec((values(), values()), 0..60),
        directions in [directions(), directions()],
        skip in 0..4_usize,
        limit in of(1..20_usize),
    ) {
        check(&rows, &directions, skip, limit);
    }
}

/// More rows than a chunk has; some are dropped.
#[test]
fn many_rows_are_sorted() {
    let row = |number: i64| (Value::Int(number * 7919 % 1000), Value::Int(number % 3));
    let rows: Vec<_> = (0..5000).map(row).collect();
    let direction = |descends| Direction {
        words: if descends { " DESC" } else { "" }.to_owned(),
        descends,
        nulls_first: descends,
    };
    for (skip, limit) in [(0, None), (3000, None), (0, Some(1500)), (1000, Some(1500))] {
        check(&rows, &[direction(true), direction(false)], skip, limit);
    }
}
