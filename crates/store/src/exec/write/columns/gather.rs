//! Cells in another order, some of them several times.

use hexgraph_base::answer::{Cells, Ends, Lists, Texts, Values};
use std::ops::Range;

/// The place that stands for none.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The cells at some places; a null cell for [`NOWHERE`]. No node has objects among its values.
pub(super) fn gather(cells: &Cells, places: &[u32]) -> Cells {
    match cells {
        Cells::Int(cells) => Cells::Int(values(cells, places)),
        Cells::Float(cells) => Cells::Float(values(cells, places)),
        Cells::Bool(cells) => Cells::Bool(values(cells, places)),
        Cells::Time(cells) => Cells::Time(values(cells, places)),
        Cells::WideTime(cells) => Cells::WideTime(values(cells, places)),
        Cells::Text(cells) => Cells::Text(texts(cells, places)),
        Cells::List(cells) => Cells::List(Box::new(lists(cells, places))),
        Cells::Null(_) | Cells::Struct(_) => Cells::Null(places.len()),
    }
}

fn values<T: Copy + Default>(cells: &Values<T>, places: &[u32]) -> Values<T> {
    let value = |place: &u32| cells.values.get(*place as usize).copied().unwrap_or_default();
    Values { values: places.iter().map(value).collect(), valid: valid(&cells.valid, places) }
}

fn lists(cells: &Lists, places: &[u32]) -> Lists {
    let (mut items, mut ends) = (Vec::new(), Ends::default());
    for &place in places {
        items.extend(range(&cells.ends, place).map(|item| item as u32));
        ends.push(items.len());
    }
    Lists { items: gather(&cells.items, &items), ends, valid: valid(&cells.valid, places) }
}

/// What a cell is made of; nothing for [`NOWHERE`].
fn range(ends: &Ends, place: u32) -> Range<usize> {
    if place == NOWHERE { 0..0 } else { ends.range(place as usize) }
}

fn texts(cells: &Texts, places: &[u32]) -> Texts {
    let total = places.iter().map(|&place| range(&cells.ends, place).len()).sum();
    let (mut bytes, mut ends) = (Vec::with_capacity(total), Ends::default());
    for &place in places {
        bytes.extend_from_slice(&cells.bytes[range(&cells.ends, place)]);
        ends.push(bytes.len());
    }
    Texts { bytes, ends, valid: valid(&cells.valid, places) }
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
