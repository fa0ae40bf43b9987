//! Reading the values of many nodes at once.
//!
//! A node's row is its rank among the subjects. For a few nodes each is looked up; for many the
//! subjects are walked beside them, which costs about a nanosecond a subject.

use crate::exec::control::tree::{Column, ValueMap};
use crate::graph::LangValues;
use crate::storage::{Column as StoredColumn, FrozenBitmap, Values};
use hexgraph_base::types::ValueType;

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
            Column::Int(pick(column, nodes, numbers.as_slice(), i64::from, &mut with))
        }
        (Values::Int(numbers), ValueType::Int) => {
            Column::Int(pick(column, nodes, numbers.as_slice(), |number| number, &mut with))
        }
        (Values::Float(numbers), ValueType::Float) => {
            Column::Float(pick(column, nodes, numbers.as_slice(), |number| number, &mut with))
        }
        _ => return None,
    };
    Some(ValueMap { nodes: with, values, constant: None })
}

/// The numbers of those nodes that have one, which are added to `with`.
fn pick<S: Copy, T>(
    column: &StoredColumn,
    nodes: &[u32],
    numbers: &[S],
    number: impl Fn(S) -> T,
    with: &mut Vec<u32>,
) -> Vec<T> {
    let mut picked = Vec::new();
    rows_of(&column.subjects, nodes, |place, row| {
        with.push(nodes[place]);
        picked.push(number(numbers[row]));
    });
    picked
}

/// How many ids a table may span for each of its members.
const SPAN_MAX: usize = 16;

/// The numbers of many nodes, to be looked up in any order: a table by node id.
pub(crate) struct NumberTable {
    least: u32,
    /// By node id, from `least` on; of nodes without a number, anything.
    values: Column,
    /// A bit for each id that has a number; `None` when every node has one.
    present: Option<Vec<u64>>,
}

impl NumberTable {
    /// The table of some nodes: `None` where they do not ascend or their ids are too far apart, or
    /// as [`numbers`] says. Costs eight bytes an id of the span.
    pub(crate) fn new(part: &LangValues, wanted: ValueType, nodes: &[u32]) -> Option<NumberTable> {
        if !nodes.is_sorted_by(|one, other| one < other) {
            return None;
        }
        let (least, greatest) = (*nodes.first()?, *nodes.last()?);
        let span = (greatest - least) as usize + 1;
        let column = &part.base.column;
        let fits = span <= nodes.len().saturating_mul(SPAN_MAX);
        if !fits || !part.is_settled() || column.rows.is_some() {
            return None;
        }
        let mut filler = Filler { column, nodes, least, count: 0 };
        let values = match (&column.values, wanted) {
            (Values::SmallInt(numbers), ValueType::Int) => {
                Column::Int(filler.fill(span, numbers.as_slice(), i64::from))
            }
            (Values::Int(numbers), ValueType::Int) => {
                Column::Int(filler.fill(span, numbers.as_slice(), |number| number))
            }
            (Values::Float(numbers), ValueType::Float) => {
                Column::Float(filler.fill(span, numbers.as_slice(), |number| number))
            }
            _ => return None,
        };
        let present = (filler.count < nodes.len()).then(|| filler.present(span));
        Some(NumberTable { least, values, present })
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
        let places = nodes.iter().map(|node| (node - self.least) as usize);
        match &self.present {
            None => places.map(|place| values[place].clone()).collect(),
            Some(bits) => {
                let has = |place: &usize| bits[place / 64] >> (place % 64) & 1 != 0;
                places.filter(has).map(|place| values[place].clone()).collect()
            }
        }
    }
}

/// Fills the table of a column.
struct Filler<'a> {
    column: &'a StoredColumn,
    nodes: &'a [u32],
    least: u32,
    count: usize,
}

impl Filler<'_> {
    fn fill<S: Copy, T: Copy + Default>(
        &mut self,
        span: usize,
        numbers: &[S],
        number: impl Fn(S) -> T,
    ) -> Vec<T> {
        let mut table = vec![T::default(); span];
        let (nodes, least) = (self.nodes, self.least);
        if self.column.subjects.is_exactly(nodes) {
            for (node, value) in nodes.iter().zip(numbers) {
                table[(node - least) as usize] = number(*value);
            }
            self.count = nodes.len();
            return table;
        }
        rows_of(&self.column.subjects, nodes, |place, row| {
            table[(nodes[place] - least) as usize] = number(numbers[row]);
            self.count += 1;
        });
        table
    }

    fn present(&self, span: usize) -> Vec<u64> {
        let mut bits = vec![0; span.div_ceil(64)];
        rows_of(&self.column.subjects, self.nodes, |place, _| {
            let at = (self.nodes[place] - self.least) as usize;
            bits[at / 64] |= 1 << (at % 64);
        });
        bits
    }
}
