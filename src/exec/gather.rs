//! Reading the values of many nodes at once.
//!
//! A node's row is its rank among the subjects. For a few nodes each is looked up; for many the
//! subjects are walked beside them, which costs about a nanosecond a subject.

use super::tree::Column;
use super::tree::ValueMap;
use crate::graph::LangValues;
use crate::storage::FrozenBitmap;
use crate::storage::Values;
use crate::types::ValueType;

/// How many subjects are walked in the time of one lookup.
const LOOKUP_COST: usize = 12;

/// Calls `found` with the place of each node that is a subject, and its row. `nodes` ascend.
pub(crate) fn rows_of(subjects: &FrozenBitmap, nodes: &[u32], mut found: impl FnMut(usize, usize)) {
    if subjects.is_exactly(nodes) {
        (0..nodes.len()).for_each(|row| found(row, row));
        return;
    }
    if nodes.len().saturating_mul(LOOKUP_COST) < subjects.len() {
        for (place, &node) in nodes.iter().enumerate() {
            if let Some(row) = subjects.row_of(node) {
                found(place, row);
            }
        }
        return;
    }
    let Some(&first) = nodes.first() else { return };
    let mut place = 0;
    for (row, subject) in (subjects.rank(first)..).zip(subjects.iter_from(first)) {
        while place < nodes.len() && nodes[place] < subject {
            place += 1;
        }
        if place == nodes.len() {
            return;
        }
        if nodes[place] == subject {
            found(place, row);
        }
    }
}

/// The numbers of nodes, which ascend: `None` when the values are no numbers of the wanted type,
/// or some changed since they were built.
pub(crate) fn numbers(part: &LangValues, wanted: ValueType, nodes: &[u32]) -> Option<ValueMap> {
    let column = &part.base.column;
    if !part.is_settled() || column.rows.is_some() {
        return None;
    }
    let mut with = Vec::new();
    let values = match (&column.values, wanted) {
        (Values::SmallInt(numbers), ValueType::Int) => {
            let (numbers, mut out) = (numbers.as_slice(), Vec::new());
            rows_of(&column.subjects, nodes, |place, row| {
                with.push(nodes[place]);
                out.push(i64::from(numbers[row]));
            });
            Column::Int(out)
        }
        (Values::Int(numbers), ValueType::Int) => {
            let (numbers, mut out) = (numbers.as_slice(), Vec::new());
            rows_of(&column.subjects, nodes, |place, row| {
                with.push(nodes[place]);
                out.push(numbers[row]);
            });
            Column::Int(out)
        }
        (Values::Float(numbers), ValueType::Float) => {
            let (numbers, mut out) = (numbers.as_slice(), Vec::new());
            rows_of(&column.subjects, nodes, |place, row| {
                with.push(nodes[place]);
                out.push(numbers[row]);
            });
            Column::Float(out)
        }
        _ => return None,
    };
    Some(ValueMap { nodes: with, values, constant: None })
}

/// How many ids a table may span for each of its members.
const SPAN_MAX: usize = 16;

/// The numbers of many nodes, to be looked up in any order: a table by node id.
pub(crate) struct NumberTable {
    least: u32,
    places: Vec<u32>,
    values: Column,
    /// Whether every node has a number.
    is_complete: bool,
}

impl NumberTable {
    /// The table of some nodes: `None` where they do not ascend or their ids are too far apart, or
    /// as [`numbers`] says. Costs four bytes an id of the span.
    pub(crate) fn new(part: &LangValues, wanted: ValueType, nodes: &[u32]) -> Option<NumberTable> {
        if !nodes.is_sorted_by(|one, other| one < other) {
            return None;
        }
        let (least, greatest) = (*nodes.first()?, *nodes.last()?);
        let span = (greatest - least) as usize + 1;
        if nodes.len().saturating_mul(SPAN_MAX) < span {
            return None;
        }
        let ValueMap { nodes: with, values, .. } = numbers(part, wanted, nodes)?;
        let mut places = vec![u32::MAX; span];
        for (place, node) in (0u32..).zip(&with) {
            places[(node - least) as usize] = place;
        }
        Some(NumberTable { least, places, values, is_complete: with.len() == nodes.len() })
    }

    /// The numbers of some of the nodes, in their order.
    pub(crate) fn of(&self, nodes: &[u32]) -> Column {
        match &self.values {
            Column::Int(numbers) => Column::Int(self.gather(numbers, nodes)),
            Column::Float(numbers) => Column::Float(self.gather(numbers, nodes)),
            Column::Any(values) => Column::Any(self.gather(values, nodes)),
        }
    }

    fn gather<T: Clone>(&self, values: &[T], nodes: &[u32]) -> Vec<T> {
        let places = nodes.iter().map(|node| self.places[(node - self.least) as usize]);
        if self.is_complete {
            return places.map(|place| values[place as usize].clone()).collect();
        }
        let mut gathered = Vec::with_capacity(nodes.len());
        gathered.extend(places.filter_map(|place| values.get(place as usize).cloned()));
        gathered
    }
}
