//! The condition of a comparison: its arguments, converted to the type of the values that they are
//! compared with.

use crate::exec::control::context::Context;
use hexgraph_base::plan::{Argument, Call, Comparison, Operand};
use hexgraph_base::types::{Error, Result, Value, ValueRef, ValueType};
use std::cmp::Ordering;
use std::ops::{Bound, RangeInclusive};

/// A condition on one value.
#[derive(Debug, Clone)]
pub(crate) enum ValueCondition {
    /// Equal to one of these.
    AnyOf(Vec<Value>),
    /// On the requested side of this.
    Than(Comparison, Value),
    /// Between these, both included.
    Between(Value, Value),
}

impl ValueCondition {
    /// The bounds of the requested values, when these are a range; `of` reads a bound, and is
    /// `None` for a value of another type.
    pub(crate) fn bounds<T: Clone>(
        &self,
        of: impl Fn(&Value) -> Option<T>,
    ) -> Option<(Bound<T>, Bound<T>)> {
        match self {
            ValueCondition::AnyOf(values) => {
                let [value] = values.as_slice() else { return None };
                let value = of(value)?;
                Some((Bound::Included(value.clone()), Bound::Included(value)))
            }
            ValueCondition::Than(op, value) => Some(op.bounds(of(value)?)),
            ValueCondition::Between(low, high) => {
                Some((Bound::Included(of(low)?), Bound::Included(of(high)?)))
            }
        }
    }

    /// The ints that are requested, when they are a range of ints.
    pub(crate) fn int_range(&self) -> Option<(i64, i64)> {
        let (low, high) =
            self.bounds(|value| if let Value::Int(int) = value { Some(*int) } else { None })?;
        let low = match low {
            Bound::Included(number) => number,
            Bound::Excluded(number) => number.checked_add(1)?,
            Bound::Unbounded => i64::MIN,
        };
        let high = match high {
            Bound::Included(number) => number,
            Bound::Excluded(number) => number.checked_sub(1)?,
            Bound::Unbounded => i64::MAX,
        };
        Some((low, high))
    }

    /// The floats that are requested, when they are a range of floats.
    pub(crate) fn float_range(&self) -> Option<RangeInclusive<f64>> {
        let bounds =
            self.bounds(|value| if let Value::Float(float) = value { Some(*float) } else { None })?;
        // Beyond all floats there is no next one.
        if bounds.0 == Bound::Excluded(f64::INFINITY)
            || bounds.1 == Bound::Excluded(f64::NEG_INFINITY)
        {
            return Some(f64::INFINITY..=f64::NEG_INFINITY);
        }
        let low = match bounds.0 {
            Bound::Included(number) => number,
            Bound::Excluded(number) => number.next_up(),
            Bound::Unbounded => f64::NEG_INFINITY,
        };
        let high = match bounds.1 {
            Bound::Included(number) => number,
            Bound::Excluded(number) => number.next_down(),
            Bound::Unbounded => f64::INFINITY,
        };
        // A NaN is on no side of any float.
        (!low.is_nan() && !high.is_nan()).then_some(low..=high)
    }

    /// True when a value meets the condition. Values that can't be compared do not.
    pub(crate) fn holds(&self, value: ValueRef<'_>) -> bool {
        match self {
            ValueCondition::AnyOf(values) => {
                values.iter().any(|expected| value.equals(expected.as_ref()))
            }
            ValueCondition::Than(op, bound) => {
                value.compare(bound.as_ref()).is_some_and(|order| op.holds(order))
            }
            ValueCondition::Between(low, high) => {
                value.compare(low.as_ref()).is_some_and(Ordering::is_ge)
                    && value.compare(high.as_ref()).is_some_and(Ordering::is_le)
            }
        }
    }
}

impl Context<'_> {
    /// The texts of a comparison's arguments: literals, and all distinct values of variables.
    pub(crate) fn argument_texts(&self, arguments: &[Argument]) -> Result<Vec<String>> {
        let mut texts = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match argument {
                Argument::Text(text) => texts.push(text.clone()),
                Argument::Val(var) => {
                    let map = self.expect_values(*var)?;
                    let single = map.constant.iter().map(|value| value.as_ref());
                    for value in map.iter().map(|(_, value)| value).chain(single) {
                        if let Ok(Value::String(text)) = value.convert(ValueType::String) {
                            texts.push(text);
                        }
                    }
                }
            }
        }
        texts.sort_unstable();
        texts.dedup();
        Ok(texts)
    }

    /// What a function compares and with which operator, and the conversion of its arguments to a
    /// condition on values of a type; `None` for a function that compares nothing. `between` needs
    /// the order that `ge` needs.
    pub(crate) fn comparison<'f>(
        &self,
        call: &'f Call,
    ) -> Option<(&'f Operand, Comparison, impl Fn(ValueType) -> Result<ValueCondition>)> {
        let (left, op, arguments, interval) = match call {
            Call::Compare { op, left, arguments } => (left, *op, arguments.as_slice(), None),
            Call::Between { left, low, high } => {
                (left, Comparison::Ge, [].as_slice(), Some((low, high)))
            }
            Call::Terms { .. }
            | Call::CustomTerms { .. }
            | Call::Text { .. }
            | Call::Has(_)
            | Call::Type(_)
            | Call::Uid { .. }
            | Call::UidIn { .. }
            | Call::Geo { .. }
            | Call::SimilarTo { .. } => return None,
        };
        let condition = move |value_type| match interval {
            Some((low, high)) => self.expected_between(low, high, value_type),
            None => self.expected(op, arguments, value_type),
        };
        Some((left, op, condition))
    }

    /// Converts the arguments of a comparison.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when an argument is none of the type, or their number is wrong.
    pub(crate) fn expected(
        &self,
        op: Comparison,
        arguments: &[Argument],
        value_type: ValueType,
    ) -> Result<ValueCondition> {
        let texts = self.argument_texts(arguments)?;
        let values: Vec<Value> =
            texts.iter().map(|text| argument_value(text, value_type)).collect::<Result<_>>()?;
        if op == Comparison::Eq {
            return Ok(ValueCondition::AnyOf(values));
        }
        let count = values.len();
        let mut values = values.into_iter();
        if let (Some(value), 1) = (values.next(), count) {
            return Ok(ValueCondition::Than(op, value));
        }
        // A variable without a value, or with several different ones, is no bound: nothing is
        // returned.
        if arguments.iter().any(|argument| matches!(argument, Argument::Val(_))) {
            return Ok(ValueCondition::AnyOf(Vec::new()));
        }
        Err(Error::query(format!("`{}` takes one value, found {count}", op.name())))
    }

    /// Converts the arguments of `between`.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when an argument is none of the type.
    pub(crate) fn expected_between(
        &self,
        low: &Argument,
        high: &Argument,
        value_type: ValueType,
    ) -> Result<ValueCondition> {
        let mut bounds = Vec::with_capacity(2);
        for argument in [low, high] {
            let texts = self.argument_texts(std::slice::from_ref(argument))?;
            let [text] = texts.as_slice() else {
                return Ok(ValueCondition::AnyOf(Vec::new()));
            };
            bounds.push(argument_value(text, value_type)?);
        }
        let high = bounds.pop().expect("two bounds were pushed");
        let low = bounds.pop().expect("two bounds were pushed");
        Ok(ValueCondition::Between(low, high))
    }
}

/// An argument in the type of what it is compared with.
pub(crate) fn argument_value(text: &str, value_type: ValueType) -> Result<Value> {
    let expected = if value_type == ValueType::Default { ValueType::String } else { value_type };
    if expected == ValueType::Password {
        let hint = "write the field `checkpwd(predicate, \"text\")`";
        return Err(Error::query("passwords can't be compared").with_hint(hint));
    }
    Value::parse(text, expected).map_err(|reason| match text.is_empty() {
        true => Error::query(format!(
            "an empty text is no {}, and nor is a variable that has no value",
            expected.name()
        )),
        false => Error::query(reason),
    })
}
