//! The value of an operator for one node.

use super::cell::{Cell, Decided, Undecided};
use super::compile::CellOperator;
use crate::ast::{ArithmeticOp, CompareOp};
use hexgraph_scalar::{Comparison, TextTest};

/// The cells of the properties of a batch, each with one cell for each node.
pub(super) type Columns<'r, 'c> = &'r [Vec<Cell<'c>>];

impl CellOperator {
    /// Evaluates it for the node at a position of the columns.
    pub(super) fn evaluate<'c>(&'c self, columns: Columns<'_, 'c>, at: usize) -> Decided<Cell<'c>> {
        let value = |it: &'c CellOperator| it.evaluate(columns, at);
        match self {
            CellOperator::Constant(value) => Cell::of(value).ok_or(Undecided),
            CellOperator::Property(property) => Ok(columns[*property][at]),
            CellOperator::And(list) => {
                let mut result = Some(true);
                for it in list {
                    match value(it)?.truth()? {
                        Some(true) => {}
                        Some(false) => return Ok(Cell::Bool(false)),
                        None => result = None,
                    }
                }
                Ok(of_truth(result))
            }
            CellOperator::Or(list) => {
                let mut result = Some(false);
                for it in list {
                    match value(it)?.truth()? {
                        Some(false) => {}
                        Some(true) => return Ok(Cell::Bool(true)),
                        None => result = None,
                    }
                }
                Ok(of_truth(result))
            }
            CellOperator::Not(inside) => Ok(of_truth(value(inside)?.truth()?.map(|it| !it))),
            CellOperator::Compare(first, rest) => comparisons(first, rest, columns, at),
            CellOperator::Arithmetic(first, rest) => {
                let mut left = value(first)?;
                for (operator, right) in rest {
                    left = arithmetic(left, *operator, value(right)?)?;
                }
                Ok(left)
            }
            CellOperator::Negative(inside) => match value(inside)? {
                Cell::Null => Ok(Cell::Null),
                Cell::Int(number) => number.checked_neg().map(Cell::Int).ok_or(Undecided),
                Cell::Float(number) => Ok(Cell::Float(-number)),
                Cell::Bool(_) | Cell::Text(_) | Cell::Time(_) => Err(Undecided),
            },
            CellOperator::Text(text, test, part) => {
                Ok(of_truth(text_test(value(text)?, *test, value(part)?)))
            }
            CellOperator::Component(time, name) => value(time)?.component(name),
            CellOperator::In(item, set) => Ok(of_truth(set.contains(value(item)?))),
            CellOperator::IsNull(inside, is_null) => {
                Ok(Cell::Bool(value(inside)?.is_null() == *is_null))
            }
            CellOperator::Case { subject, branches, otherwise } => {
                chosen((subject.as_deref(), branches, otherwise), columns, at)
            }
        }
    }

    /// Drops the nodes for which it is not true.
    pub(super) fn filter<'c>(
        &'c self,
        columns: Columns<'_, 'c>,
        passes: &mut [bool],
    ) -> Decided<()> {
        if let CellOperator::Compare(first, rest) = self
            && let (CellOperator::Property(property), [(operator, CellOperator::Constant(other))]) =
                (&**first, &rest[..])
        {
            // The usual condition is a loop over one column.
            let other = Cell::of(other).ok_or(Undecided)?;
            for (passes, cell) in passes.iter_mut().zip(&columns[*property]) {
                *passes &= compared(*cell, *operator, other) == Some(true);
            }
            return Ok(());
        }
        for (at, passes) in passes.iter_mut().enumerate() {
            if *passes {
                *passes = self.evaluate(columns, at)?.truth()? == Some(true);
            }
        }
        Ok(())
    }
}

/// A chain of comparisons.
fn comparisons<'c>(
    first: &'c CellOperator,
    rest: &'c [(CompareOp, CellOperator)],
    columns: Columns<'_, 'c>,
    at: usize,
) -> Decided<Cell<'c>> {
    let mut left = first.evaluate(columns, at)?;
    let mut result = Some(true);
    for (operator, right) in rest {
        let right = right.evaluate(columns, at)?;
        match compared(left, *operator, right) {
            Some(true) => {}
            Some(false) => return Ok(Cell::Bool(false)),
            None => result = None,
        }
        left = right;
    }
    Ok(of_truth(result))
}

/// The parts of `CASE`.
type Choice<'c> = (Option<&'c CellOperator>, &'c [(CellOperator, CellOperator)], &'c CellOperator);

/// The value of the branch that is chosen.
fn chosen<'c>(
    (subject, branches, otherwise): Choice<'c>,
    columns: Columns<'_, 'c>,
    at: usize,
) -> Decided<Cell<'c>> {
    let subject = match subject {
        Some(it) => Some(it.evaluate(columns, at)?),
        None => None,
    };
    for (when, then) in branches {
        let when = when.evaluate(columns, at)?;
        let is_chosen = match subject {
            None => when.truth()? == Some(true),
            Some(subject) => subject.equals(when) == Some(true),
        };
        if is_chosen {
            return then.evaluate(columns, at);
        }
    }
    otherwise.evaluate(columns, at)
}

#[inline]
fn of_truth<'c>(truth: Option<bool>) -> Cell<'c> {
    truth.map_or(Cell::Null, Cell::Bool)
}

#[inline]
fn compared(left: Cell<'_>, operator: CompareOp, right: Cell<'_>) -> Option<bool> {
    match operator {
        CompareOp::Equal => left.equals(right),
        CompareOp::Unequal => left.equals(right).map(|it| !it),
        CompareOp::Less => left.compares(Comparison::Less, right),
        CompareOp::LessEqual => left.compares(Comparison::LessOrEqual, right),
        CompareOp::Greater => left.compares(Comparison::Greater, right),
        CompareOp::GreaterEqual => left.compares(Comparison::GreaterOrEqual, right),
    }
}

/// An integer beyond 64 bits and a division by zero are errors, which rows describe.
fn arithmetic<'c>(left: Cell<'c>, operator: ArithmeticOp, right: Cell<'c>) -> Decided<Cell<'c>> {
    let (one, other) = match (left, right) {
        (Cell::Null, _) | (_, Cell::Null) => return Ok(Cell::Null),
        (Cell::Int(one), Cell::Int(other)) => {
            let result = match operator {
                ArithmeticOp::Add => one.checked_add(other),
                ArithmeticOp::Subtract => one.checked_sub(other),
                ArithmeticOp::Multiply => one.checked_mul(other),
                ArithmeticOp::Divide => one.checked_div(other),
                ArithmeticOp::Modulo | ArithmeticOp::Power | ArithmeticOp::Concatenate => None,
            };
            return result.map(Cell::Int).ok_or(Undecided);
        }
        (Cell::Float(one), Cell::Float(other)) => (one, other),
        (Cell::Int(one), Cell::Float(other)) => (one as f64, other),
        (Cell::Float(one), Cell::Int(other)) => (one, other as f64),
        _ => return Err(Undecided),
    };
    Ok(Cell::Float(match operator {
        ArithmeticOp::Add => one + other,
        ArithmeticOp::Subtract => one - other,
        ArithmeticOp::Multiply => one * other,
        ArithmeticOp::Divide => one / other,
        ArithmeticOp::Modulo | ArithmeticOp::Power | ArithmeticOp::Concatenate => {
            return Err(Undecided);
        }
    }))
}

/// Null where one of the two is no string.
fn text_test(text: Cell<'_>, test: TextTest, part: Cell<'_>) -> Option<bool> {
    let (Cell::Text(text), Cell::Text(part)) = (text, part) else { return None };
    Some(match test {
        TextTest::StartsWith => text.starts_with(part),
        TextTest::EndsWith => text.ends_with(part),
        TextTest::Contains => text.contains(part),
    })
}
