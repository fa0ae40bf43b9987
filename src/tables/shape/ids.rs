//! Columns of ids as numbers of nodes.

use super::cell_error::CellError;
use super::parts::{ColumnName, Fault, shown};
use crate::tables::read::cells::Cells;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, Int64Array};
use arrow_schema::DataType;
use hexgraph_base::types::{Uid, ValueRef, ValueType};
use hexgraph_store::graph::{Interner, NamedUids, NodeIds, PLACES_A_ROW};
use std::borrow::Cow;

/// A column whose cells name nodes.
#[derive(Debug, Clone)]
pub(in crate::tables) struct IdColumn {
    /// The column.
    pub column: ColumnName,
    /// The space in which its ids are unique.
    pub space: usize,
    /// What the ids are: uids, ints or strings.
    pub kind: ValueType,
    /// A number below [`SLOTS`] that differs between the id columns of one table.
    pub slot: u64,
    /// True if every row must have an id in this column.
    pub is_needed: bool,
}

/// The largest number of ids in one row.
pub(super) const SLOTS: u64 = PLACES_A_ROW;

/// The nodes that the ids of a column stand for.
pub(in crate::tables) struct Numbers {
    /// The node of each row, 0 for none.
    pub nodes: Vec<u32>,
    /// The uids that are nodes themselves.
    pub named: NamedUids,
}

impl IdColumn {
    /// The numbers of the rows of a batch, which starts at row `first_row` of the table.
    pub(in crate::tables) fn numbers(
        &self,
        array: &ArrayRef,
        first_row: u64,
        interner: &Interner,
        faults: &mut Vec<Fault>,
    ) -> Numbers {
        let mut numbers = Numbers { nodes: vec![0; array.len()], named: NamedUids::default() };
        let is_wide = self.kind == ValueType::Uid && *array.data_type() == DataType::UInt64;
        let cells = if is_wide { Ok(wide_uids(array)) } else { Cells::of(array, false) };
        let cells = match cells {
            Ok(cells) => cells,
            Err(reason) => {
                faults.push(self.column.fault(first_row, reason));
                return numbers;
            }
        };
        let (mut ints, mut texts) = (Vec::new(), Vec::new());
        for (row, node) in numbers.nodes.iter_mut().enumerate() {
            let at = first_row + row as u64;
            let Some(value) = cells.row(row).next().and_then(|at| cells.get(at)) else {
                if self.is_needed {
                    faults.push(self.column.fault(at, CellError::NoId));
                }
                continue;
            };
            let place = at * SLOTS + self.slot;
            match self.id(value, is_wide) {
                Ok(Id::Node(own)) => *node = own,
                Ok(Id::Int(number)) => ints.push((number, place)),
                Ok(Id::Text(text)) => texts.push((text, place)),
                Err(reason) => {
                    faults.push(self.column.fault(at, reason.of_value(shown(value))));
                }
            }
        }
        let row = |place: u64| ((place - self.slot) / SLOTS - first_row) as usize;
        let borrowed: Vec<(&str, u64)> = texts.iter().map(|(id, place)| (&**id, *place)).collect();
        interner.ints(self.space, &ints, |place, number| numbers.nodes[row(place)] = number);
        interner.texts(self.space, &borrowed, |place, number| numbers.nodes[row(place)] = number);
        let is_low = |node: &u32| *node != 0 && !NodeIds::is_high(Uid(u64::from(*node)));
        numbers.named = numbers.nodes.iter().copied().filter(is_low).collect();
        numbers
    }

    fn id<'v>(&self, value: ValueRef<'v>, is_wide: bool) -> Result<Id<'v>, CellError> {
        match (self.kind, value) {
            (ValueType::Uid, ValueRef::String(text)) => uid_number(parse_uid(text)?),
            (ValueType::Uid, ValueRef::Int(number)) if is_wide => uid_number(number as u64),
            (ValueType::Uid, value) => {
                let uid = u64::try_from(whole(value)?);
                uid_number(uid.map_err(|_| CellError::NegativeUid)?)
            }
            (ValueType::Int, ValueRef::String(text)) => {
                let number = text.trim().parse();
                Ok(Id::Int(number.map_err(|_| CellError::NotAnInt)?))
            }
            (ValueType::Int, value) => Ok(Id::Int(whole(value)?)),
            (_, ValueRef::String(text)) => Ok(Id::Text(Cow::Borrowed(text))),
            (_, value) => Ok(Id::Text(Cow::Owned(whole(value)?.to_string()))),
        }
    }
}

enum Id<'v> {
    /// The id is the number of a node itself.
    Node(u32),
    /// An integer, for which the interner has the number of a node.
    Int(i64),
    /// A text, for which the interner has the number of a node.
    Text(Cow<'v, str>),
}

fn uid_number(uid: u64) -> Result<Id<'static>, CellError> {
    match uid {
        0 | u64::MAX => Err(CellError::NoNode),
        uid if NodeIds::is_high(Uid(uid)) => Ok(Id::Int(uid as i64)),
        uid => Ok(Id::Node(uid as u32)),
    }
}

fn parse_uid(text: &str) -> Result<u64, CellError> {
    let uid = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    uid.map_err(|_| CellError::NotAUid)
}

/// Returns a number without a fraction as an int. Floats are taken up to 2^53, since libraries that have no missing ints make
/// floats of a column of ints.
fn whole(value: ValueRef<'_>) -> Result<i64, CellError> {
    match value {
        ValueRef::Int(number) => Ok(number),
        ValueRef::Float(number) if number.fract() == 0.0 && number.abs() < 2f64.powi(53) => {
            Ok(number as i64)
        }
        _ => Err(CellError::NotAnId),
    }
}

/// Reads uids that may have all 64 bits.
fn wide_uids(array: &ArrayRef) -> Cells {
    let uids = array.as_primitive::<UInt64Type>();
    Cells::Int(Int64Array::new(uids.values().inner().clone().into(), uids.nulls().cloned()))
}
