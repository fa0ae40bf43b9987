//! Conditions that an index of a property may answer: `n.age > 30`, `n.name STARTS WITH $text`.

use crate::ast::CompareOp;
use crate::execute::plan::{Expression, IndexSeek, Operation, SeekTest, SlotIndex, ValueStep};
use crate::execute::slots::Uses;
use hexgraph_scalar::Comparison;
use std::sync::Arc;

/// The seeks of a condition, each for one node. Their values come from elsewhere than that node.
pub(in crate::execute) fn index_seeks_of(condition: &Expression) -> Vec<(SlotIndex, IndexSeek)> {
    let mut seeks = Vec::new();
    match &condition.operation {
        Operation::Compare(first, rest) => {
            // Each part of a chain has to hold.
            let mut left = &**first;
            for (op, right) in rest {
                seeks.extend(compared(left, *op, right));
                seeks.extend(compared(right, flipped(*op), left));
                left = right;
            }
        }
        Operation::Steps(read, steps) => {
            if let (Some((slot, property)), [step]) = (property_read(read), &steps[..]) {
                seeks.extend(tested(slot, property, step));
            }
        }
        _ => {}
    }
    seeks
}

fn compared(
    read: &Expression,
    op: CompareOp,
    value: &Expression,
) -> Option<(SlotIndex, IndexSeek)> {
    let comparison = match op {
        CompareOp::Unequal => return None,
        CompareOp::Equal => None,
        CompareOp::Less => Some(Comparison::Less),
        CompareOp::LessEqual => Some(Comparison::LessOrEqual),
        CompareOp::Greater => Some(Comparison::Greater),
        CompareOp::GreaterEqual => Some(Comparison::GreaterOrEqual),
    };
    let (slot, property, test) = match (property_read(read), comparison) {
        (Some((slot, property)), None) => (slot, property, SeekTest::Equal(value.clone())),
        (Some((slot, property)), Some(comparison)) => {
            (slot, property, SeekTest::Range(vec![(comparison, value.clone())]))
        }
        (None, Some(Comparison::Less | Comparison::LessOrEqual)) => {
            let (slot, property, center) = distance_read(read)?;
            (slot, property, SeekTest::Near { center, metres: value.clone() })
        }
        (None, _) => return None,
    };
    is_available(value, slot).then_some((slot, IndexSeek { property, test }))
}

fn tested(slot: SlotIndex, property: Arc<str>, step: &ValueStep) -> Option<(SlotIndex, IndexSeek)> {
    let (value, test) = match step {
        ValueStep::In(list) => (list, SeekTest::In(list.clone())),
        ValueStep::Text(test, part) => (part, SeekTest::Text(*test, part.clone())),
        ValueStep::Matches(pattern) => (pattern, SeekTest::Matches(pattern.clone())),
        ValueStep::IsNull(_)
        | ValueStep::IsType(..)
        | ValueStep::Property(_)
        | ValueStep::Index(_)
        | ValueStep::Slice(..)
        | ValueStep::HasLabels(_) => return None,
    };
    is_available(value, slot).then_some((slot, IndexSeek { property, test }))
}

/// `slot.property`.
pub(in crate::execute) fn property_read(read: &Expression) -> Option<(SlotIndex, Arc<str>)> {
    let Operation::Steps(value, steps) = &read.operation else { return None };
    match (&value.operation, &steps[..]) {
        (Operation::Slot(slot), [ValueStep::Property(name)]) => Some((*slot, name.clone())),
        _ => None,
    }
}

/// `point.distance(slot.property, center)`, with its arguments in either order.
fn distance_read(call: &Expression) -> Option<(SlotIndex, Arc<str>, Expression)> {
    let Operation::Call(callee, arguments) = &call.operation else { return None };
    let ("distance" | "point.distance", [one, other]) = (callee.function.name, &arguments[..])
    else {
        return None;
    };
    [(one, other), (other, one)].into_iter().find_map(|(read, center)| {
        let (slot, property) = property_read(read)?;
        is_available(center, slot).then(|| (slot, property, center.clone()))
    })
}

/// Whether a value is plainly computed without a slot.
fn is_available(value: &Expression, slot: SlotIndex) -> bool {
    let uses = Uses::of(value);
    !uses.is_random && !uses.has_variables() && !uses.outer().contains(&slot)
}

/// The comparison with its sides exchanged.
fn flipped(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Equal | CompareOp::Unequal => op,
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessEqual => CompareOp::GreaterEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterEqual => CompareOp::LessEqual,
    }
}

/// Adds a seek to others of the same node. The bounds of one property are one range.
pub(in crate::execute) fn add_seek(seeks: &mut Vec<IndexSeek>, seek: IndexSeek) {
    let IndexSeek { property, test } = seek;
    let SeekTest::Range(bounds) = test else { return seeks.push(IndexSeek { property, test }) };
    for it in seeks.iter_mut().filter(|it| it.property == property) {
        if let SeekTest::Range(others) = &mut it.test {
            return others.extend(bounds);
        }
    }
    seeks.push(IndexSeek { property, test: SeekTest::Range(bounds) });
}

impl IndexSeek {
    /// Whether its values are the same for all rows.
    pub(in crate::execute) fn is_constant(&self) -> bool {
        self.expressions().all(|it| Uses::of(it).outer().is_empty())
    }
}
