//! Functions and operators with any arguments: an error or a value, and no panic.

use super::evaluator::constant;
use super::samples::{temporals, values};
use crate::{
    Arithmetic, Context, FUNCTIONS, Value, arithmetic, function, matches, negate, property, slice,
    subscript,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use proptest::sample::select;

fn context() -> Context {
    Context::new(Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC), 1).with_value_bytes_max(1 << 16)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_function_panics(arguments in prop::collection::vec(values(), 0..4)) {
        let context = context();
        for function in FUNCTIONS {
            let max = function.arguments_max.min(arguments.len());
            for count in function.arguments_min..=max {
                let _ = function.call(&arguments[..count], &context);
            }
        }
    }

    #[test]
    fn no_operator_panics(one in values(), other in values(), third in values()) {
        use Arithmetic::{Add, Divide, Modulo, Multiply, Power, Subtract};
        let context = context();
        for operator in [Add, Subtract, Multiply, Divide, Modulo, Power] {
            let _ = arithmetic(one.clone(), operator, other.clone(), &context);
        }
        let _ = (negate(one.clone()), subscript(&one, &other), matches(&one, &other, &context));
        let _ = slice(&one, Some(&other), Some(&third), &context);
        if let Value::String(name) = &other {
            let _ = property(&one, name);
        }
    }

    #[test]
    fn components_and_truncations_do_not_panic(
        value in temporals(),
        name in select(vec!["year", "weekYear", "week", "dayOfQuarter", "hour", "offset", "epochMillis", "milliseconds"]),
        unit in select(vec!["millennium", "century", "decade", "weekYear", "quarter", "week", "day", "hour", "microsecond"]),
    ) {
        let context = context();
        let _ = property(&value, name);
        for target in ["date", "time", "localtime", "datetime", "localdatetime"] {
            let truncate = function(&format!("{target}.truncate")).unwrap();
            let _ = truncate.call(&[Value::from(unit), value.clone()], &context);
        }
    }

    #[test]
    fn rounded_numbers_are_close(number in -1e9..1e9_f64, digits in 0..12_i64) {
        let round = function("round").unwrap();
        let rounded = |mode: &str| {
            let arguments = [Value::Float(number), Value::Int(digits), Value::from(mode)];
            let Ok(Value::Float(result)) = round.call(&arguments, &context()) else { panic!("{mode}") };
            result
        };
        let unit = 0.1_f64.powi(digits as i32);
        let error = number.abs() * f64::EPSILON;
        for mode in ["HALF_UP", "HALF_DOWN", "HALF_EVEN"] {
            prop_assert!((rounded(mode) - number).abs() <= unit * 0.5 + error, "{}", mode);
        }
        prop_assert!(rounded("FLOOR") <= number && number <= rounded("CEILING"));
        prop_assert!(rounded("DOWN").abs() <= number.abs() && number.abs() <= rounded("UP").abs());
    }

    #[test]
    fn temporal_values_are_read_from_their_texts(value in temporals()) {
        let constructor = match &value {
            Value::Date(_) => "date",
            Value::LocalTime(_) => "localtime",
            Value::Time(_) => "time",
            Value::LocalDateTime(_) => "localdatetime",
            Value::DateTime(_) => "datetime",
            _ => "duration",
        };
        let text = value.to_string();
        let again = function(constructor).unwrap().call(&[Value::from(text.as_str())], &context());
        prop_assert_eq!(again.as_ref().map(Value::to_string), Ok(text));
        prop_assert_eq!(again.as_ref(), Ok(&value));
    }
}

#[test]
fn names_are_in_the_table_once() {
    let mut names: Vec<String> = FUNCTIONS.iter().map(|it| it.name.to_lowercase()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FUNCTIONS.len());
    for function in FUNCTIONS {
        assert!(function.arguments_min <= function.arguments_max, "{}", function.name);
    }
}

#[track_caller]
fn gives(text: &str, expected: &str) {
    match constant(text, &context()) {
        Ok(value) => assert_eq!(value.to_string(), expected, "{text}"),
        Err(error) => panic!("{text}: {error}"),
    }
}

#[track_caller]
fn fails(text: &str, part: &str) {
    match constant(text, &context()) {
        Ok(value) => panic!("{text} is {value}"),
        Err(error) => assert!(error.to_string().contains(part), "{text}: {error}"),
    }
}

#[test]
fn strings() {
    gives("split('a,b;c', [',', ';'])", "['a', 'b', 'c']");
    gives("split('aé', '')", "['a', 'é']");
    gives("substring('héllo', 1, 3)", "éll");
    gives("right('héllo', 4) + left('héllo', 2)", "éllohé");
    gives(
        "[trim('  a '), lTrim('xxa', 'x'), rTrim('axx', 'x'), btrim('xax', 'x')]",
        "['a', 'a', 'a', 'a']",
    );
    gives("'abc' =~ 'a.*' AND NOT 'xabc' =~ 'a.*|x'", "true");
    gives("replace('aaa', 'a', 'bb')", "bbbbbb");
    gives("'a' + 1 + true + 1.5", "a1true1.5");
    fails("'a' =~ 'a)|(b'", "regular expression is invalid");
    fails("substring('a', -1)", "argument 2 of `substring` is 0 or more, and this is -1");
    fails("toUpper(1)", "argument 1 of `toUpper` is a STRING, and this is an INTEGER");
    fails("left('a')", "`left` has 2 arguments, and 1 are passed");
}

#[test]
fn numbers() {
    gives("[7 / 2, -7 / 2, 7 % -3, 7.0 / 2, 2 ^ 3, 1 / 0.0]", "[3, -3, 1, 3.5, 8.0, Infinity]");
    gives("[round(2.5), round(-2.5), round(-1.5)]", "[3.0, -2.0, -1.0]");
    gives("[round(1.005, 2), round(-1.55, 1), round(9.999, 2)]", "[1.01, -1.6, 10.0]");
    gives(
        "[round(1.25, 1, 'HALF_EVEN'), round(1.25, 1, 'HALF_DOWN'), round(-1.21, 1, 'UP')]",
        "[1.2, 1.2, -1.3]",
    );
    gives(
        "[round(1.29, 1, 'DOWN'), round(-1.21, 1, 'CEILING'), round(-1.21, 1, 'FLOOR')]",
        "[1.2, -1.2, -1.3]",
    );
    gives(
        "[round(1.5e-6, 6), round(123456789.125, 2), round(1e300, 2), round(-0.4, 0)]",
        "[2e-6, 123456789.13, 1e300, -0.0]",
    );
    gives("[sign(-3), sign(0.0), abs(-2.5), isNaN(0.0 / 0.0)]", "[-1, 0, 2.5, true]");
    fails("9223372036854775807 + 1", "beyond the integers of 64 bits");
    fails("-9223372036854775808 / -1", "beyond the integers of 64 bits");
    fails("abs(-9223372036854775808)", "beyond 64 bits");
    fails("5 % 0", "division by zero");
    fails("1 + {a: 1}", "`+` is not possible for INTEGER and MAP");
}

#[test]
fn conversions() {
    gives(
        "[toInteger('0x'), toInteger(' 12 '), toInteger('1e3'), toInteger(1e30), toInteger(true)]",
        "[null, 12, 1000, null, 1]",
    );
    gives(
        "[toFloat('inf'), toFloat('1.5'), toBoolean('TRUE'), toBoolean(0)]",
        "[null, 1.5, true, false]",
    );
    gives("toIntegerList(['1', 'a', [], 2.9])", "[1, null, null, 2]");
    gives(
        "[toStringOrNull([]), toString(1.0), toString(date('2020-01-02'))]",
        "[null, '1.0', '2020-01-02']",
    );
    fails("toInteger([])", "is a number, BOOLEAN or STRING");
}

#[test]
fn lists_and_limits() {
    gives(
        "range(9223372036854775806, 9223372036854775807)",
        "[9223372036854775806, 9223372036854775807]",
    );
    gives(
        "range(-9223372036854775808, 9223372036854775807, 9223372036854775807)",
        "[-9223372036854775808, -1, 9223372036854775806]",
    );
    gives("[1] + 2 + [3] + null", "null");
    gives("0 + [1] + [[2]]", "[0, 1, [2]]");
    gives(
        "[head([]), last([1, 2]), tail([1, 2]), isEmpty(''), coalesce(null, 3)]",
        "[null, 2, [2], true, 3]",
    );
    fails("range(0, 1000000000000)", "value_bytes_max is 65536");
    fails("reduce(s = 'a', x IN range(1, 100) | s + s)", "value_bytes_max is 65536");
    fails("reduce(s = [1], x IN range(1, 100) | s + s)", "value_bytes_max is 65536");
    fails("reduce(s = [], x IN range(1, 200) | [s])", "nested deeper than 100 levels");
    fails(
        "replace(reduce(s = 'a', x IN range(1, 12) | s + s), 'a', '0123456789012345678901234567')",
        "value_bytes_max",
    );
    fails("split(reduce(s = 'a', x IN range(1, 15) | s + s), '')", "value_bytes_max");
}

#[test]
fn temporal_values() {
    gives("date('2020-01-31') + duration('P1M')", "2020-02-29");
    gives(
        "datetime('2017-10-28T12:00[Europe/Stockholm]') + duration('P1D')",
        "2017-10-29T12:00+01:00[Europe/Stockholm]",
    );
    gives(
        "datetime('2017-10-28T12:00[Europe/Stockholm]') + duration('PT24H')",
        "2017-10-29T11:00+01:00[Europe/Stockholm]",
    );
    gives(
        "datetime('2017-10-29T02:30+01:00[Europe/Stockholm]') + duration('PT1H')",
        "2017-10-29T03:30+01:00[Europe/Stockholm]",
    );
    gives("datetime('2020-01-01T00:00Z') = datetime('2020-01-01T01:00+01:00')", "true");
    gives(
        "datetime({epochSeconds: 1, nanosecond: 5, timezone: '+01:00'})",
        "1970-01-01T01:00:01.000000005+01:00",
    );
    gives("date({year: null, month: 1})", "null");
    gives("date({date: date('2019-10-31'), month: 2})", "2019-02-28");
    gives(
        "[date(), date.transaction('+14:00'), localtime.realtime()]",
        "[1970-01-01, 1970-01-01, 00:00]",
    );
    fails("date('2019-02-29')", "29 is no day of the month; write a number from 1 to 28");
    fails("date('2019-W53')", "53 is no week; write a number from 1 to 52");
    fails("date('10000-01-01')", "is no DATE");
    fails("date({month: 1})", "`year` is missing");
    fails("date({year: 1, yaer: 2})", "`yaer` is no field of a DATE");
    fails("date({year: 2020, month: 1, week: 2})", "exclude each other");
    fails("datetime('2020-01-01T00:00+05:00[Europe/Stockholm]')", "is not that of the zone");
    fails(
        "datetime({year: 2020, timezone: 'Europe/Stokholm'})",
        "there is no time zone `Europe/Stokholm`",
    );
    fails("date('9999-12-31') + duration('P1D')", "outside of the years");
    fails("date('2020-01-01').hour", "a DATE has no `hour`; it has year, quarter");
    fails("date('2020-01-02') - date('2020-01-01')", "use duration.between(from, to)");
    fails("duration('P1H')", "is no DURATION");
}

#[test]
fn points() {
    gives("point({x: 1, y: 2}).crs", "cartesian");
    gives("point.distance(point({x: 0, y: 0}), point({x: 3, y: 4}))", "5.0");
    gives("point.distance(point({x: 0, y: 0}), point({longitude: 3, latitude: 4}))", "null");
    gives(
        "round(distance(point({longitude: 12.78, latitude: 56.7}), point({longitude: 12.79, latitude: 56.71})))",
        "1270.0",
    );
    gives(
        "point.withinBBox(point({longitude: 179, latitude: 1}), point({longitude: 170, latitude: 0}), point({longitude: -170, latitude: 2}))",
        "true",
    );
    fails("point({x: 1})", "`y` of a POINT is missing");
    fails("point({longitude: 181, latitude: 1})", "not on the earth");
    fails("point({x: 1, y: 2, srid: 9157})", "not those of `cartesian-3d`");
}
