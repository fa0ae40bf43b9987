//! Arithmetic of vectors. An integer beyond 64 bits and a division by zero are errors, which rows
//! describe.

use super::bits::{both_valid, is_valid};
use super::cell::{Cell, Decided, Undecided};
use super::vector::{TypedCells, Vector};
use crate::ast::ArithmeticOp;
use std::borrow::Cow;

/// The numbers of one type of an operand.
enum Operand<'v, T: Clone> {
    One(T),
    Each(Cow<'v, [T]>),
}

impl<T: Copy> Operand<'_, T> {
    #[inline]
    fn get(&self, at: usize) -> T {
        match self {
            Operand::One(number) => *number,
            Operand::Each(numbers) => numbers[at],
        }
    }
}

/// The results for all nodes.
pub(in crate::execute::cells) fn calculated<'c>(
    left: &Vector<'c>,
    operator: ArithmeticOp,
    right: &Vector<'c>,
) -> Decided<Vector<'c>> {
    let len = left.len();
    if let (Vector::Constant(one, _), Vector::Constant(other, _)) = (left, right) {
        return Ok(Vector::Constant(of_cells(*one, operator, *other)?, len));
    }
    if let (Some(one), Some(other)) = (ints(left), ints(right)) {
        let valid = both_valid(&left.valid(), &right.valid());
        let mut values = Vec::with_capacity(len);
        for at in 0..len {
            match int_of(one.get(at), operator, other.get(at)) {
                Some(number) => values.push(number),
                None if is_valid(&valid, at) => return Err(Undecided::Rows),
                None => values.push(0),
            }
        }
        return Ok(Vector::Ints(TypedCells { values, valid }));
    }
    if let (Some(one), Some(other)) = (floats(left), floats(right)) {
        let valid = both_valid(&left.valid(), &right.valid());
        let values = match operator {
            ArithmeticOp::Add => of_pairs(len, &one, &other, |one, other| one + other),
            ArithmeticOp::Subtract => of_pairs(len, &one, &other, |one, other| one - other),
            ArithmeticOp::Multiply => of_pairs(len, &one, &other, |one, other| one * other),
            ArithmeticOp::Divide => of_pairs(len, &one, &other, |one, other| one / other),
            ArithmeticOp::Modulo => of_pairs(len, &one, &other, |one, other| one % other),
            ArithmeticOp::Power | ArithmeticOp::Concatenate => return Err(Undecided::Rows),
        };
        return Ok(Vector::Floats(TypedCells { values, valid }));
    }
    let cells = (0..len).map(|at| of_cells(left.cell(at), operator, right.cell(at)));
    Ok(Vector::of_cells(cells.collect::<Decided<_>>()?))
}

/// Each kind of operands has a loop of its own.
fn of_pairs(
    len: usize,
    one: &Operand<'_, f64>,
    other: &Operand<'_, f64>,
    result: impl Fn(f64, f64) -> f64,
) -> Vec<f64> {
    match (one, other) {
        (Operand::Each(one), Operand::Each(other)) => {
            one.iter().zip(&**other).map(|(one, other)| result(*one, *other)).collect()
        }
        (Operand::Each(one), Operand::One(other)) => {
            one.iter().map(|one| result(*one, *other)).collect()
        }
        (Operand::One(one), Operand::Each(other)) => {
            other.iter().map(|other| result(*one, *other)).collect()
        }
        (Operand::One(one), Operand::One(other)) => vec![result(*one, *other); len],
    }
}

fn ints<'v>(vector: &'v Vector<'_>) -> Option<Operand<'v, i64>> {
    match vector {
        Vector::Constant(Cell::Int(number), _) => Some(Operand::One(*number)),
        Vector::Ints(ints) => Some(Operand::Each(Cow::Borrowed(&ints.values))),
        _ => None,
    }
}

fn floats<'v>(vector: &'v Vector<'_>) -> Option<Operand<'v, f64>> {
    match vector {
        Vector::Constant(Cell::Int(number), _) => Some(Operand::One(*number as f64)),
        Vector::Constant(Cell::Float(number), _) => Some(Operand::One(*number)),
        Vector::Ints(ints) => {
            Some(Operand::Each(ints.values.iter().map(|number| *number as f64).collect()))
        }
        Vector::Floats(floats) => Some(Operand::Each(Cow::Borrowed(&floats.values))),
        _ => None,
    }
}

#[inline]
fn int_of(one: i64, operator: ArithmeticOp, other: i64) -> Option<i64> {
    match operator {
        ArithmeticOp::Add => one.checked_add(other),
        ArithmeticOp::Subtract => one.checked_sub(other),
        ArithmeticOp::Multiply => one.checked_mul(other),
        ArithmeticOp::Divide => one.checked_div(other),
        ArithmeticOp::Modulo => one.checked_rem(other),
        ArithmeticOp::Power | ArithmeticOp::Concatenate => None,
    }
}

fn of_cells<'c>(left: Cell<'c>, operator: ArithmeticOp, right: Cell<'c>) -> Decided<Cell<'c>> {
    let (one, other) = match (left, right) {
        (Cell::Null, _) | (_, Cell::Null) => return Ok(Cell::Null),
        (Cell::Int(one), Cell::Int(other)) => {
            return int_of(one, operator, other).map(Cell::Int).ok_or(Undecided::Rows);
        }
        (Cell::Float(one), Cell::Float(other)) => (one, other),
        (Cell::Int(one), Cell::Float(other)) => (one as f64, other),
        (Cell::Float(one), Cell::Int(other)) => (one, other as f64),
        _ => return Err(Undecided::Rows),
    };
    Ok(Cell::Float(match operator {
        ArithmeticOp::Add => one + other,
        ArithmeticOp::Subtract => one - other,
        ArithmeticOp::Multiply => one * other,
        ArithmeticOp::Divide => one / other,
        ArithmeticOp::Modulo => one % other,
        ArithmeticOp::Power | ArithmeticOp::Concatenate => return Err(Undecided::Rows),
    }))
}

/// The numbers with the other sign.
pub(in crate::execute::cells) fn negative<'c>(vector: &Vector<'c>) -> Decided<Vector<'c>> {
    if let Vector::Floats(TypedCells { values, valid }) = vector {
        let values = values.iter().map(|number| -number).collect();
        return Ok(Vector::Floats(TypedCells { values, valid: valid.clone() }));
    }
    let cell = |at| match vector.cell(at) {
        Cell::Null => Ok(Cell::Null),
        Cell::Int(number) => number.checked_neg().map(Cell::Int).ok_or(Undecided::Rows),
        Cell::Float(number) => Ok(Cell::Float(-number)),
        Cell::Bool(_) | Cell::Text(_) | Cell::Time(_) => Err(Undecided::Rows),
    };
    Ok(Vector::of_cells((0..vector.len()).map(cell).collect::<Decided<_>>()?))
}
