//! The condition of a comparison: its arguments, converted to the type of the values that they are
//! compared with.

use crate::exec::control::context::Context;
use hexgraph_base::plan::{Argument, Comparison};
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
    /// The ints that are requested, when they are a range of ints.
    pub(crate) fn int_range(&self) -> Option<(i64, i64)> {
        Some(match self {
            ValueCondition::AnyOf(values) => match values.as_slice() {
                [Value::Int(number)] => (*number, *number),
                _ => return None,
            },
            ValueCondition::Than(op, Value::Int(number)) => {
                let (low, high) = op.bounds(*number);
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
                (low, high)
            }
            ValueCondition::Between(Value::Int(low), Value::Int(high)) => (*low, *high),
            _ => return None,
        })
    }

    /// The floats that are requested, when they are a range of floats.
    pub(crate) fn float_range(&self) -> Option<RangeInclusive<f64>> {
        let range = match self {
            ValueCondition::AnyOf(values) => match values.as_slice() {
                [Value::Float(number)] => *number..=*number,
                _ => return None,
            },
            ValueCondition::Than(op, Value::Float(number)) => {
                let (low, high) = op.bounds(*number);
                let low = match low {
                    Bound::Included(number) => number,
                    Bound::Excluded(number) => number.next_up(),
                    Bound::Unbounded => f64::NEG_INFINITY,
                };
                let high = match high {
                    Bound::Included(number) => number,
                    Bound::Excluded(number) => number.next_down(),
                    Bound::Unbounded => f64::INFINITY,
                };
                // Above all floats there is no next one.
                let is_beyond = matches!(op, Comparison::Gt) && *number == f64::INFINITY
                    || matches!(op, Comparison::Lt) && *number == f64::NEG_INFINITY;
                if is_beyond { f64::INFINITY..=f64::NEG_INFINITY } else { low..=high }
            }
            ValueCondition::Between(Value::Float(low), Value::Float(high)) => *low..=*high,
            _ => return None,
        };
        // A NaN is on no side of any float.
        (!range.start().is_nan() && !range.end().is_nan()).then_some(range)
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
        match (values.next(), count) {
            (Some(value), 1) => Ok(ValueCondition::Than(op, value)),
            // A variable without a value, or with several different ones, is no bound: nothing is
            // returned.
            _ if arguments.iter().any(|argument| matches!(argument, Argument::Val(_))) => {
                Ok(ValueCondition::AnyOf(Vec::new()))
            }
            _ => Err(Error::query(format!("`{}` takes one value, found {count}", op.name()))),
        }
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
