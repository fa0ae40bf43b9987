//! Aggregates that are computed from all values of a group at once, a file each.
//!
//! The values come in the order of their nodes, however they were read and by however many threads,
//! so a result has the same bits everywhere. The caller reserves the memory of the values that it
//! gathers.

mod quantile;
mod variance;
pub(in crate::exec) mod distinct;
pub(in crate::exec) mod grouped_values;

use crate::exec::columns::number_columns::NumberSlice;
use crate::exec::columns::read::Typed;
use crate::exec::control::stop::RequestContext;
use crate::exec::math::sums::clamp;
use hexgraph_base::plan::{Aggregate, Fraction, Holistic};
use hexgraph_base::types::{Error, Result, Value, ValueRef};
use std::borrow::Cow;

/// The bytes of a value while it is aggregated: in a list that doubles, and its distance from
/// another one.
const GATHERED_BYTES: usize = size_of::<f64>() * 3;

/// The bytes that an aggregate of so many values takes.
pub(in crate::exec) fn gathered_bytes(op: Aggregate, values: usize) -> usize {
    match op {
        Aggregate::Algebraic(_) => 0,
        Aggregate::Holistic(_) => GATHERED_BYTES * values,
    }
}

/// The aggregate of ints, which may be reordered; `None` where they are too few.
pub(in crate::exec) fn of_ints(op: Holistic, ints: Cow<'_, [i64]>) -> Option<Value> {
    float(match op {
        Holistic::Median => quantile::of_ints(Fraction::HALF, &mut ints.into_owned()),
        Holistic::Quantile(fraction) => quantile::of_ints(fraction, &mut ints.into_owned()),
        Holistic::StdDev => variance::stddev(variance::distances(&ints)),
        Holistic::Variance => variance::variance(variance::distances(&ints)),
        Holistic::CountDistinct => return count(distinct::of_ints(&mut ints.into_owned())),
    })
}

/// The aggregate of floats, which may be reordered; `None` where they are too few.
pub(in crate::exec) fn of_floats(op: Holistic, floats: Cow<'_, [f64]>) -> Option<Value> {
    float(match op {
        Holistic::Median => quantile::of_floats(Fraction::HALF, &mut floats.into_owned()),
        Holistic::Quantile(fraction) => quantile::of_floats(fraction, &mut floats.into_owned()),
        Holistic::StdDev => variance::stddev(floats.iter().copied()),
        Holistic::Variance => variance::variance(floats.iter().copied()),
        Holistic::CountDistinct => return count(distinct::of_floats(&mut floats.into_owned())),
    })
}

/// The aggregate of values of any types; `None` where they are too few.
///
/// # Errors
///
/// [`Error::Query`] for values that are no numbers, where these are needed; [`Error::Limit`] when
/// the request has to stop.
pub(in crate::exec) fn of_values<'v>(
    op: Holistic,
    values: impl Iterator<Item = ValueRef<'v>>,
    control: &RequestContext,
) -> Result<Option<Value>> {
    if op == Holistic::CountDistinct {
        return distinct::count(values.map(Typed::Stored), control).map(count);
    }
    let (mut ints, mut floats, mut are_ints) = (Vec::new(), Vec::new(), true);
    for value in values {
        match value {
            ValueRef::Int(int) if are_ints => ints.push(int),
            other => {
                let float = other.to_f64().ok_or_else(|| no_number(op, other))?;
                if are_ints {
                    floats.extend(ints.drain(..).map(|int| int as f64));
                    are_ints = false;
                }
                floats.push(float);
            }
        }
    }
    Ok(if are_ints { of_ints(op, ints.into()) } else { of_floats(op, floats.into()) })
}

/// The aggregate of a column of values.
///
/// # Errors
///
/// As [`of_values`].
pub(in crate::exec) fn of_numbers(
    op: Holistic,
    numbers: NumberSlice<'_>,
    control: &RequestContext,
) -> Result<Option<Value>> {
    let _while_gathered = control.charge_while(GATHERED_BYTES * numbers.len())?;
    Ok(match numbers {
        NumberSlice::Narrow(ints) => of_ints(op, ints.iter().map(|int| i64::from(*int)).collect()),
        NumberSlice::Ints(ints) => of_ints(op, ints.into()),
        NumberSlice::Floats(floats) => of_floats(op, floats.into()),
    })
}

/// The aggregate of no values.
pub(in crate::exec) fn of_none(op: Aggregate) -> Option<Value> {
    match op {
        Aggregate::Algebraic(_) => None,
        Aggregate::Holistic(op) => of_ints(op, Cow::Borrowed(&[])),
    }
}

fn float(result: Option<f64>) -> Option<Value> {
    result.map(|float| Value::Float(clamp(float)))
}

fn count(values: usize) -> Option<Value> {
    Some(Value::Int(values as i64))
}

fn no_number(op: Holistic, value: ValueRef<'_>) -> Error {
    let (name, value_type) = (Aggregate::Holistic(op).name(), value.value_type());
    let message = format!("`{name}` takes numbers, and a value is of type {}", value_type.name());
    let hint = if let ValueRef::DateTime(_) = value {
        "make numbers of datetimes first: `s as math(since(t))` are the seconds since then"
    } else {
        "different values of any type are counted by `count(distinct val(x))`"
    };
    Error::query(message).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OPS: [Holistic; 5] = [
        Holistic::Median,
        Holistic::Quantile(Fraction::HALF),
        Holistic::StdDev,
        Holistic::Variance,
        Holistic::CountDistinct,
    ];

    proptest! {
        /// Numbers in an array have the results of the same values one by one.
        #[test]
        fn arrays_are_values_one_by_one(
            mut ints in prop::collection::vec(prop_oneof![any::<i64>(), -5..5_i64], 0..50),
            mut floats in prop::collection::vec(prop_oneof![-1e9..1e9, Just(0.0), Just(-0.0)], 0..50),
        ) {
            let control = RequestContext::new();
            for op in OPS {
                let values = ints.iter().map(|int| ValueRef::Int(*int));
                let one_by_one = of_values(op, values, &control).unwrap();
                prop_assert_eq!(format!("{one_by_one:?}"), format!("{:?}", of_ints(op, (&ints).into())));
                let values = floats.iter().map(|float| ValueRef::Float(*float));
                let one_by_one = of_values(op, values, &control).unwrap();
                prop_assert_eq!(format!("{one_by_one:?}"), format!("{:?}", of_floats(op, (&floats).into())));
            }
            // The order matters to none but the last bits of a variance.
            let before = OPS.map(|op| of_ints(op, (&ints).into()));
            ints.reverse();
            floats.reverse();
            for (op, before) in OPS.into_iter().zip(before) {
                if matches!(op, Holistic::Median | Holistic::Quantile(_) | Holistic::CountDistinct) {
                    prop_assert_eq!(before, of_ints(op, (&ints).into()));
                }
            }
        }
    }

    #[test]
    fn texts_have_no_median() {
        let control = RequestContext::new();
        let texts = ["b", "a", "b"].map(ValueRef::String);
        let error = of_values(Holistic::Median, texts.into_iter(), &control).unwrap_err();
        assert!(error.to_string().contains("`median` takes numbers"), "{error}");
        let distinct = of_values(Holistic::CountDistinct, texts.into_iter(), &control);
        assert_eq!(distinct.unwrap(), Some(Value::Int(2)));
    }
}
