//! Reads whole columns a batch of nodes at a time, with what changed since they were built.
//!
//! The nodes of a batch ascend, and so do the batches. Their rows are mostly one range of the column, which is then read as a
//! slice, in loops that the compiler turns into vector instructions. The changes are taken from the version once, as an
//! ascending list, and put in place beside the batches: each costs a step of the walk over them and not a search.

use crate::exec::select::numbers::rows_of;
use crate::graph::{LangValues, Row};
use crate::storage::{Array, FrozenBitmap, Values, gallop};
use bytemuck::Pod;
use hexgraph_base::types::{Value, ValueType};
use std::ops::Range;

/// The number of nodes that are read at a time: few enough that what is read of them stays in the nearest cache.
pub(crate) const BATCH: usize = 4096;

/// Stands for the row of a node that has none.
const NO_ROW: u32 = u32::MAX;

/// The rows of the nodes of a batch.
pub(crate) enum Rows<'r> {
    /// All of them have one, and they lie behind one another.
    Run(Range<usize>),
    /// The row of each node, ascending, or [`NO_ROW`].
    Each(&'r [u32]),
}

impl Rows<'_> {
    /// Adds what is stored for each node to a list, and `missing` for a node without a row.
    pub(crate) fn read<S: Pod, T: Copy>(
        &self,
        stored: &Array<S>,
        missing: T,
        of: impl Fn(S) -> T,
        out: &mut Vec<T>,
    ) {
        match self {
            Rows::Run(rows) => out.extend(stored.slice(rows.clone()).iter().map(|item| of(*item))),
            Rows::Each(rows) => {
                // Only what lies between the first and the last row is touched of a mapped column.
                let has_row = |row: &&u32| **row != NO_ROW;
                let first = rows.iter().find(has_row).map_or(0, |row| *row as usize);
                let end = rows.iter().rfind(has_row).map_or(0, |row| *row as usize + 1);
                let items = stored.slice(first..end);
                out.extend(rows.iter().map(|&row| match row {
                    NO_ROW => missing,
                    row => of(items[row as usize - first]),
                }));
            }
        }
    }

    /// The row of each node, or `None`, in the order of the nodes.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(Option<usize>)) {
        match self {
            Rows::Run(rows) => rows.clone().for_each(|row| visit(Some(row))),
            Rows::Each(rows) => rows.iter().for_each(|&row| match row {
                NO_ROW => visit(None),
                row => visit(Some(row as usize)),
            }),
        }
    }
}

/// Finds the rows of batches.
#[derive(Default)]
pub(crate) struct RowFinder {
    rows: Vec<u32>,
}

impl RowFinder {
    /// The rows of nodes, which ascend. O(log subjects) where neither they nor the subjects have gaps, else as
    /// [`rows_of`].
    pub(crate) fn find(&mut self, subjects: &FrozenBitmap, nodes: &[u32]) -> Rows<'_> {
        if let Some(run) = subjects.rows_of_run(nodes) {
            return Rows::Run(run);
        }
        self.rows.clear();
        self.rows.resize(nodes.len(), NO_ROW);
        rows_of(subjects, nodes, |place, row| self.rows[place] = row as u32);
        Rows::Each(&self.rows)
    }
}

/// The rows of a column from that of the first of some nodes to that of the last; the ends need not have one.
pub(crate) fn rows_between(subjects: &FrozenBitmap, nodes: &[u32]) -> Range<usize> {
    let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return 0..0 };
    subjects.rank(first)..subjects.rank(last) + usize::from(subjects.contains(last))
}

/// What nodes have that changed since their column was built, ascending by node.
pub(crate) struct Overlay<T> {
    changes: Vec<(u32, T)>,
    /// The number of changes before those of the next batch.
    done: usize,
}

impl<T: Copy> Overlay<T> {
    /// An overlay of changes, which ascend by node.
    pub(crate) fn new(changes: Vec<(u32, T)>) -> Overlay<T> {
        Overlay { changes, done: 0 }
    }

    /// The bytes that the changes take.
    pub(crate) fn byte_len(&self) -> usize {
        size_of::<(u32, T)>() * self.changes.len()
    }

    /// Calls `visit` with the place of each node of a batch that changed, and what it has now. Changes of other nodes up to
    /// the last of the batch are passed over.
    pub(crate) fn for_each(&mut self, nodes: &[u32], mut visit: impl FnMut(usize, T)) {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return };
        let mut place = 0;
        while let Some(&(node, change)) = self.changes.get(self.done).filter(|it| it.0 <= last) {
            self.done += 1;
            // The place is known where the nodes have no gaps; the next change is mostly near otherwise.
            let guess = node.wrapping_sub(first) as usize;
            place = match nodes.get(guess) == Some(&node) {
                true => guess,
                false => place + gallop(&nodes[place..], |&other| other < node),
            };
            if nodes.get(place) == Some(&node) {
                visit(place, change);
            }
        }
    }
}

/// Numbers as they are stored.
enum Stored<'a, T: Pod> {
    /// Narrower ones.
    Narrow(&'a Array<i32>, fn(i32) -> T),
    /// As they are read.
    Plain(&'a Array<T>),
}

/// Reads the numbers of one type of a column.
pub(crate) struct Numbers<'a, T: Pod> {
    subjects: &'a FrozenBitmap,
    stored: Stored<'a, T>,
    changes: Overlay<Option<T>>,
    finder: RowFinder,
    numbers: Vec<T>,
    has: Vec<bool>,
}

impl<'a, T: Pod> Numbers<'a, T> {
    /// The numbers of some nodes, which ascend, as they are stored and changed. `None` when a change is no such number.
    fn new(
        part: &'a LangValues,
        nodes: &[u32],
        stored: Stored<'a, T>,
        changed: impl Fn(&Value) -> Option<T>,
    ) -> Option<Numbers<'a, T>> {
        let (mut changes, mut are_numbers) = (Vec::new(), true);
        part.changed_near(nodes, |node, row: Option<&Row>| {
            let number = row.and_then(|row| row.values.first()).map(|(value, _)| changed(value));
            are_numbers &= !matches!(number, Some(None));
            changes.push((node, number.flatten()));
        });
        are_numbers.then(|| Numbers {
            subjects: &part.base.column.subjects,
            stored,
            changes: Overlay::new(changes),
            finder: RowFinder::default(),
            numbers: Vec::new(),
            has: Vec::new(),
        })
    }

    /// The bytes that the changes take.
    pub(crate) fn byte_len(&self) -> usize {
        self.changes.byte_len()
    }

    /// The numbers of a batch, one for each node, and whether each node has one, an empty list where all do. The entry of a
    /// node without a number has no meaning.
    pub(crate) fn read(&mut self, nodes: &[u32]) -> (&[T], &[bool]) {
        let Numbers { subjects, stored, changes, finder, numbers, has } = self;
        numbers.clear();
        has.clear();
        let rows = finder.find(subjects, nodes);
        match stored {
            Stored::Narrow(stored, number) => rows.read(stored, T::zeroed(), *number, numbers),
            Stored::Plain(stored) => rows.read(stored, T::zeroed(), |number| number, numbers),
        }
        if let Rows::Each(_) = rows {
            rows.for_each(|row| has.push(row.is_some()));
        }
        changes.for_each(nodes, |place, change| {
            if let Some(number) = change {
                numbers[place] = number;
            } else if has.is_empty() {
                has.resize(nodes.len(), true);
            }
            if let Some(has) = has.get_mut(place) {
                *has = change.is_some();
            }
        });
        (numbers, has)
    }
}

/// A column of numbers that is read batch by batch.
pub(crate) enum NumberColumn<'a> {
    /// Ints.
    Int(Numbers<'a, i64>),
    /// Floats.
    Float(Numbers<'a, f64>),
}

impl<'a> NumberColumn<'a> {
    /// The numbers of some nodes, which ascend; `None` when the values are no numbers of the wanted type. O(changes between
    /// the first and the last node).
    pub(crate) fn new(
        part: &'a LangValues,
        wanted: ValueType,
        nodes: &[u32],
    ) -> Option<NumberColumn<'a>> {
        let column = &part.base.column;
        if column.rows.is_some() {
            return None;
        }
        let int = |value: &Value| if let Value::Int(int) = value { Some(*int) } else { None };
        let float = |value: &Value| if let Value::Float(it) = value { Some(*it) } else { None };
        Some(match (&column.values, wanted) {
            (Values::SmallInt(ints), ValueType::Int) => {
                let stored = Stored::Narrow(ints, i64::from);
                NumberColumn::Int(Numbers::new(part, nodes, stored, int)?)
            }
            (Values::Int(ints), ValueType::Int) => {
                NumberColumn::Int(Numbers::new(part, nodes, Stored::Plain(ints), int)?)
            }
            (Values::Float(floats), ValueType::Float) => {
                NumberColumn::Float(Numbers::new(part, nodes, Stored::Plain(floats), float)?)
            }
            _ => return None,
        })
    }

    /// The bytes that the changes take.
    pub(crate) fn byte_len(&self) -> usize {
        match self {
            NumberColumn::Int(numbers) => numbers.byte_len(),
            NumberColumn::Float(numbers) => numbers.byte_len(),
        }
    }
}
