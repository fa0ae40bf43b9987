//! Columns of ids as numbers of nodes.

use super::cell_error::CellError;
use super::parts::{ColumnName, Fault, shown};
use crate::tables::read::cells::{Cells, Form, is_decimal};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, Int64Array};
use arrow_schema::DataType;
use hexgraph_base::types::{Error, Uid, ValueRef, ValueType};
use hexgraph_store::graph::{Interner, NamedUids, NodeIds, POSITIONS_A_ROW};
use std::borrow::Cow;
use std::num::IntErrorKind;

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
    /// What is wrong with a row that has no id in this column; `None` where it may be missing.
    pub missing: Option<CellError>,
}

/// The largest number of ids in one row.
pub(super) const SLOTS: u64 = POSITIONS_A_ROW;

/// The nodes that the ids of a column stand for.
#[derive(Default)]
pub(in crate::tables) struct Numbers {
    /// The node of each row, 0 for none. Where cells are lists, that of each of their items.
    pub nodes: Vec<u32>,
    /// The row of each item, where cells are lists.
    pub rows: Option<Vec<u32>>,
    /// The uids that are nodes themselves.
    pub named: NamedUids,
    /// The rows of the batch that have no id, where it may be missing.
    pub gaps: Vec<u32>,
}

impl Numbers {
    /// The rows that have nodes, with these.
    pub(in crate::tables) fn pairs(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let row = |at: usize| self.rows.as_ref().map_or(at, |rows| rows[at] as usize);
        let nodes = self.nodes.iter().enumerate().filter(|(_, node)| **node != 0);
        nodes.map(move |(at, node)| (row(at), *node))
    }
}

/// Ids of a kind, with their positions in the tables and their positions among the nodes.
struct Sought<I> {
    ids: Vec<(I, u64)>,
    positions: Vec<u32>,
}

impl<I> Sought<I> {
    fn new() -> Sought<I> {
        Sought { ids: Vec::new(), positions: Vec::new() }
    }

    fn push(&mut self, id: I, slot: u64, position: usize) {
        self.ids.push((id, slot));
        self.positions.push(position as u32);
    }
}

impl IdColumn {
    /// The numbers of the rows of a batch, which starts at row `first_row` of the table.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Limit`] when there is no memory for the ids.
    pub(in crate::tables) fn numbers(
        &self,
        array: &ArrayRef,
        first_row: u64,
        interner: &Interner,
        faults: &mut Vec<Fault>,
    ) -> Result<Numbers, Error> {
        let kind = Kind {
            is_wide: self.kind == ValueType::Uid && *array.data_type() == DataType::UInt64,
            is_decimal: is_decimal(array.data_type()),
        };
        let cells = match kind.is_wide {
            true => Ok(wide_uids(array)),
            // Numbers of any size are read as texts, so all cells fit.
            false => Cells::of(array, Form::Full).map(|(cells, _)| cells),
        };
        let mut numbers = Numbers::default();
        let cells = match cells {
            Ok(cells) => cells,
            Err(reason) => {
                faults.push(self.column.fault(first_row, reason));
                numbers.nodes = vec![0; array.len()];
                return Ok(numbers);
            }
        };
        match &cells {
            Cells::List(..) => numbers.rows = Some(Vec::new()),
            _ => numbers.nodes = vec![0; array.len()],
        }
        let (mut ints, mut texts) = (Sought::new(), Sought::new());
        for row in 0..array.len() {
            let slot = (first_row + row as u64) * SLOTS + self.slot;
            let mut has_id = false;
            for at in cells.row(row) {
                // An empty text names no node, as an empty cell of a text file does not.
                let value = cells.get(at).filter(|value| *value != ValueRef::String(""));
                let Some(value) = value else { continue };
                has_id = true;
                let position = match &mut numbers.rows {
                    None => row,
                    Some(rows) => {
                        rows.push(row as u32);
                        numbers.nodes.push(0);
                        numbers.nodes.len() - 1
                    }
                };
                match self.id(value, kind) {
                    Ok(Id::Node(own)) => numbers.nodes[position] = own,
                    Ok(Id::Int(number)) => ints.push(number, slot, position),
                    Ok(Id::Text(text)) => texts.push(text, slot, position),
                    Err(reason) => {
                        let reason = reason.of_value(shown_id(value));
                        faults.push(self.column.fault(first_row + row as u64, reason));
                    }
                }
            }
            match &self.missing {
                _ if has_id => {}
                Some(reason) => {
                    faults.push(self.column.fault(first_row + row as u64, reason.clone()));
                }
                None => numbers.gaps.push(row as u32),
            }
        }
        self.find(interner, (&ints, &texts), &mut numbers.nodes)?;
        let is_low = |node: &u32| *node != 0 && !NodeIds::is_high(Uid(u64::from(*node)));
        numbers.named = numbers.nodes.iter().copied().filter(is_low).collect();
        Ok(numbers)
    }

    /// Finds the numbers of ids.
    fn find(
        &self,
        interner: &Interner,
        (ints, texts): (&Sought<i64>, &Sought<Cow<'_, str>>),
        nodes: &mut [u32],
    ) -> Result<(), Error> {
        interner.ints(self.space, &ints.ids, |at, number| {
            nodes[ints.positions[at] as usize] = number;
        })?;
        let borrowed = texts.ids.iter().map(|(id, position)| (&**id, *position));
        let borrowed: Vec<(&str, u64)> = borrowed.collect();
        interner.texts(self.space, &borrowed, |at, number| {
            nodes[texts.positions[at] as usize] = number;
        })
    }

    fn id<'v>(&self, value: ValueRef<'v>, kind: Kind) -> Result<Id<'v>, CellError> {
        match (self.kind, value) {
            (ValueType::Uid, ValueRef::String(text)) => uid_number(parse_uid(text)?),
            (ValueType::Uid, ValueRef::Int(number)) if kind.is_wide => uid_number(number as u64),
            (ValueType::Uid, value) => {
                let uid = u64::try_from(full(value)?);
                uid_number(uid.map_err(|_| CellError::NegativeUid)?)
            }
            (_, ValueRef::String(text)) if kind.is_decimal && text.contains('.') => {
                Err(CellError::NotAnId)
            }
            (ValueType::Int, ValueRef::String(text)) => {
                let number = text.trim().parse::<i64>();
                Ok(Id::Int(number.map_err(|fault| not_an_int(fault.kind()))?))
            }
            (ValueType::Int, value) => Ok(Id::Int(full(value)?)),
            (_, ValueRef::String(text)) => Ok(Id::Text(Cow::Borrowed(text))),
            (_, value) => Ok(Id::Text(Cow::Owned(full(value)?.to_string()))),
        }
    }
}

/// The properties of all cells of a column.
#[derive(Clone, Copy)]
struct Kind {
    /// They are uids of 64 bits without a sign.
    is_wide: bool,
    /// They are decimals, as texts.
    is_decimal: bool,
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

fn not_an_int(fault: &IntErrorKind) -> CellError {
    match fault {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => CellError::LargeId,
        _ => CellError::NotAnInt,
    }
}

fn parse_uid(text: &str) -> Result<u64, CellError> {
    let uid = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    uid.map_err(|_| CellError::NotAUid)
}

/// Returns a number without a fraction as an int. Floats are accepted up to 2^53, since libraries
/// that have no missing ints make floats of a column of ints.
fn full(value: ValueRef<'_>) -> Result<i64, CellError> {
    match value {
        ValueRef::Int(number) => Ok(number),
        ValueRef::Float(number) if number.fract() == 0.0 && number.abs() < 2f64.powi(53) => {
            Ok(number as i64)
        }
        ValueRef::Float(number) if number.fract() == 0.0 => Err(CellError::LargeFloat),
        _ => Err(CellError::NotAnId),
    }
}

/// An id as messages show it: integers as ints.
fn shown_id(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Float(number) if number.fract() == 0.0 && number.abs() < 1e21 => {
            shown(ValueRef::String(&format!("{number:.0}")))
        }
        value => shown(value),
    }
}

/// Reads uids that may have all 64 bits.
fn wide_uids(array: &ArrayRef) -> Cells {
    let uids = array.as_primitive::<UInt64Type>();
    Cells::Int(Int64Array::new(uids.values().inner().clone().into(), uids.nulls().cloned()))
}
