//! Cells in another order, some of them several times.

use crate::exec::control::stop::RequestContext;
use hexgraph_base::answer::{CellOffsets, Cells, Lists, Temporals, Texts, Values};
use hexgraph_base::types::Result;
use std::ops::Range;

/// The position that represents none.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The cells at some positions; a null cell for [`NOWHERE`]. No node has objects among its values.
///
/// # Errors
///
/// Those of [`RequestContext::reserve`].
pub(super) fn gather(control: &RequestContext, cells: &Cells, positions: &[u32]) -> Result<Cells> {
    Ok(match cells {
        Cells::Int(cells) => Cells::Int(values(control, cells, positions)?),
        Cells::Float(cells) => Cells::Float(values(control, cells, positions)?),
        Cells::Bool(cells) => Cells::Bool(values(control, cells, positions)?),
        Cells::Time(cells) => Cells::Time(values(control, cells, positions)?),
        Cells::WideTime(cells) => Cells::WideTime(values(control, cells, positions)?),
        Cells::Temporal(it) => {
            let cells = values(control, &it.cells, positions)?;
            Cells::Temporal(Box::new(Temporals { unit: it.unit.clone(), cells }))
        }
        Cells::Text(cells) => Cells::Text(texts(control, cells, positions)?),
        Cells::List(cells) => Cells::List(Box::new(lists(control, cells, positions)?)),
        Cells::Null(_) | Cells::Struct(_) => Cells::Null(positions.len()),
    })
}

fn values<T: Copy + Default>(
    control: &RequestContext,
    cells: &Values<T>,
    positions: &[u32],
) -> Result<Values<T>> {
    control.reserve(((size_of::<T>() + 1) * positions.len()) as u64)?;
    let value = |position: &u32| cells.values.get(*position as usize).copied().unwrap_or_default();
    let values = positions.iter().map(value).collect();
    Ok(Values { values, valid: valid(&cells.valid, positions) })
}

fn lists(control: &RequestContext, cells: &Lists, positions: &[u32]) -> Result<Lists> {
    let total = total_len(&cells.offsets, positions);
    control.reserve((4 * total + END_BYTES * positions.len()) as u64)?;
    let (mut items, mut ends) = (Vec::with_capacity(total), CellOffsets::default());
    for &position in positions {
        items.extend(range(&cells.offsets, position).map(|item| item as u32));
        ends.push(items.len());
    }
    let items = gather(control, &cells.items, &items)?;
    Ok(Lists { items, offsets: ends, valid: valid(&cells.valid, positions) })
}

/// The bytes of an end, in a list that has grown, and of whether there is a value.
const END_BYTES: usize = 9;

/// The length of the cells at some positions together.
fn total_len(ends: &CellOffsets, positions: &[u32]) -> usize {
    positions.iter().map(|&position| range(ends, position).len()).sum()
}

/// What a cell is made of; nothing for [`NOWHERE`].
fn range(ends: &CellOffsets, position: u32) -> Range<usize> {
    if position == NOWHERE { 0..0 } else { ends.range(position as usize) }
}

fn texts(control: &RequestContext, cells: &Texts, positions: &[u32]) -> Result<Texts> {
    let total = total_len(&cells.offsets, positions);
    control.reserve((total + END_BYTES * positions.len()) as u64)?;
    let (mut bytes, mut ends) = (Vec::with_capacity(total), CellOffsets::default());
    for &position in positions {
        bytes.extend_from_slice(&cells.bytes[range(&cells.offsets, position)]);
        ends.push(bytes.len());
    }
    Ok(Texts { bytes, offsets: ends, valid: valid(&cells.valid, positions) })
}

/// Which of the positions have a value; empty where all have.
fn valid(valid: &[bool], positions: &[u32]) -> Vec<bool> {
    if valid.is_empty() && !positions.contains(&NOWHERE) {
        return Vec::new();
    }
    let has = |position: &u32| {
        *position != NOWHERE && valid.get(*position as usize).copied().unwrap_or(true)
    };
    let all: Vec<bool> = positions.iter().map(has).collect();
    if all.contains(&false) { all } else { Vec::new() }
}
