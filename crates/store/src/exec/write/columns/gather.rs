//! Cells in another order, some of them several times.

use crate::exec::control::stop::Control;
use hexgraph_base::answer::{Cells, Ends, Lists, Texts, Values};
use hexgraph_base::types::Result;
use std::ops::Range;

/// The place that stands for none.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The cells at some places; a null cell for [`NOWHERE`]. No node has objects among its values.
///
/// # Errors
///
/// Those of [`Control::draw`].
pub(super) fn gather(control: &Control, cells: &Cells, places: &[u32]) -> Result<Cells> {
    Ok(match cells {
        Cells::Int(cells) => Cells::Int(values(control, cells, places)?),
        Cells::Float(cells) => Cells::Float(values(control, cells, places)?),
        Cells::Bool(cells) => Cells::Bool(values(control, cells, places)?),
        Cells::Time(cells) => Cells::Time(values(control, cells, places)?),
        Cells::WideTime(cells) => Cells::WideTime(values(control, cells, places)?),
        Cells::Text(cells) => Cells::Text(texts(control, cells, places)?),
        Cells::List(cells) => Cells::List(Box::new(lists(control, cells, places)?)),
        Cells::Null(_) | Cells::Struct(_) => Cells::Null(places.len()),
    })
}

fn values<T: Copy + Default>(
    control: &Control,
    cells: &Values<T>,
    places: &[u32],
) -> Result<Values<T>> {
    control.draw(((size_of::<T>() + 1) * places.len()) as u64)?;
    let value = |place: &u32| cells.values.get(*place as usize).copied().unwrap_or_default();
    let values = places.iter().map(value).collect();
    Ok(Values { values, valid: valid(&cells.valid, places) })
}

fn lists(control: &Control, cells: &Lists, places: &[u32]) -> Result<Lists> {
    let total = total_len(&cells.ends, places);
    control.draw((4 * total + END_BYTES * places.len()) as u64)?;
    let (mut items, mut ends) = (Vec::with_capacity(total), Ends::default());
    for &place in places {
        items.extend(range(&cells.ends, place).map(|item| item as u32));
        ends.push(items.len());
    }
    let items = gather(control, &cells.items, &items)?;
    Ok(Lists { items, ends, valid: valid(&cells.valid, places) })
}

/// The bytes of an end, in a list that has grown, and of whether there is a value.
const END_BYTES: usize = 9;

/// The length of the cells at some places together.
fn total_len(ends: &Ends, places: &[u32]) -> usize {
    places.iter().map(|&place| range(ends, place).len()).sum()
}

/// What a cell is made of; nothing for [`NOWHERE`].
fn range(ends: &Ends, place: u32) -> Range<usize> {
    if place == NOWHERE { 0..0 } else { ends.range(place as usize) }
}

fn texts(control: &Control, cells: &Texts, places: &[u32]) -> Result<Texts> {
    let total = total_len(&cells.ends, places);
    control.draw((total + END_BYTES * places.len()) as u64)?;
    let (mut bytes, mut ends) = (Vec::with_capacity(total), Ends::default());
    for &place in places {
        bytes.extend_from_slice(&cells.bytes[range(&cells.ends, place)]);
        ends.push(bytes.len());
    }
    Ok(Texts { bytes, ends, valid: valid(&cells.valid, places) })
}

/// Which of the places have a value; empty where all have.
fn valid(valid: &[bool], places: &[u32]) -> Vec<bool> {
    if valid.is_empty() && !places.contains(&NOWHERE) {
        return Vec::new();
    }
    let has =
        |place: &u32| *place != NOWHERE && valid.get(*place as usize).copied().unwrap_or(true);
    let all: Vec<bool> = places.iter().map(has).collect();
    if all.contains(&false) { all } else { Vec::new() }
}
