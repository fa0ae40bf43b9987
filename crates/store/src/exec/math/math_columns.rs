//! Operators of `math(...)` over entire columns of plain numbers.
//!
//! They give what the operators on single values give: a node without a result (a division by zero,
//! the root of a negative number) is left out. Nothing where an int leaves 64 bits, which is an
//! error: then the expression is computed node by node.

use super::sums::clamp;
use crate::exec::control::tree::{Column, ValueMap};
use crate::storage::vectorized;
use hexgraph_base::plan::MathFunction;
use hexgraph_base::types::Value;

/// An operator on two numbers whose result is an int where both are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    /// The remainder, with the sign of the dividend.
    Modulo,
    Max,
    Min,
}

impl Arithmetic {
    /// Returns the operator that a function is; `None` for functions of one or three operands,
    /// comparisons, and those whose result is always a float.
    pub(super) fn of(function: MathFunction) -> Option<Arithmetic> {
        match function {
            MathFunction::Add => Some(Arithmetic::Add),
            MathFunction::Subtract => Some(Arithmetic::Subtract),
            MathFunction::Multiply => Some(Arithmetic::Multiply),
            MathFunction::Divide => Some(Arithmetic::Divide),
            MathFunction::Modulo => Some(Arithmetic::Modulo),
            MathFunction::Max => Some(Arithmetic::Max),
            MathFunction::Min => Some(Arithmetic::Min),
            MathFunction::Negate
            | MathFunction::Floor
            | MathFunction::Ceil
            | MathFunction::Since
            | MathFunction::Exp
            | MathFunction::Ln
            | MathFunction::Sqrt
            | MathFunction::Cond
            | MathFunction::Pow
            | MathFunction::LogBase
            | MathFunction::Dot
            | MathFunction::Less
            | MathFunction::Greater
            | MathFunction::LessEqual
            | MathFunction::GreaterEqual
            | MathFunction::Equal
            | MathFunction::NotEqual => None,
        }
    }

    /// True for the operators that have no result where the second number is 0.
    pub(super) fn divides(self) -> bool {
        matches!(self, Arithmetic::Divide | Arithmetic::Modulo)
    }
}

/// The numbers of an operand: a column, or one number for all.
#[derive(Clone, Copy)]
pub(super) enum OperandValues<'a, T> {
    /// One for each node.
    Column(&'a [T]),
    /// One for all nodes.
    Constant(T),
}

/// An operator on the numbers of one operand; `None` where columns don't have it, or the numbers
/// are no floats.
pub(crate) fn unary(function: MathFunction, operand: &ValueMap) -> Option<ValueMap> {
    let are_floats = matches!(function, MathFunction::Exp | MathFunction::Ln | MathFunction::Sqrt)
        || function == MathFunction::Negate && matches!(operand.values, Column::Float(_));
    if !are_floats {
        return None;
    }
    let numbers = floats_of(&operand.values)?;
    let results = numbers.iter().map(|number| float_result(function, *number));
    if let Some(all) = results.clone().collect::<Option<Vec<f64>>>() {
        return Some(with_values(operand, Column::Float(all)));
    }
    let (nodes, some) = retained(&operand.nodes, results);
    Some(ValueMap { nodes, values: Column::Float(some), constant: None })
}

/// The nodes that have a result, and their results. O(nodes).
fn retained<T>(nodes: &[u32], results: impl Iterator<Item = Option<T>>) -> (Vec<u32>, Vec<T>) {
    nodes.iter().zip(results).filter_map(|(node, result)| Some((*node, result?))).unzip()
}

/// The result of an operator on one float; `None` where it has none, and for operators that columns
/// don't have.
pub(super) fn float_result(function: MathFunction, number: f64) -> Option<f64> {
    match function {
        MathFunction::Negate => Some(-number),
        MathFunction::Exp => Some(clamp(number.exp())),
        MathFunction::Ln => (0.0 <= number).then(|| clamp(number.ln())),
        MathFunction::Sqrt => (0.0 <= number).then(|| clamp(number.sqrt())),
        _ => None,
    }
}

/// An operator on the numbers of two operands, one of them possibly a constant; `None` where an int
/// leaves 64 bits, and where the results would be ints for some nodes and floats for others. A node
/// that only one operand has counts as 0 in the other; `are_alike` says that there is none. A node
/// whose divisor is 0 is left out: with the results comes whether there is no such node.
pub(crate) fn binary(
    function: MathFunction,
    one: &ValueMap,
    other: &ValueMap,
    are_alike: bool,
) -> Option<(ValueMap, bool)> {
    let op = Arithmetic::of(function)?;
    let united;
    let (one, other) = match (&one.constant, &other.constant) {
        (None, None) if !are_alike => {
            united = unite(one, other)?;
            (&united.0, &united.1)
        }
        (Some(_), Some(_)) => return None,
        (None | Some(_), None) | (None, Some(_)) => (one, other),
    };
    let nodes = if one.constant.is_none() { one } else { other };
    let len = nodes.nodes.len();
    if let (Some(one), Some(other)) = (ints(one), ints(other)) {
        if let Some(all) = int_results(op, one, other, len) {
            return Some((with_values(nodes, Column::Int(all)), true));
        }
        let (nodes, some) = quotients(op, one, other, &nodes.nodes)?;
        return Some((ValueMap { nodes, values: Column::Int(some), constant: None }, false));
    }
    let (one_column, other_column) = (floats_of(&one.values), floats_of(&other.values));
    let one = floats(one, one_column.as_deref())?;
    let other = floats(other, other_column.as_deref())?;
    if let Some(all) = float_results(op, one, other, len) {
        return Some((with_values(nodes, Column::Float(all)), true));
    }
    let (nodes, some) = quotients(op, one, other, &nodes.nodes)?;
    Some((ValueMap { nodes, values: Column::Float(some), constant: None }, false))
}

/// A number that a quotient or a remainder is made of.
pub(super) trait Divisible: Copy {
    /// True for 0, by which nothing is divided.
    fn is_zero(self) -> bool;

    /// The results for all positions, and 0 where the divisor is 0; `None` where one does not fit,
    /// and for operators that are no division.
    fn all_divided(
        op: Arithmetic,
        one: OperandValues<'_, Self>,
        divisors: &[Self],
    ) -> Option<Vec<Self>>;
}

impl Divisible for i64 {
    fn is_zero(self) -> bool {
        self == 0
    }

    fn all_divided(
        op: Arithmetic,
        one: OperandValues<'_, i64>,
        divisors: &[i64],
    ) -> Option<Vec<i64>> {
        let (divisors, len) = (OperandValues::Column(divisors), divisors.len());
        if op == Arithmetic::Divide {
            return each(one, divisors, len, |one, divisor| match divisor {
                0 => (0, false),
                divisor => one.overflowing_div(divisor),
            });
        }
        let rest = |one: i64, divisor: i64| match divisor {
            0 => (0, false),
            divisor => (one.wrapping_rem(divisor), false),
        };
        (op == Arithmetic::Modulo).then(|| each(one, divisors, len, rest))?
    }
}

impl Divisible for f64 {
    fn is_zero(self) -> bool {
        self == 0.0
    }

    fn all_divided(
        op: Arithmetic,
        one: OperandValues<'_, f64>,
        divisors: &[f64],
    ) -> Option<Vec<f64>> {
        let (divisors, len) = (OperandValues::Column(divisors), divisors.len());
        // The quotient by 0 is computed and left out, so that the loop has no branch.
        let chosen = |divisor: f64, result: f64| if divisor == 0.0 { 0.0 } else { clamp(result) };
        if op == Arithmetic::Divide {
            return each(one, divisors, len, |a, b| (chosen(b, a / b), false));
        }
        let rest = |a: f64, b: f64| (chosen(b, a % b), false);
        (op == Arithmetic::Modulo).then(|| each(one, divisors, len, rest))?
    }
}

/// The results of a division for the nodes whose divisor is not 0; `None` for other operators, and
/// where one does not fit. O(nodes).
fn quotients<T: Divisible>(
    op: Arithmetic,
    one: OperandValues<'_, T>,
    other: OperandValues<'_, T>,
    nodes: &[u32],
) -> Option<(Vec<u32>, Vec<T>)> {
    let of_all;
    let divisors = match other {
        OperandValues::Column(divisors) => divisors,
        OperandValues::Constant(divisor) => {
            of_all = vec![divisor; nodes.len()];
            &of_all
        }
    };
    let results = T::all_divided(op, one, divisors)?;
    let results = results.into_iter().zip(divisors);
    Some(retained(nodes, results.map(|(result, divisor)| (!divisor.is_zero()).then_some(result))))
}

/// The numbers of two operands for the nodes of either, with 0 for a node that has none. `None`
/// where a float is missing next to ints: the result of that node would be an int.
fn unite(one: &ValueMap, other: &ValueMap) -> Option<(ValueMap, ValueMap)> {
    let nodes = (one.nodes.as_slice(), other.nodes.as_slice());
    let (nodes, left, right) = match (&one.values, &other.values) {
        (Column::Int(left), Column::Int(right)) => {
            let (nodes, left, right) = merged(nodes, left, right);
            (nodes, Column::Int(left), Column::Int(right))
        }
        (Column::Float(left), Column::Float(right)) => {
            let (nodes, left, right) = merged(nodes, left, right);
            (nodes, Column::Float(left), Column::Float(right))
        }
        (Column::Int(left), Column::Float(right)) => {
            let (nodes, left, right) = merged(nodes, left, right);
            (nodes.len() == other.nodes.len()).then_some(())?;
            (nodes, Column::Int(left), Column::Float(right))
        }
        (Column::Float(left), Column::Int(right)) => {
            let (nodes, left, right) = merged(nodes, left, right);
            (nodes.len() == one.nodes.len()).then_some(())?;
            (nodes, Column::Float(left), Column::Int(right))
        }
        (Column::Any(_), _) | (_, Column::Any(_)) => return None,
    };
    let other = ValueMap { nodes: nodes.clone(), values: right, constant: None };
    Some((ValueMap { nodes, values: left, constant: None }, other))
}

/// The nodes of either of two ascending lists, with the numbers of both; 0 for a node that a list
/// lacks. O(nodes).
fn merged<T: Copy + Default, U: Copy + Default>(
    nodes: (&[u32], &[u32]),
    left: &[T],
    right: &[U],
) -> (Vec<u32>, Vec<T>, Vec<U>) {
    let capacity = nodes.0.len().max(nodes.1.len());
    let (mut all, mut lefts) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
    let mut rights = Vec::with_capacity(capacity);
    let (mut one, mut other) = (0, 0);
    while one < nodes.0.len() || other < nodes.1.len() {
        // An exhausted list is after all nodes of the other.
        let node =
            |list: &[u32], position: usize| list.get(position).map_or(u64::MAX, |&it| it.into());
        let (first, second) = (node(nodes.0, one), node(nodes.1, other));
        all.push(first.min(second) as u32);
        lefts.push(if first <= second { left[one] } else { T::default() });
        rights.push(if second <= first { right[other] } else { U::default() });
        one += usize::from(first <= second);
        other += usize::from(second <= first);
    }
    (all, lefts, rights)
}

fn with_values(operand: &ValueMap, values: Column) -> ValueMap {
    ValueMap { nodes: operand.nodes.clone(), values, constant: None }
}

fn ints(operand: &ValueMap) -> Option<OperandValues<'_, i64>> {
    match (&operand.constant, &operand.values) {
        (Some(Value::Int(number)), _) => Some(OperandValues::Constant(*number)),
        (None, Column::Int(numbers)) => Some(OperandValues::Column(numbers)),
        (Some(_), _) | (None, Column::Float(_) | Column::Any(_)) => None,
    }
}

fn floats<'a>(operand: &ValueMap, column: Option<&'a [f64]>) -> Option<OperandValues<'a, f64>> {
    match &operand.constant {
        Some(Value::Int(number)) => Some(OperandValues::Constant(*number as f64)),
        Some(Value::Float(number)) => Some(OperandValues::Constant(*number)),
        Some(_) => None,
        None => column.map(OperandValues::Column),
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

/// The results of an operator on ints; `None` where one position has none, or one that does not fit
/// 64 bits.
pub(super) fn int_results(
    op: Arithmetic,
    one: OperandValues<'_, i64>,
    other: OperandValues<'_, i64>,
    len: usize,
) -> Option<Vec<i64>> {
    let quotient = |one: i64, other: i64| match one.checked_div(other) {
        Some(quotient) => (quotient, false),
        None => (0, true),
    };
    // Wrapping: the least int divided by -1 leaves 0, though the quotient is no int.
    let rest = |one: i64, other: i64| match other {
        0 => (0, true),
        other => (one.wrapping_rem(other), false),
    };
    match op {
        Arithmetic::Add => each(one, other, len, i64::overflowing_add),
        Arithmetic::Subtract => each(one, other, len, i64::overflowing_sub),
        Arithmetic::Multiply => each(one, other, len, i64::overflowing_mul),
        Arithmetic::Divide => each(one, other, len, quotient),
        Arithmetic::Modulo => each(one, other, len, rest),
        Arithmetic::Max => each(one, other, len, |one, other| (one.max(other), false)),
        Arithmetic::Min => each(one, other, len, |one, other| (one.min(other), false)),
    }
}

/// As [`int_results`] if no result can leave 64 bits: without a test for that, products become
/// vector instructions.
pub(super) fn bounded_int_results(
    op: Arithmetic,
    one: OperandValues<'_, i64>,
    other: OperandValues<'_, i64>,
    len: usize,
) -> Option<Vec<i64>> {
    fn fitting(operator: impl Fn(i64, i64) -> (i64, bool)) -> impl Fn(i64, i64) -> (i64, bool) {
        move |one, other| {
            let (result, overflows) = operator(one, other);
            debug_assert!(!overflows, "{one} and {other}");
            (result, false)
        }
    }
    match op {
        Arithmetic::Add => each(one, other, len, fitting(i64::overflowing_add)),
        Arithmetic::Subtract => each(one, other, len, fitting(i64::overflowing_sub)),
        Arithmetic::Multiply => each(one, other, len, fitting(i64::overflowing_mul)),
        Arithmetic::Divide | Arithmetic::Modulo | Arithmetic::Max | Arithmetic::Min => {
            int_results(op, one, other, len)
        }
    }
}

/// As [`int_results`], of floats. What overflows is the greatest float.
pub(super) fn float_results(
    op: Arithmetic,
    one: OperandValues<'_, f64>,
    other: OperandValues<'_, f64>,
    len: usize,
) -> Option<Vec<f64>> {
    match op {
        Arithmetic::Add => each(one, other, len, |one, other| (clamp(one + other), false)),
        Arithmetic::Subtract => each(one, other, len, |one, other| (clamp(one - other), false)),
        Arithmetic::Multiply => each(one, other, len, |one, other| (clamp(one * other), false)),
        Arithmetic::Divide => each(one, other, len, |a, b| (clamp(a / b), b == 0.0)),
        Arithmetic::Modulo => each(one, other, len, |a, b| (clamp(a % b), b == 0.0)),
        Arithmetic::Max => each(one, other, len, |one, other| (clamp(one.max(other)), false)),
        Arithmetic::Min => each(one, other, len, |one, other| (clamp(one.min(other)), false)),
    }
}

/// The results for all positions; `None` where the operator says of one that it has none. A loop of
/// its own for each operator, which goes to the end in any case, so that the compiler makes vector
/// instructions of it.
fn each<T: Copy>(
    one: OperandValues<'_, T>,
    other: OperandValues<'_, T>,
    len: usize,
    operator: impl Fn(T, T) -> (T, bool),
) -> Option<Vec<T>> {
    let mut has_failed = false;
    let mut noted = |(result, fails): (T, bool)| {
        has_failed |= fails;
        result
    };
    let results: Vec<T> = vectorized(|| match (one, other) {
        (OperandValues::Column(one), OperandValues::Column(other)) => {
            one.iter().zip(other).map(|(one, other)| noted(operator(*one, *other))).collect()
        }
        (OperandValues::Column(one), OperandValues::Constant(other)) => {
            one.iter().map(|one| noted(operator(*one, other))).collect()
        }
        (OperandValues::Constant(one), OperandValues::Column(other)) => {
            other.iter().map(|other| noted(operator(one, *other))).collect()
        }
        (OperandValues::Constant(one), OperandValues::Constant(other)) => {
            vec![noted(operator(one, other)); len]
        }
    });
    (!has_failed).then_some(results)
}

#[cfg(test)]
mod tests {
    use super::{Column, MathFunction, Value, ValueMap, unary};

    fn map(values: Column) -> ValueMap {
        let nodes = (1..=values.len() as u32).collect();
        ValueMap { nodes, values, constant: None }
    }

    fn binary(function: MathFunction, one: &ValueMap, other: &ValueMap) -> Option<ValueMap> {
        let is_constant = one.constant.is_some() || other.constant.is_some();
        let are_alike = is_constant || one.nodes == other.nodes;
        super::binary(function, one, other, are_alike).map(|(result, _)| result)
    }

    #[test]
    fn columns_are_computed_without_nodes_that_have_no_result() {
        let ints = map(Column::Int(vec![7, -2]));
        let floats = map(Column::Float(vec![0.5, 0.0]));
        let two = ValueMap::constant(Value::Int(2));
        let sum = binary(MathFunction::Add, &ints, &two).unwrap().values;
        assert!(matches!(sum, Column::Int(numbers) if numbers == [9, 0]));
        let product = binary(MathFunction::Multiply, &ints, &floats).unwrap().values;
        assert!(matches!(product, Column::Float(numbers) if numbers == [3.5, -0.0]));
        let quotient = binary(MathFunction::Divide, &ints, &floats).unwrap();
        assert_eq!(quotient.nodes, [1], "the other one is divided by zero");
        assert!(matches!(quotient.values, Column::Float(numbers) if numbers == [14.0]));
        let large = ValueMap::constant(Value::Int(i64::MAX));
        assert!(binary(MathFunction::Add, &ints, &large).is_none(), "overflows");
        assert!(binary(MathFunction::Pow, &ints, &two).is_none(), "is left to single values");
        let root = unary(MathFunction::Sqrt, &ints).unwrap();
        assert_eq!(root.nodes, [1], "the other one is negative");
        assert!(matches!(root.values, Column::Float(numbers) if numbers == [7_f64.sqrt()]));
        let least = map(Column::Int(vec![i64::MIN, 4]));
        let divisors = map(Column::Int(vec![-1, 0]));
        assert!(binary(MathFunction::Divide, &least, &divisors).is_none(), "does not fit");
        let rests = binary(MathFunction::Modulo, &least, &divisors).unwrap();
        assert!(matches!(rests.values, Column::Int(numbers) if numbers == [0]));
        assert!(unary(MathFunction::Sqrt, &floats).is_some());
        assert!(unary(MathFunction::Floor, &ints).is_none(), "keeps ints");
    }

    /// A node that one operand lacks counts as 0 there, as where operators work on single values.
    #[test]
    fn columns_of_other_nodes_are_united() {
        let of = |nodes: &[u32], values| ValueMap { nodes: nodes.to_vec(), values, constant: None };
        let ints = of(&[1, 3], Column::Int(vec![7, -2]));
        let more = of(&[2, 3, 9], Column::Int(vec![5, 1, 4]));
        let sum = binary(MathFunction::Add, &ints, &more).unwrap();
        assert_eq!(sum.nodes, [1, 2, 3, 9]);
        assert!(matches!(sum.values, Column::Int(numbers) if numbers == [7, 5, -1, 4]));
        let quotient = binary(MathFunction::Divide, &ints, &more).unwrap();
        assert_eq!(quotient.nodes, [2, 3, 9], "node 1 is divided by zero");
        let floats = of(&[1, 2, 3], Column::Float(vec![0.5, 0.25, 2.0]));
        let difference = binary(MathFunction::Subtract, &ints, &floats).unwrap();
        assert_eq!(difference.nodes, [1, 2, 3]);
        assert!(matches!(difference.values, Column::Float(it) if it == [6.5, -0.25, -4.0]));
        assert!(binary(MathFunction::Add, &more, &floats).is_none(), "node 9 has an int");
        assert!(binary(MathFunction::Less, &ints, &more).is_none(), "compares");
    }
}
