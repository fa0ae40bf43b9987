//! Cells of a fixed width, those of dates and times among them, and which cells of a column have a
//! value.

use std::sync::Arc;

/// Why a cell does not fit into a column: values of two types that have no common one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{before} and {cell}")]
pub struct MixedTypes {
    /// What the column holds, in the plural.
    pub before: &'static str,
    /// What the cell is, in the plural.
    pub cell: &'static str,
}

/// Cells of a fixed width.
#[derive(Debug, Clone, PartialEq)]
pub struct Values<T> {
    /// One value for each cell; the default value where a cell is null.
    pub values: Vec<T>,
    /// Whether the cell has a value; empty where all have.
    pub valid: Vec<bool>,
}

/// What the numbers of a column of dates or times count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemporalUnit {
    /// Days since 1970-01-01.
    Days,
    /// Nanoseconds since midnight.
    NanosOfDay,
    /// Nanoseconds since 1970-01-01T00:00, in UTC where there is a zone.
    Nanos(TemporalZone),
    /// Microseconds since then.
    Micros(TemporalZone),
}

/// The zone of a column of timestamps: `UTC`, an offset such as `+02:00`, or a name such as
/// `Europe/Berlin`; `None` for local times.
pub type TemporalZone = Option<Arc<str>>;

/// The cells of a column of dates or times.
#[derive(Debug, Clone, PartialEq)]
pub struct Temporals {
    /// What the numbers count.
    pub unit: TemporalUnit,
    /// The numbers.
    pub cells: Values<i64>,
}

impl<T: Clone> Values<T> {
    /// Adds a cell with a value.
    pub fn push(&mut self, value: T) {
        self.values.push(value);
        push_valid(&mut self.valid);
    }

    pub(super) fn append(&mut self, more: Values<T>) {
        append_valid(&mut self.valid, self.values.len(), more.valid, more.values.len());
        self.values.extend(more.values);
    }

    pub(super) fn pad_to(&mut self, len: usize, value: T) {
        pad_valid(&mut self.valid, self.values.len(), len);
        self.values.resize(len.max(self.values.len()), value);
    }
}

impl<T> Default for Values<T> {
    fn default() -> Values<T> {
        Values { values: Vec::new(), valid: Vec::new() }
    }
}

impl Temporals {
    /// Adds the cells of another column after those of this one.
    ///
    /// # Errors
    ///
    /// [`MixedTypes`] for a column of another unit.
    pub(super) fn append(&mut self, more: Temporals) -> Result<(), MixedTypes> {
        if self.unit != more.unit {
            return Err(MixedTypes { before: self.kind(), cell: more.kind() });
        }
        self.cells.append(more.cells);
        Ok(())
    }

    pub(super) fn kind(&self) -> &'static str {
        match self.unit {
            TemporalUnit::Days => "dates",
            TemporalUnit::NanosOfDay => "times of day",
            TemporalUnit::Nanos(_) | TemporalUnit::Micros(_) => "timestamps",
        }
    }
}

/// Says of the next cell that it has a value. A list of these is empty while all cells have one.
pub(super) fn push_valid(valid: &mut Vec<bool>) {
    if !valid.is_empty() {
        valid.push(true);
    }
}

/// Says of the cells from `cells` to before `len` that they are null.
pub(super) fn pad_valid(valid: &mut Vec<bool>, cells: usize, len: usize) {
    if cells < len {
        if valid.is_empty() {
            valid.resize(cells, true);
        }
        valid.resize(len, false);
    }
}

/// Says after `cells` cells which of `len` more have a value.
pub(super) fn append_valid(valid: &mut Vec<bool>, cells: usize, more: Vec<bool>, len: usize) {
    if valid.is_empty() && more.is_empty() {
        return;
    }
    if valid.is_empty() {
        valid.resize(cells, true);
    }
    match more.is_empty() {
        true => valid.resize(cells + len, true),
        false => valid.extend(more),
    }
}
