//! Aggregates: merged accumulators have the result of a single one, and the results of few values.

use super::samples::values;
use crate::{AGGREGATES, Context, Duration, Result, Value, aggregate};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;

fn context() -> Context {
    Context::new(Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC), 1)
}

/// The result of an aggregate over parts that are merged.
fn result(name: &str, distinct: bool, parts: &[&[Value]], part: f64) -> Result<Value> {
    let context = context();
    let aggregate = aggregate(name).unwrap();
    let mut total = aggregate.start(distinct);
    for values in parts {
        let mut accumulator = aggregate.start(distinct);
        for value in *values {
            let arguments = [value.clone(), Value::Float(part)];
            accumulator.update(&arguments[..aggregate.arguments], &context)?;
        }
        total.merge(accumulator, &context)?;
    }
    total.finish()
}

/// Whether two results are the same, floats to 9 digits.
fn close(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Float(one), Value::Float(other)) if one.is_finite() && other.is_finite() => {
            (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1.0)
        }
        _ => one == other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_values_are_accumulated_or_refused(values in prop::collection::vec(values(), 0..8), part in 0.0..=1.0) {
        for aggregate in AGGREGATES {
            for distinct in [false, true] {
                let one = result(aggregate.name, distinct, &[&values], part);
                let several: Vec<&[Value]> = values.chunks(3).collect();
                let other = result(aggregate.name, distinct, &several, part);
                prop_assert_eq!(one.is_ok(), other.is_ok(), "{} {:?} {:?}", aggregate.name, one, other);
            }
        }
    }

    #[test]
    fn merged_accumulators_give_what_one_gives(numbers in prop::collection::vec((-50..50_i32, any::<bool>()), 0..20), part in 0.0..=1.0) {
        let values: Vec<Value> = numbers
            .iter()
            .map(|(number, is_int)| if *is_int { Value::from(i64::from(*number)) } else { Value::from(f64::from(*number) / 4.0) })
            .collect();
        for aggregate in AGGREGATES {
            for distinct in [false, true] {
                let one = result(aggregate.name, distinct, &[&values], part).unwrap();
                let several: Vec<&[Value]> = values.chunks(3).collect();
                let other = result(aggregate.name, distinct, &several, part).unwrap();
                prop_assert!(close(&one, &other), "{}: {} and {}", aggregate.name, one, other);
            }
        }
    }
}

#[track_caller]
fn gives(name: &str, values: &[Value], expected: &str) {
    assert_eq!(result(name, false, &[values], 0.5).unwrap().to_string(), expected, "{name}");
}

#[test]
fn results_of_few_values() {
    let ints = |numbers: &[i64]| numbers.iter().map(|it| Value::Int(*it)).collect::<Vec<_>>();
    gives("sum", &[], "0");
    gives("avg", &[Value::Null], "null");
    gives("min", &[Value::Null, Value::from("a"), Value::Int(1)], "a");
    gives("max", &[Value::Null, Value::from("a"), Value::Int(1)], "1");
    gives("avg", &ints(&[1, 2]), "1.5");
    gives("sum", &ints(&[i64::MAX, 1, -1]), "9223372036854775807");
    gives("stDev", &ints(&[1, 3]), "1.4142135623730951");
    gives("stDevP", &ints(&[1, 3]), "1.0");
    gives("stDev", &ints(&[1]), "0.0");
    gives("percentileCont", &ints(&[1, 2, 10, 3]), "2.5");
    gives("percentileDisc", &ints(&[1, 2, 10, 3]), "2");
    gives("percentileDisc", &[], "null");
    let days = |days| Value::from(Duration::new(0, days, 0, 0).unwrap());
    gives("sum", &[days(1), days(2)], "P3D");
    gives("avg", &[days(1), days(2)], "P1DT12H");
    let tenths = vec![Value::Float(0.1); 10];
    gives("sum", &tenths, "1.0");
    let message = |values: &[Value], part| {
        result("percentileCont", false, &[values], part).unwrap_err().to_string()
    };
    assert!(message(&[Value::Int(1)], 1.5).contains("the part of `percentileCont` is 1.5"));
    assert!(message(&[Value::from("a")], 0.5).contains("not possible for a STRING"));
    let error = result("sum", false, &[&ints(&[i64::MAX, 1])], 0.0).unwrap_err();
    assert!(error.to_string().contains("beyond 64 bits"), "{error}");
    let error = result("sum", false, &[&[days(1), Value::Int(1)]], 0.0).unwrap_err();
    assert!(error.to_string().contains("numbers and durations"), "{error}");
}

#[test]
fn collected_values_are_bounded() {
    let context = context().with_value_bytes_max(10_000);
    for (name, distinct) in [("collect", false), ("count", true), ("percentileCont", false)] {
        let mut accumulator = aggregate(name).unwrap().start(distinct);
        let mut numbers =
            (0..10_000).map(|number| accumulator.update(&[Value::Int(number)], &context));
        let error = numbers.find_map(Result::err).unwrap();
        assert!(error.to_string().contains("value_bytes_max is 10000"), "{error}");
    }
}
