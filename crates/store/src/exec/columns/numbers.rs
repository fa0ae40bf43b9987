//! A table of the numbers of many nodes.
//!
//! A node's row is its rank among the subjects, which is looked up for many nodes at once.

use super::number_columns::{Number, NumberList};
use crate::exec::cost::is_dense;
use crate::graph::LangValues;
use crate::storage::Values;
use hexgraph_base::types::{ValueRef, ValueType};

/// The numbers of many nodes, to be looked up in any order: a table by node id.
pub(crate) struct NumberTable {
    least: u32,
    /// The numbers by node id, from `least` on; the entries of nodes without a number have no
    /// meaning.
    values: NumberList,
    /// A bit for each id of the span, set where the node has a number; `None` when every node has
    /// one.
    present: Option<Vec<u64>>,
}

/// The ids from the first to the last of some nodes.
fn span_of(nodes: &[u32]) -> usize {
    match nodes {
        [least, .., greatest] => greatest.saturating_sub(*least) as usize + 1,
        _ => nodes.len(),
    }
}

impl NumberTable {
    /// Whether nodes ascend and lie close together. Ids that lie far apart would make a table of
    /// gaps.
    pub(crate) fn suits(nodes: &[u32]) -> bool {
        nodes.is_sorted_by(|one, other| one < other) && is_dense(span_of(nodes), nodes.len())
    }

    /// The bytes of a table of nodes that are dense: a number for each id, and a bit.
    pub(crate) fn byte_len(nodes: &[u32]) -> usize {
        span_of(nodes) * size_of::<i64>() * 65 / 64
    }

    /// The table of some nodes: `None` where they do not ascend or their ids are too far apart, or
    /// the values are no numbers of the requested type. Costs eight bytes an id of the span.
    pub(crate) fn new(
        part: &LangValues,
        expected: ValueType,
        nodes: &[u32],
    ) -> Option<NumberTable> {
        let column = part.stored();
        let least = *nodes.first()?;
        if !NumberTable::suits(nodes) || column.rows.is_some() {
            return None;
        }
        let (values, present) = match (&column.values, expected) {
            (Values::SmallInt(numbers), ValueType::Int) => {
                let table = filled(part, nodes, numbers.as_slice(), i64::from, i64::of)?;
                (NumberList::Ints(table.0), table.1)
            }
            (Values::Int(numbers), ValueType::Int) => {
                let table = filled(part, nodes, numbers.as_slice(), |number| number, i64::of)?;
                (NumberList::Ints(table.0), table.1)
            }
            (Values::Float(numbers), ValueType::Float) => {
                let table = filled(part, nodes, numbers.as_slice(), |number| number, f64::of)?;
                (NumberList::Floats(table.0), table.1)
            }
            _ => return None,
        };
        Some(NumberTable { least, values, present })
    }

    /// The numbers of some of the nodes, in their order.
    pub(crate) fn of(&self, nodes: &[u32]) -> NumberList {
        match &self.values {
            NumberList::Ints(ints) => NumberList::Ints(self.gather(ints, nodes)),
            NumberList::Floats(floats) => NumberList::Floats(self.gather(floats, nodes)),
        }
    }

    fn gather<T: Copy>(&self, values: &[T], nodes: &[u32]) -> Vec<T> {
        // All of them are among the nodes that the table was made of, so none is out of its span.
        let positions = nodes.iter().map(|node| (node - self.least) as usize);
        match &self.present {
            None => positions.map(|position| values[position]).collect(),
            Some(bits) => {
                let has = |position: &usize| bits[position / 64] >> (position % 64) & 1 != 0;
                positions.filter(has).map(|position| values[position]).collect()
            }
        }
    }
}

/// A number for each id of a span, and a bit for each id that has one; no bits when every node has
/// one.
type Filled<T> = (Vec<T>, Option<Vec<u64>>);

/// The table of a column for some ascending nodes; `None` where a changed value is no number.
fn filled<S: Copy, T: Copy + Default>(
    part: &LangValues,
    nodes: &[u32],
    stored: &[S],
    number: impl Fn(S) -> T,
    changed: impl Fn(ValueRef<'_>) -> Option<T>,
) -> Option<Filled<T>> {
    let (least, span) = (*nodes.first()?, span_of(nodes));
    if part.subjects().is_exactly(nodes) {
        let values = part.all_numbers(stored, number, changed)?;
        if span == nodes.len() {
            return Some((values, None));
        }
        let mut table = vec![T::default(); span];
        for (node, value) in nodes.iter().zip(values) {
            table[(node - least) as usize] = value;
        }
        return Some((table, None));
    }
    let (mut table, mut count) = (vec![T::default(); span], 0);
    part.stored().subjects.for_each_row(nodes, |position, row| {
        table[(nodes[position] - least) as usize] = number(stored[row]);
        count += 1;
    });
    let changes = part.changes_among(nodes, changed)?;
    if changes.is_empty() && count == nodes.len() {
        // Bits are made only where some node has no number.
        return Some((table, None));
    }
    let mut bits = present(part, nodes);
    for (node, number) in changes {
        let at = (node - least) as usize;
        let (word, bit) = (&mut bits[at / 64], 1 << (at % 64));
        *word &= !bit;
        if let Some(number) = number {
            *word |= bit;
            table[at] = number;
        }
    }
    let count: u32 = bits.iter().map(|word| word.count_ones()).sum();
    Some((table, ((count as usize) < nodes.len()).then_some(bits)))
}

/// A bit for each id of a span, set where the node has a stored number.
fn present(part: &LangValues, nodes: &[u32]) -> Vec<u64> {
    let least = nodes.first().copied().unwrap_or_default();
    let mut bits = vec![0; span_of(nodes).div_ceil(64)];
    part.stored().subjects.for_each_row(nodes, |position, _| {
        let at = (nodes[position] - least) as usize;
        bits[at / 64] |= 1 << (at % 64);
    });
    bits
}
