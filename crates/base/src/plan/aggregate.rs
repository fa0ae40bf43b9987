//! The aggregate functions, a row each.
//!
//! A new one is a variant, a row of [`AGGREGATES`] and its computation in the executor: the lexer,
//! the names of results, the types that are allowed, the grammar of a database and the words that
//! editors propose come from the table.

use crate::types::ValueType;
use std::mem::discriminant;

/// An aggregate function with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// One whose state has a constant size.
    Algebraic(Algebraic),
    /// One that is computed from all values of a group at once.
    Holistic(Holistic),
}

/// The aggregates whose state has a constant size, whatever the number of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algebraic {
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The sum.
    Sum,
    /// The mean.
    Avg,
}

/// The aggregates that are computed from all values of a group at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holistic {
    /// The quantile 0.5.
    Median,
    /// The number below which a fraction of the numbers lies, interpolated between two neighbours.
    Quantile(Fraction),
    /// The square root of the variance.
    StdDev,
    /// The variance of a sample.
    Variance,
    /// The number of different values.
    CountDistinct,
}

/// A number from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fraction(u64);

impl Fraction {
    /// One half.
    pub const HALF: Fraction = Fraction(0.5_f64.to_bits());

    /// Returns the fraction; `None` for a number below 0 or above 1, and for one that is not a
    /// number.
    pub fn new(number: f64) -> Option<Fraction> {
        // A sum with 0 makes 0 of -0.
        (0.0..=1.0).contains(&number).then(|| Fraction((number + 0.0).to_bits()))
    }

    /// Returns the number.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// The types of values that an aggregate accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregateTypes {
    /// Numbers alone.
    Numbers,
    /// What can be added up.
    Summable,
    /// What has an order.
    Ordered,
    /// Everything that may be read, edges too.
    Any,
}

impl AggregateTypes {
    /// Returns true for an accepted type.
    pub fn allows(self, value_type: ValueType) -> bool {
        let is_number =
            matches!(value_type, ValueType::Int | ValueType::Float | ValueType::BigFloat);
        match self {
            AggregateTypes::Numbers => is_number,
            AggregateTypes::Summable => is_number || value_type == ValueType::Vector,
            AggregateTypes::Ordered => {
                let others = [ValueType::DateTime, ValueType::String, ValueType::Default];
                is_number || others.contains(&value_type)
            }
            AggregateTypes::Any => value_type != ValueType::Password,
        }
    }

    /// Returns the accepted types, for a message.
    pub fn described(self) -> &'static str {
        match self {
            AggregateTypes::Numbers => "numbers",
            AggregateTypes::Summable => "numbers and vectors",
            AggregateTypes::Ordered => "numbers, strings and datetimes",
            AggregateTypes::Any => "everything but passwords",
        }
    }
}

/// An aggregate function as a query calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AggregateFunction {
    /// The function; a parameter is an example.
    pub op: Aggregate,
    /// The name, for messages.
    pub name: &'static str,
    /// What is written before the argument.
    pub open: &'static str,
    /// What it accepts.
    pub types: AggregateTypes,
}

/// The aggregate functions of DQL.
pub const AGGREGATES: [AggregateFunction; 9] = [
    AggregateFunction {
        op: Aggregate::Algebraic(Algebraic::Min),
        name: "min",
        open: "min(",
        types: AggregateTypes::Ordered,
    },
    AggregateFunction {
        op: Aggregate::Algebraic(Algebraic::Max),
        name: "max",
        open: "max(",
        types: AggregateTypes::Ordered,
    },
    AggregateFunction {
        op: Aggregate::Algebraic(Algebraic::Sum),
        name: "sum",
        open: "sum(",
        types: AggregateTypes::Summable,
    },
    AggregateFunction {
        op: Aggregate::Algebraic(Algebraic::Avg),
        name: "avg",
        open: "avg(",
        types: AggregateTypes::Summable,
    },
    AggregateFunction {
        op: Aggregate::Holistic(Holistic::Median),
        name: "median",
        open: "median(",
        types: AggregateTypes::Numbers,
    },
    AggregateFunction {
        op: Aggregate::Holistic(Holistic::Quantile(Fraction(0.9_f64.to_bits()))),
        name: "quantile",
        open: "quantile(",
        types: AggregateTypes::Numbers,
    },
    AggregateFunction {
        op: Aggregate::Holistic(Holistic::StdDev),
        name: "stddev",
        open: "stddev(",
        types: AggregateTypes::Numbers,
    },
    AggregateFunction {
        op: Aggregate::Holistic(Holistic::Variance),
        name: "variance",
        open: "variance(",
        types: AggregateTypes::Numbers,
    },
    AggregateFunction {
        op: Aggregate::Holistic(Holistic::CountDistinct),
        name: "count(distinct)",
        open: "count(distinct ",
        types: AggregateTypes::Any,
    },
];

impl Algebraic {
    /// Returns true for a sum and for a mean, which is one with a count.
    pub fn is_sum(self) -> bool {
        matches!(self, Algebraic::Sum | Algebraic::Avg)
    }
}

impl AggregateFunction {
    /// Returns true where a `(` after the name always calls the function. Other names are fields
    /// as well, which may have arguments: `median(first: 3) { name }`.
    pub fn is_reserved(&self) -> bool {
        matches!(self.op, Aggregate::Algebraic(_))
    }

    /// Returns true where a fraction follows the argument.
    pub fn has_fraction(&self) -> bool {
        self.op.fraction().is_some()
    }
}

impl Aggregate {
    /// Returns the row of the function.
    pub fn function(self) -> &'static AggregateFunction {
        let is_it = |row: &&AggregateFunction| match (row.op, self) {
            (Aggregate::Holistic(one), Aggregate::Holistic(other)) => {
                discriminant(&one) == discriminant(&other)
            }
            (one, other) => one == other,
        };
        AGGREGATES.iter().find(is_it).expect("each function has a row")
    }

    /// Returns the name of the function, for messages.
    pub fn name(self) -> &'static str {
        self.function().name
    }

    /// Returns the call of the function with an argument, as a query has it and as its result is
    /// named.
    pub fn call(self, argument: &str) -> String {
        let open = self.function().open;
        match self.fraction() {
            Some(fraction) => format!("{open}{argument}, {})", fraction.get()),
            None => format!("{open}{argument})"),
        }
    }

    /// Returns the function where it is a sum or a mean.
    pub fn as_sum(self) -> Option<Algebraic> {
        match self {
            Aggregate::Algebraic(op) => Some(op).filter(|op| op.is_sum()),
            Aggregate::Holistic(_) => None,
        }
    }

    /// Returns the fraction that the call has; `None` for a function without one.
    pub fn fraction(self) -> Option<Fraction> {
        match self {
            Aggregate::Holistic(Holistic::Quantile(fraction)) => Some(fraction),
            _ => None,
        }
    }

    /// Returns the function with a fraction, where it has one.
    #[must_use]
    pub fn with_fraction(self, fraction: Fraction) -> Aggregate {
        match self.fraction() {
            Some(_) => Aggregate::Holistic(Holistic::Quantile(fraction)),
            None => self,
        }
    }

    /// Returns the names of all functions, for a message: `min, max, sum, ...`.
    pub fn names() -> String {
        AGGREGATES.map(|row| row.name).join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_written_as_queries_have_them() {
        let calls = AGGREGATES.map(|row| row.op.call("val(x)"));
        let expected = "min(val(x)) max(val(x)) sum(val(x)) avg(val(x)) median(val(x)) \
            quantile(val(x), 0.9) stddev(val(x)) variance(val(x)) count(distinct val(x))";
        assert_eq!(calls.join(" "), expected);
    }

    #[test]
    fn fractions_are_between_0_and_1() {
        for number in [0.0, 1.0, 0.25] {
            assert_eq!(Fraction::new(number).map(Fraction::get), Some(number));
        }
        for number in [-0.1, 1.1, 50.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Fraction::new(number), None);
        }
        assert_eq!(Fraction::new(-0.0), Fraction::new(0.0));
    }
}
