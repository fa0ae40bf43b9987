//! Conditions that name the uids of a node: `id(n) = 7`, `elementId(n) IN $list`.

use crate::ast::CompareOp;
use crate::execute::plan::{
    Callee, EntityFunction, Expression, Operation, SlotIndex, UidSeek, ValueStep,
};
use hexgraph_base::types::Uid;
use hexgraph_scalar::Value;

/// A seek whose value comes from elsewhere than the node of the slot.
pub(in crate::execute) type SlotSeek = (SlotIndex, UidSeek);

/// The seeks of a condition, each for one node.
pub(in crate::execute) fn seeks_of(condition: &Expression) -> Vec<SlotSeek> {
    match &condition.operation {
        Operation::Compare(left, rest) => match &rest[..] {
            [(CompareOp::Equal, right)] => [(&**left, right), (right, &**left)]
                .into_iter()
                .filter_map(|(call, value)| seek(call, value, false))
                .collect(),
            _ => Vec::new(),
        },
        Operation::Steps(call, steps) => match &steps[..] {
            [ValueStep::In(list)] => seek(call, list, true).into_iter().collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn seek(call: &Expression, value: &Expression, is_list: bool) -> Option<SlotSeek> {
    let Operation::Call(Callee { entity: Some(function), .. }, arguments) = &call.operation else {
        return None;
    };
    let is_text = match function {
        EntityFunction::Id => false,
        EntityFunction::ElementId => true,
        _ => return None,
    };
    match &arguments[..] {
        [Expression { operation: Operation::Slot(slot), .. }] if is_apart_from(value, *slot) => {
            Some((*slot, UidSeek { is_text, is_list, value: value.clone() }))
        }
        _ => None,
    }
}

/// Whether a value is plainly computed without a slot.
fn is_apart_from(value: &Expression, slot: SlotIndex) -> bool {
    match &value.operation {
        Operation::Constant(_) => true,
        Operation::Slot(other) => *other != slot,
        Operation::List(items) => items
            .iter()
            .all(|it| !matches!(it.operation, Operation::List(_)) && is_apart_from(it, slot)),
        _ => property_slot(value).is_some_and(|other| other != slot),
    }
}

fn property_slot(read: &Expression) -> Option<SlotIndex> {
    let Operation::Steps(value, steps) = &read.operation else { return None };
    match (&value.operation, &steps[..]) {
        (Operation::Slot(slot), [ValueStep::Property(_)]) => Some(*slot),
        _ => None,
    }
}

impl UidSeek {
    /// Whether its value is the same for all rows.
    pub(in crate::execute) fn is_constant(&self) -> bool {
        let is_constant = |it: &Expression| matches!(it.operation, Operation::Constant(_));
        match &self.value.operation {
            Operation::List(items) => items.iter().all(is_constant),
            _ => is_constant(&self.value),
        }
    }

    /// How many uids it has; `None` where that depends on a row.
    pub(in crate::execute) fn count(&self) -> Option<u64> {
        match &self.value.operation {
            _ if !self.is_list => Some(1),
            Operation::List(items) => Some(items.len() as u64),
            Operation::Constant(Value::List(items)) => Some(items.len() as u64),
            _ => None,
        }
    }

    /// The uids in ascending order that a value of it names; `None` for a value that is no list
    /// where one is needed.
    pub(in crate::execute) fn uids(&self, value: &Value) -> Option<Vec<u64>> {
        let mut uids: Vec<u64> = match (self.is_list, value) {
            (false, value) => self.uid(value).into_iter().collect(),
            (true, Value::List(items)) => items.iter().filter_map(|it| self.uid(it)).collect(),
            (true, Value::Null) => Vec::new(),
            (true, _) => return None,
        };
        uids.sort_unstable();
        uids.dedup();
        Some(uids)
    }

    /// The uid that `id` or `elementId` could return as this value. The condition itself decides
    /// whether a text is exactly that of the uid.
    fn uid(&self, value: &Value) -> Option<u64> {
        match value {
            Value::Int(number) if !self.is_text => u64::try_from(*number).ok(),
            // A float without a fraction equals an int.
            Value::Float(number) if !self.is_text && number.fract() == 0.0 && 0.0 <= *number => {
                Some(*number as u64)
            }
            Value::String(text) if self.is_text => Uid::parse(text).map(|uid| uid.0),
            _ => None,
        }
    }
}
