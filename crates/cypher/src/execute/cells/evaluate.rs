//! The values of an operator for the nodes of a chunk.

use super::arithmetic::{calculated, negative};
use super::bits::Truths;
use super::cell::{Cell, Decided, Undecided};
use super::chunk::Chunk;
use super::compare::{compared, contained, is_null, tested};
use super::compile::CellOperator;
use super::vector::Vector;
use crate::ast::CompareOp;
use std::rc::Rc;

impl CellOperator {
    /// Evaluates it for all nodes of a chunk.
    pub(super) fn evaluate<'c>(&'c self, chunk: &Chunk<'_, 'c>) -> Decided<Rc<Vector<'c>>> {
        Ok(Rc::new(match self {
            CellOperator::Constant(value) => {
                Vector::Constant(Cell::of(value).ok_or(Undecided::Rows)?, chunk.len())
            }
            CellOperator::Property(property) => return chunk.column(*property),
            CellOperator::Arithmetic(first, rest) => {
                let mut left = first.evaluate(chunk)?;
                for (operator, right) in rest {
                    left = Rc::new(calculated(&left, *operator, &*right.evaluate(chunk)?)?);
                }
                return Ok(left);
            }
            CellOperator::Negative(inside) => negative(&*inside.evaluate(chunk)?)?,
            CellOperator::Node(test) => test.evaluate(chunk)?,
            CellOperator::Component(time, name) => {
                let times = time.evaluate(chunk)?;
                let cells = (0..chunk.len()).map(|at| times.cell(at).component(name));
                Vector::of_cells(cells.collect::<Decided<_>>()?)
            }
            CellOperator::Case { subject, branches, otherwise } => {
                chosen((subject.as_deref(), branches, otherwise), chunk)?
            }
            CellOperator::And(_)
            | CellOperator::Or(_)
            | CellOperator::Not(_)
            | CellOperator::Compare(..)
            | CellOperator::Text(..)
            | CellOperator::In(..)
            | CellOperator::IsNull(..) => Vector::Bools(self.truths(chunk)?),
        }))
    }

    /// Evaluates a condition for all nodes of a chunk.
    pub(super) fn truths<'c>(&'c self, chunk: &Chunk<'_, 'c>) -> Decided<Truths> {
        Ok(match self {
            CellOperator::And(list) => connected(list, true, chunk)?,
            CellOperator::Or(list) => connected(list, false, chunk)?,
            CellOperator::Not(inside) => inside.truths(chunk)?.not(),
            CellOperator::Compare(first, rest) => {
                let mut left = first.evaluate(chunk)?;
                let mut result: Option<Truths> = None;
                for (operator, right) in rest {
                    let right = right.evaluate(chunk)?;
                    let truths = compared(&left, *operator, &right);
                    result = Some(match result {
                        Some(before) => before.and(&truths),
                        None => truths,
                    });
                    left = right;
                }
                result.unwrap_or_else(|| Truths::all(chunk.len(), Some(true)))
            }
            CellOperator::Text(text, test, part) => {
                tested(&*text.evaluate(chunk)?, *test, &*part.evaluate(chunk)?)
            }
            CellOperator::In(item, set) => contained(&*item.evaluate(chunk)?, set),
            CellOperator::Node(test) if test.is_condition() => test.truths(chunk)?,
            CellOperator::IsNull(inside, expected) => is_null(&*inside.evaluate(chunk)?, *expected),
            CellOperator::Constant(_)
            | CellOperator::Property(_)
            | CellOperator::Arithmetic(..)
            | CellOperator::Negative(_)
            | CellOperator::Node(_)
            | CellOperator::Component(..)
            | CellOperator::Case { .. } => self.evaluate(chunk)?.truths()?,
        })
    }
}

/// `AND`, and with false `OR`. Each operand is evaluated for the nodes that those before it leave
/// open.
fn connected<'c>(list: &'c [CellOperator], is_and: bool, chunk: &Chunk<'_, 'c>) -> Decided<Truths> {
    let mut result = Truths::all(chunk.len(), Some(is_and));
    for operator in list {
        let closed = if is_and { result.failing() } else { result.holding().clone() };
        let truths = match closed.count() {
            0 => operator.truths(chunk)?,
            all if all == chunk.len() => break,
            _ => {
                let open = closed.not().positions();
                operator.truths(&chunk.narrowed(&open))?.spread(&open, chunk.len(), is_and)
            }
        };
        result = if is_and { result.and(&truths) } else { result.or(&truths) };
    }
    Ok(result)
}

/// The parts of `CASE`.
type Choice<'c> = (Option<&'c CellOperator>, &'c [(CellOperator, CellOperator)], &'c CellOperator);

/// The values of the branches that are chosen. Each is evaluated for its own nodes.
fn chosen<'c>(
    (subject, branches, otherwise): Choice<'c>,
    chunk: &Chunk<'_, 'c>,
) -> Decided<Vector<'c>> {
    let subject = match subject {
        Some(it) => Some(it.evaluate(chunk)?),
        None => None,
    };
    let mut cells = vec![Cell::Null; chunk.len()];
    let mut rest: Vec<u32> = (0..chunk.len() as u32).collect();
    let mut set = |then: &'c CellOperator, positions: &[u32]| -> Decided<()> {
        if positions.is_empty() {
            return Ok(());
        }
        let values = then.evaluate(&chunk.narrowed(positions))?;
        for (at, position) in positions.iter().enumerate() {
            cells[*position as usize] = values.cell(at);
        }
        Ok(())
    };
    for (when, then) in branches {
        if rest.is_empty() {
            break;
        }
        let open = chunk.narrowed(&rest);
        let truths = match &subject {
            None => when.truths(&open)?,
            Some(subject) => {
                compared(&subject.gather(&rest), CompareOp::Equal, &*when.evaluate(&open)?)
            }
        };
        let numbered = |bits: Vec<u32>| bits.into_iter().map(|at| rest[at as usize]).collect();
        let (of_branch, others): (Vec<u32>, Vec<u32>) =
            (numbered(truths.holding().positions()), numbered(truths.holding().not().positions()));
        set(then, &of_branch)?;
        rest = others;
    }
    set(otherwise, &rest)?;
    Ok(Vector::of_cells(cells))
}
