//! Comparisons and other tests of vectors.

use super::bits::{Bits, Truths, both_valid};
use super::cell::Cell;
use super::set::CellSet;
use super::vector::{TypedCells, Vector};
use crate::ast::CompareOp;
use hexgraph_base::types::DateTime;
use hexgraph_scalar::{Comparison, TextTest};

/// The largest int up to which every int is a float.
const EXACT_MAX: i64 = 1 << 53;

/// A constant list of so many items of one type is compared item by item.
const ITEMS_MAX: usize = 8;

/// Compares the values of each node.
pub(in crate::execute::cells) fn compared(
    left: &Vector<'_>,
    operator: CompareOp,
    right: &Vector<'_>,
) -> Truths {
    let typed = match (left, right) {
        (Vector::Constant(..), Vector::Constant(..)) => None,
        (_, Vector::Constant(cell, _)) => with_constant(left, operator, *cell),
        (Vector::Constant(cell, _), _) => with_constant(right, reversed(operator), *cell),
        (Vector::Ints(one), Vector::Ints(other)) => Some(pairs(one, operator, other, |it| *it)),
        (Vector::Floats(one), Vector::Floats(other)) => Some(pairs(one, operator, other, |it| *it)),
        (Vector::Texts(one), Vector::Texts(other)) => Some(pairs(one, operator, other, |it| *it)),
        (Vector::Times(one), Vector::Times(other)) => Some(pairs(one, operator, other, instant_of)),
        _ => None,
    };
    typed.unwrap_or_else(|| {
        Truths::each(left.len(), |at| compared_cells(left.cell(at), operator, right.cell(at)))
    })
}

/// Compares the values of all nodes with one value of their type.
fn with_constant(vector: &Vector<'_>, operator: CompareOp, cell: Cell<'_>) -> Option<Truths> {
    match (vector, cell) {
        (_, Cell::Null) => Some(Truths::all(vector.len(), None)),
        (Vector::Ints(ints), Cell::Int(number)) => Some(each(ints, operator, number, |it| *it)),
        (Vector::Ints(ints), Cell::Float(number)) => {
            let int = number as i64;
            let is_int = int.abs() <= EXACT_MAX && int as f64 == number;
            is_int.then(|| each(ints, operator, int, |it| *it))
        }
        (Vector::Floats(floats), Cell::Float(number)) => {
            Some(each(floats, operator, number, |it| *it))
        }
        (Vector::Floats(floats), Cell::Int(number)) => {
            let is_exact = number.unsigned_abs() <= EXACT_MAX.unsigned_abs();
            is_exact.then(|| each(floats, operator, number as f64, |it| *it))
        }
        (Vector::Texts(texts), Cell::Text(text)) => Some(each(texts, operator, text, |it| *it)),
        (Vector::Times(times), Cell::Time(time)) => {
            Some(each(times, operator, instant_of(&time), instant_of))
        }
        _ => None,
    }
}

/// What the order of instants is that of.
fn instant_of(time: &DateTime) -> (i64, u32) {
    (time.seconds, time.nanos)
}

/// Each operator has a loop of its own.
fn each<T: Copy, K: PartialOrd + Copy>(
    cells: &TypedCells<T>,
    operator: CompareOp,
    other: K,
    key: impl Fn(&T) -> K,
) -> Truths {
    let values = &cells.values;
    let holds = match operator {
        CompareOp::Equal => Bits::of(values, |it| key(it) == other),
        CompareOp::Unequal => Bits::of(values, |it| key(it) != other),
        CompareOp::Less => Bits::of(values, |it| key(it) < other),
        CompareOp::LessEqual => Bits::of(values, |it| key(it) <= other),
        CompareOp::Greater => Bits::of(values, |it| key(it) > other),
        CompareOp::GreaterEqual => Bits::of(values, |it| key(it) >= other),
    };
    Truths::new(holds, cells.valid.clone())
}

fn pairs<T: Copy, K: PartialOrd>(
    one: &TypedCells<T>,
    operator: CompareOp,
    other: &TypedCells<T>,
    key: impl Fn(&T) -> K,
) -> Truths {
    let (left, right) = (&one.values, &other.values);
    let holds = match operator {
        CompareOp::Equal => Bits::of_pairs(left, right, |one, other| key(one) == key(other)),
        CompareOp::Unequal => Bits::of_pairs(left, right, |one, other| key(one) != key(other)),
        CompareOp::Less => Bits::of_pairs(left, right, |one, other| key(one) < key(other)),
        CompareOp::LessEqual => Bits::of_pairs(left, right, |one, other| key(one) <= key(other)),
        CompareOp::Greater => Bits::of_pairs(left, right, |one, other| key(one) > key(other)),
        CompareOp::GreaterEqual => Bits::of_pairs(left, right, |one, other| key(one) >= key(other)),
    };
    Truths::new(holds, both_valid(&one.valid, &other.valid))
}

/// The operator of the same comparison from right to left.
fn reversed(operator: CompareOp) -> CompareOp {
    match operator {
        CompareOp::Equal => CompareOp::Equal,
        CompareOp::Unequal => CompareOp::Unequal,
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessEqual => CompareOp::GreaterEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterEqual => CompareOp::LessEqual,
    }
}

fn compared_cells(left: Cell<'_>, operator: CompareOp, right: Cell<'_>) -> Option<bool> {
    match operator {
        CompareOp::Equal => left.equals(right),
        CompareOp::Unequal => left.equals(right).map(|it| !it),
        CompareOp::Less => left.compares(Comparison::Less, right),
        CompareOp::LessEqual => left.compares(Comparison::LessOrEqual, right),
        CompareOp::Greater => left.compares(Comparison::Greater, right),
        CompareOp::GreaterEqual => left.compares(Comparison::GreaterOrEqual, right),
    }
}

/// Null where one of the two is no string.
pub(in crate::execute::cells) fn tested(
    text: &Vector<'_>,
    test: TextTest,
    part: &Vector<'_>,
) -> Truths {
    if let (Vector::Texts(texts), Vector::Constant(Cell::Text(part), _)) = (text, part) {
        let holds = match test {
            TextTest::StartsWith => Bits::of(&texts.values, |it| it.starts_with(part)),
            TextTest::EndsWith => Bits::of(&texts.values, |it| it.ends_with(part)),
            TextTest::Contains => Bits::of(&texts.values, |it| it.contains(part)),
        };
        return Truths::new(holds, texts.valid.clone());
    }
    Truths::each(text.len(), |at| {
        let (Cell::Text(text), Cell::Text(part)) = (text.cell(at), part.cell(at)) else {
            return None;
        };
        Some(match test {
            TextTest::StartsWith => text.starts_with(part),
            TextTest::EndsWith => text.ends_with(part),
            TextTest::Contains => text.contains(part),
        })
    })
}

/// `IN` a list of constants.
pub(in crate::execute::cells) fn contained(item: &Vector<'_>, set: &CellSet) -> Truths {
    let holds = match item {
        Vector::Ints(ints) => set
            .only_ints()
            .filter(|it| it.len() <= ITEMS_MAX)
            .map(|items| (Bits::of(&ints.values, |it| items.contains(it)), ints.valid.clone())),
        Vector::Texts(texts) => set
            .texts()
            .filter(|it| it.len() <= ITEMS_MAX)
            .map(|items| (Bits::of(&texts.values, |it| items.contains(it)), texts.valid.clone())),
        _ => None,
    };
    match holds {
        Some((holds, valid)) if set.has_null() => Truths::new(holds, valid).or_null(),
        Some((holds, valid)) => Truths::new(holds, valid),
        None => Truths::each(item.len(), |at| set.contains(item.cell(at))),
    }
}

/// Whether values are null, or with false whether they are not.
pub(in crate::execute::cells) fn is_null(vector: &Vector<'_>, is_null: bool) -> Truths {
    let valid = vector.valid().unwrap_or_else(|| Bits::all(vector.len(), true));
    Truths::new(if is_null { valid.not() } else { valid }, None)
}
