//! Operators of `math(...)` over whole columns of plain numbers.
//!
//! They give what the operators on single values give, or nothing where one node has no result:
//! then the expression is computed node by node.

use super::sums::clamp;
use crate::exec::control::tree::{Column, ValueMap};
use hexgraph_base::plan::MathFunction;
use hexgraph_base::types::Value;

/// The numbers of an operand: a column, or one number for all.
#[derive(Clone, Copy)]
enum Numbers<'a, T> {
    Column(&'a [T]),
    Constant(T),
}

impl<T: Copy> Numbers<'_, T> {
    fn at(&self, place: usize) -> T {
        match self {
            Numbers::Column(numbers) => numbers[place],
            Numbers::Constant(number) => *number,
        }
    }
}

/// An operator on the numbers of one operand; `None` where a node has no result, or the numbers
/// are no floats.
pub(crate) fn unary(function: MathFunction, operand: &ValueMap) -> Option<ValueMap> {
    let numbers = floats_of(&operand.values)?;
    let number = |number: &f64| match function {
        MathFunction::Negate if matches!(operand.values, Column::Float(_)) => Some(-number),
        MathFunction::Exp => Some(clamp(number.exp())),
        MathFunction::Ln => (0.0 <= *number).then(|| clamp(number.ln())),
        MathFunction::Sqrt => (0.0 <= *number).then(|| clamp(number.sqrt())),
        _ => None,
    };
    let found = numbers.iter().map(number).collect::<Option<Vec<f64>>>()?;
    Some(with_values(operand, Column::Float(found)))
}

/// An operator on the numbers of two operands that have the same nodes, or of which one is a
/// constant; `None` otherwise, and where a node has no result.
pub(crate) fn binary(function: MathFunction, one: &ValueMap, other: &ValueMap) -> Option<ValueMap> {
    let nodes = match (&one.constant, &other.constant) {
        (None, Some(_)) => one,
        (Some(_), None) => other,
        (None, None) if one.nodes == other.nodes => one,
        _ => return None,
    };
    let len = nodes.nodes.len();
    if let (Some(one), Some(other)) = (ints(one), ints(other)) {
        let operator = int_operator(function)?;
        let results = (0..len).map(|place| operator(one.at(place), other.at(place)));
        let found = results.collect::<Option<Vec<i64>>>()?;
        return Some(with_values(nodes, Column::Int(found)));
    }
    let (one_column, other_column) = (floats_of(&one.values), floats_of(&other.values));
    let one = floats(one, one_column.as_deref())?;
    let other = floats(other, other_column.as_deref())?;
    let operator = float_operator(function)?;
    let results = (0..len).map(|place| operator(one.at(place), other.at(place)).map(clamp));
    let found = results.collect::<Option<Vec<f64>>>()?;
    Some(with_values(nodes, Column::Float(found)))
}

fn with_values(operand: &ValueMap, values: Column) -> ValueMap {
    ValueMap { nodes: operand.nodes.clone(), values, constant: None }
}

fn ints(operand: &ValueMap) -> Option<Numbers<'_, i64>> {
    match (&operand.constant, &operand.values) {
        (Some(Value::Int(number)), _) => Some(Numbers::Constant(*number)),
        (None, Column::Int(numbers)) => Some(Numbers::Column(numbers)),
        _ => None,
    }
}

fn floats<'a>(operand: &ValueMap, column: Option<&'a [f64]>) -> Option<Numbers<'a, f64>> {
    match &operand.constant {
        Some(Value::Int(number)) => Some(Numbers::Constant(*number as f64)),
        Some(Value::Float(number)) => Some(Numbers::Constant(*number)),
        Some(_) => None,
        None => column.map(Numbers::Column),
    }
}

fn floats_of(column: &Column) -> Option<std::borrow::Cow<'_, [f64]>> {
    match column {
        Column::Float(numbers) => Some(numbers.into()),
        Column::Int(numbers) => {
            Some(numbers.iter().map(|number| *number as f64).collect::<Vec<_>>().into())
        }
        Column::Any(_) => None,
    }
}

fn int_operator(function: MathFunction) -> Option<fn(i64, i64) -> Option<i64>> {
    Some(match function {
        MathFunction::Add => i64::checked_add,
        MathFunction::Subtract => i64::checked_sub,
        MathFunction::Multiply => i64::checked_mul,
        MathFunction::Divide => i64::checked_div,
        // Wrapping: the least int divided by -1 leaves 0, though the quotient is no int.
        MathFunction::Modulo => |one, other| (other != 0).then(|| one.wrapping_rem(other)),
        MathFunction::Max => |one, other| Some(one.max(other)),
        MathFunction::Min => |one, other| Some(one.min(other)),
        _ => return None,
    })
}

fn float_operator(function: MathFunction) -> Option<fn(f64, f64) -> Option<f64>> {
    Some(match function {
        MathFunction::Add => |one, other| Some(one + other),
        MathFunction::Subtract => |one, other| Some(one - other),
        MathFunction::Multiply => |one, other| Some(one * other),
        MathFunction::Divide => |one, other| (other != 0.0).then(|| one / other),
        MathFunction::Modulo => |one, other| (other != 0.0).then(|| one % other),
        MathFunction::Max => |one, other| Some(one.max(other)),
        MathFunction::Min => |one, other| Some(one.min(other)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(values: Column) -> ValueMap {
        let nodes = (1..=values.len() as u32).collect();
        ValueMap { nodes, values, constant: None }
    }

    #[test]
    fn columns_are_computed_whole_or_not_at_all() {
        let ints = map(Column::Int(vec![7, -2]));
        let floats = map(Column::Float(vec![0.5, 0.0]));
        let two = ValueMap::constant(Value::Int(2));
        let sum = binary(MathFunction::Add, &ints, &two).unwrap().values;
        assert!(matches!(sum, Column::Int(numbers) if numbers == [9, 0]));
        let product = binary(MathFunction::Multiply, &ints, &floats).unwrap().values;
        assert!(matches!(product, Column::Float(numbers) if numbers == [3.5, -0.0]));
        assert!(binary(MathFunction::Divide, &ints, &floats).is_none(), "by zero");
        let large = ValueMap::constant(Value::Int(i64::MAX));
        assert!(binary(MathFunction::Add, &ints, &large).is_none(), "overflows");
        assert!(binary(MathFunction::Pow, &ints, &two).is_none(), "is left to single values");
        assert!(unary(MathFunction::Sqrt, &ints).is_none(), "of a negative number");
        assert!(unary(MathFunction::Sqrt, &floats).is_some());
        assert!(unary(MathFunction::Floor, &ints).is_none(), "keeps ints");
        let fewer = map(Column::Int(vec![7]));
        assert!(binary(MathFunction::Add, &ints, &fewer).is_none(), "other nodes");
    }
}
