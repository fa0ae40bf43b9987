//! Columns of a table. All cells of a column have one type, or no value.

use super::name_positions::NamePositions;
use super::offsets::CellOffsets;
use super::values::{MixedTypes, Temporals, Values, append_valid, pad_valid, push_valid};
use crate::types::{DateTime, ObjectCells, ValueRef};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The nanoseconds of a second.
const NANOS_A_SECOND: i64 = 1_000_000_000;

/// A cell before it is added to a column. The text of a cell is not in it: it is a range of a
/// buffer owned by the caller.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// No value.
    Null,
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// Seconds since 1970 in UTC, and nanoseconds.
    Time(i64, u32),
    /// A text: a range of bytes of the buffer.
    Text(Range<usize>),
    /// A list of cells.
    List(Vec<Cell>),
    /// An object: its values by their keys.
    Object(Vec<(Arc<str>, Cell)>),
}

/// The cells of one column. The first value decides the type.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// No value so far: the number of cells, all of them null.
    Null(usize),
    /// Integers of 64 bits.
    Int(Values<i64>),
    /// Floats of 64 bits.
    Float(Values<f64>),
    /// Truth values.
    Bool(Values<bool>),
    /// Instants of the years 1678 to 2261: nanoseconds since 1970 in UTC.
    Time(Values<i64>),
    /// Instants, some of them outside of these years: seconds since 1970 in UTC, and nanoseconds.
    WideTime(Values<(i64, u32)>),
    /// Dates, times of day, and timestamps in a zone or in none. Answers in DQL have none of these.
    Temporal(Box<Temporals>),
    /// Texts.
    Text(Texts),
    /// Lists.
    List(Box<Lists>),
    /// Objects.
    Struct(Box<Structs>),
}

/// One column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The key; `a.b` for the key `b` of the object under `a`.
    pub name: String,
    /// One cell for each row.
    pub cells: Cells,
}

/// Texts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Texts {
    /// The bytes of all texts, joined: UTF-8.
    pub bytes: Vec<u8>,
    /// The end offset of each cell's text.
    pub offsets: CellOffsets,
    /// Whether the cell has a value; empty where all have.
    pub valid: Vec<bool>,
}

/// Lists.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lists {
    /// The items of all lists, joined.
    pub items: Cells,
    /// The end offset of each cell's list among the items.
    pub offsets: CellOffsets,
    /// Whether the cell has a value; empty where all have.
    pub valid: Vec<bool>,
}

/// Objects, stored column by column.
#[derive(Debug, Clone, Default)]
pub struct Structs {
    /// The columns, each with a cell for each object.
    pub columns: Vec<Column>,
    /// Whether the cell has an object.
    pub valid: Vec<bool>,
    /// Follows `columns`, which others may put into another order only together with this.
    pub(super) positions: NamePositions,
}

impl PartialEq for Structs {
    fn eq(&self, other: &Structs) -> bool {
        self.columns == other.columns && self.valid == other.valid
    }
}

/// Returns the index of the column of a name, or appends a new column. The search starts at the
/// expected index.
pub(super) fn column_position(
    columns: &mut Vec<Column>,
    positions: &mut NamePositions,
    expected: usize,
    name: &str,
) -> usize {
    let existing =
        positions.find(name, expected, columns.len(), |position| &columns[position].name);
    existing.unwrap_or_else(|| {
        columns.push(Column { name: name.to_owned(), cells: Cells::default() });
        columns.len() - 1
    })
}

impl Structs {
    /// Objects by their columns, each as long as `valid`.
    pub fn new(columns: Vec<Column>, valid: Vec<bool>) -> Structs {
        Structs { columns, valid, ..Structs::default() }
    }

    /// Adds an object. A key that comes twice has its first value.
    ///
    /// # Errors
    ///
    /// The key whose value is of another kind than those before it, and both kinds; the object is
    /// counted then, too.
    pub(super) fn push(
        &mut self,
        fields: Vec<(Arc<str>, Cell)>,
        texts: &str,
    ) -> Result<(), (String, MixedTypes)> {
        let rows = self.valid.len();
        self.valid.push(true);
        // Most objects have their keys in the same order.
        let mut next = 0;
        for (key, cell) in fields {
            let position = column_position(&mut self.columns, &mut self.positions, next, &key);
            next = position + 1;
            let cells = &mut self.columns[position].cells;
            // The column has a cell of this object already, so the key comes for the second time.
            if rows < cells.len() {
                continue;
            }
            cells.pad_to(rows);
            cells.push(cell, texts).map_err(|kinds| (key.to_string(), kinds))?;
        }
        Ok(())
    }

    fn pad_to(&mut self, len: usize) {
        let len = len.max(self.valid.len());
        self.valid.resize(len, false);
        self.columns.iter_mut().for_each(|column| column.cells.pad_to(len));
    }

    /// Adds the objects of others after these.
    fn append(&mut self, other: Structs) -> Result<(), MixedTypes> {
        let rows = self.valid.len();
        for (next, Column { name, cells: more }) in other.columns.into_iter().enumerate() {
            let position = column_position(&mut self.columns, &mut self.positions, next, &name);
            let cells = &mut self.columns[position].cells;
            cells.pad_to(rows);
            cells.append(more)?;
        }
        self.valid.extend(other.valid);
        self.pad_to(self.valid.len());
        Ok(())
    }
}

impl Cell {
    /// Makes a cell of a value; a text is appended to `texts`. Returns `None` for what no answer
    /// shows: passwords, and floats that are not finite.
    pub fn of(value: ValueRef<'_>, texts: &mut String) -> Option<Cell> {
        Some(match value {
            ValueRef::Int(number) => Cell::Int(number),
            ValueRef::Float(number) if number.is_finite() => Cell::Float(number),
            ValueRef::Float(_) | ValueRef::Password(_) => return None,
            ValueRef::Bool(truth) => Cell::Bool(truth),
            ValueRef::DateTime(time) => {
                let (seconds, nanos) = time.instant();
                Cell::Time(seconds, nanos)
            }
            // No column has 200 bits: the nearest float represents the number, infinite where there
            // is none.
            ValueRef::BigFloat(text) => text.parse().map_or(Cell::Null, Cell::Float),
            ValueRef::Vector(numbers) => {
                Cell::List(numbers.iter().map(|number| Cell::Float(f64::from(*number))).collect())
            }
            _ => Cell::text(&value.to_text(), texts),
        })
    }

    /// Makes a cell of a text, which is appended to `texts`.
    pub fn text(text: &str, texts: &mut String) -> Cell {
        let start = texts.len();
        texts.push_str(text);
        Cell::Text(start..texts.len())
    }
}

impl Cells {
    /// The cells that objects have of a key, [`Cells::Null`] where none of them has a value; `None`
    /// for cells that groups do not have.
    pub(super) fn of(cells: &ObjectCells<'_>) -> Option<Cells> {
        let mut valid: Vec<bool> = (0..cells.len()).map(|position| cells.has(position)).collect();
        if !valid.contains(&true) {
            return Some(Cells::Null(valid.len()));
        }
        if !valid.contains(&false) {
            valid = Vec::new();
        }
        Some(match cells {
            ObjectCells::Texts(text, offsets, _) => {
                let mut all = CellOffsets::default();
                offsets.iter().for_each(|&end| all.push(end));
                Cells::Text(Texts { bytes: text.as_bytes().to_vec(), offsets: all, valid })
            }
            ObjectCells::Ints(ints, _) => Cells::Int(Values { values: ints.to_vec(), valid }),
            ObjectCells::Floats(floats, _) => {
                Cells::Float(Values { values: floats.to_vec(), valid })
            }
            ObjectCells::Bools(truths, _) => Cells::Bool(Values { values: truths.to_vec(), valid }),
            ObjectCells::Times(times, _) => {
                let mut all = Cells::default();
                for (position, time) in times.iter().enumerate() {
                    let (seconds, nanos) = time.instant();
                    let has = cells.has(position);
                    let cell = if has { Cell::Time(seconds, nanos) } else { Cell::Null };
                    all.push(cell, "").ok()?;
                }
                all
            }
            ObjectCells::Uids(_)
            | ObjectCells::Some(_)
            | ObjectCells::Coded(..)
            | ObjectCells::Lists(_) => return None,
        })
    }

    /// Returns the number of cells, nulls included.
    pub fn len(&self) -> usize {
        match self {
            Cells::Null(count) => *count,
            Cells::Int(cells) => cells.values.len(),
            Cells::Float(cells) => cells.values.len(),
            Cells::Bool(cells) => cells.values.len(),
            Cells::Time(cells) => cells.values.len(),
            Cells::WideTime(cells) => cells.values.len(),
            Cells::Temporal(it) => it.cells.values.len(),
            Cells::Text(cells) => cells.offsets.len(),
            Cells::List(cells) => cells.offsets.len(),
            Cells::Struct(cells) => cells.valid.len(),
        }
    }

    /// Returns true when there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Which cells have a value; empty where all have.
    pub fn valid(&self) -> Cow<'_, [bool]> {
        match self {
            Cells::Null(count) => Cow::Owned(vec![false; *count]),
            Cells::Int(cells) => Cow::Borrowed(&cells.valid),
            Cells::Float(cells) => Cow::Borrowed(&cells.valid),
            Cells::Bool(cells) => Cow::Borrowed(&cells.valid),
            Cells::Time(cells) => Cow::Borrowed(&cells.valid),
            Cells::WideTime(cells) => Cow::Borrowed(&cells.valid),
            Cells::Temporal(it) => Cow::Borrowed(&it.cells.valid),
            Cells::Text(cells) => Cow::Borrowed(&cells.valid),
            Cells::List(cells) => Cow::Borrowed(&cells.valid),
            Cells::Struct(cells) => Cow::Borrowed(&cells.valid),
        }
    }

    /// Adds null cells until there are `len` cells.
    pub fn pad_to(&mut self, len: usize) {
        match self {
            Cells::Null(count) => *count = len.max(*count),
            Cells::Int(cells) => cells.pad_to(len, 0),
            Cells::Float(cells) => cells.pad_to(len, 0.0),
            Cells::Bool(cells) => cells.pad_to(len, false),
            Cells::Time(cells) => cells.pad_to(len, 0),
            Cells::WideTime(cells) => cells.pad_to(len, (0, 0)),
            Cells::Temporal(it) => it.cells.pad_to(len, 0),
            Cells::Text(cells) => cells.pad_to(len),
            Cells::List(cells) => cells.pad_to(len),
            Cells::Struct(cells) => cells.pad_to(len),
        }
    }

    /// Makes the columns of all objects as long as their objects are many, those in lists too.
    pub(super) fn complete(&mut self) {
        match self {
            Cells::List(lists) => lists.items.complete(),
            Cells::Struct(structs) => {
                structs.pad_to(structs.valid.len());
                structs.columns.iter_mut().for_each(|column| column.cells.complete());
            }
            _ => {}
        }
    }

    /// Adds a cell. `texts` is the buffer that a text is a range of. When integers and floats meet,
    /// the column becomes one of floats; that takes time linear in its length, once.
    ///
    /// # Errors
    ///
    /// [`MixedTypes`] when the cell is of another type than those before it.
    pub fn push(&mut self, cell: Cell, texts: &str) -> Result<(), MixedTypes> {
        self.fit(&cell);
        let kind = self.kind();
        match (self, cell) {
            (cells, Cell::Null) => cells.pad_to(cells.len() + 1),
            (Cells::Int(cells), Cell::Int(number)) => cells.push(number),
            (Cells::Float(cells), Cell::Float(number)) => cells.push(number),
            (Cells::Float(cells), Cell::Int(number)) => cells.push(number as f64),
            (Cells::Bool(cells), Cell::Bool(truth)) => cells.push(truth),
            (Cells::Time(cells), Cell::Time(seconds, nanos)) => {
                cells.push(in_nanos(seconds, nanos).expect("the column fits the cell"));
            }
            (Cells::WideTime(cells), Cell::Time(seconds, nanos)) => cells.push((seconds, nanos)),
            (Cells::Text(cells), Cell::Text(range)) => cells.push(&texts[range]),
            (Cells::List(cells), Cell::List(items)) => cells.push(items, texts)?,
            (Cells::Struct(cells), Cell::Object(fields)) => {
                cells.push(fields, texts).map_err(|(_, kinds)| kinds)?;
            }
            (_, cell) => return Err(MixedTypes { before: kind, cell: cell.kind() }),
        }
        Ok(())
    }

    /// Adds the cells of another column after those of this one. Where integers meet floats, all
    /// become floats. O(cells added), and once O(all cells) where the type changes.
    ///
    /// # Errors
    ///
    /// [`MixedTypes`] when the columns hold values of different types.
    pub fn append(&mut self, other: Cells) -> Result<(), MixedTypes> {
        if let Cells::Null(count) = other {
            self.pad_to(self.len() + count);
            return Ok(());
        }
        if let Cells::Null(count) = *self {
            // The nulls come first, and then the other's cells after them.
            *self = other.emptied();
            self.pad_to(count);
        }
        let (before, cell) = (self.kind(), other.kind());
        match (&*self, &other) {
            (Cells::Int(_), Cells::Float(_)) => self.fit(&Cell::Float(0.0)),
            (Cells::Time(_), Cells::WideTime(_)) => self.widen(),
            _ => {}
        }
        match (self, other) {
            (Cells::Int(cells), Cells::Int(more)) => cells.append(more),
            (Cells::Float(cells), Cells::Float(more)) => cells.append(more),
            (Cells::Float(cells), Cells::Int(Values { values, valid })) => {
                let values = values.into_iter().map(|number| number as f64).collect();
                cells.append(Values { values, valid });
            }
            (Cells::Bool(cells), Cells::Bool(more)) => cells.append(more),
            (Cells::Time(cells), Cells::Time(more)) => cells.append(more),
            (Cells::WideTime(cells), Cells::WideTime(more)) => cells.append(more),
            (Cells::WideTime(cells), Cells::Time(more)) => cells.append(wide(&more)),
            (Cells::Temporal(cells), Cells::Temporal(more)) => cells.append(*more)?,
            (Cells::Text(cells), Cells::Text(more)) => {
                // The old number of cells is needed here, so the offsets grow after this; likewise
                // for lists.
                append_valid(&mut cells.valid, cells.offsets.len(), more.valid, more.offsets.len());
                cells.bytes.extend_from_slice(&more.bytes);
                cells.offsets.append(&more.offsets);
            }
            (Cells::List(cells), Cells::List(more)) => {
                append_valid(&mut cells.valid, cells.offsets.len(), more.valid, more.offsets.len());
                cells.items.append(more.items)?;
                cells.offsets.append(&more.offsets);
            }
            (Cells::Struct(cells), Cells::Struct(more)) => cells.append(*more)?,
            _ => return Err(MixedTypes { before, cell }),
        }
        Ok(())
    }

    /// A column of the same type without cells.
    fn emptied(&self) -> Cells {
        match self {
            Cells::Null(_) => Cells::default(),
            Cells::Int(_) => Cells::Int(Values::default()),
            Cells::Float(_) => Cells::Float(Values::default()),
            Cells::Bool(_) => Cells::Bool(Values::default()),
            Cells::Time(_) => Cells::Time(Values::default()),
            Cells::WideTime(_) => Cells::WideTime(Values::default()),
            Cells::Temporal(it) => {
                let unit = it.unit.clone();
                Cells::Temporal(Box::new(Temporals { unit, cells: Values::default() }))
            }
            Cells::Text(_) => Cells::Text(Texts::default()),
            Cells::List(lists) => {
                Cells::List(Box::new(Lists { items: lists.items.emptied(), ..Lists::default() }))
            }
            Cells::Struct(_) => Cells::Struct(Box::default()),
        }
    }

    /// The bytes of the cells in memory, about.
    pub fn byte_len(&self) -> usize {
        match self {
            Cells::Null(_) => 0,
            // Eight bytes of value, and one that says whether it is valid; texts and lists have an
            // end of four instead.
            Cells::Int(_) | Cells::Float(_) | Cells::Time(_) | Cells::Temporal(_) => 9 * self.len(),
            Cells::Bool(_) => 2 * self.len(),
            Cells::WideTime(_) => 17 * self.len(),
            Cells::Text(cells) => 5 * self.len() + cells.bytes.len(),
            Cells::List(cells) => 5 * self.len() + cells.items.byte_len(),
            Cells::Struct(cells) => {
                let columns = cells.columns.iter().map(|column| column.cells.byte_len());
                cells.valid.len() + columns.sum::<usize>()
            }
        }
    }

    /// Changes the type of the column to that of the cell, if all cells so far can be converted.
    fn fit(&mut self, cell: &Cell) {
        // Integers beyond 2^53 are rounded then.
        if let (Cells::Int(cells), Cell::Float(_)) = (&*self, cell) {
            let values = cells.values.iter().map(|number| *number as f64).collect();
            *self = Cells::Float(Values { values, valid: cells.valid.clone() });
        }
        if let (Cells::Time(_), Cell::Time(seconds, nanos)) = (&*self, cell)
            && in_nanos(*seconds, *nanos).is_none()
        {
            self.widen();
        }
        let Cells::Null(count) = *self else { return };
        *self = match cell {
            Cell::Null => return,
            Cell::Int(_) => Cells::Int(Values::default()),
            Cell::Float(_) => Cells::Float(Values::default()),
            Cell::Bool(_) => Cells::Bool(Values::default()),
            Cell::Time(seconds, nanos) if in_nanos(*seconds, *nanos).is_none() => {
                Cells::WideTime(Values::default())
            }
            Cell::Time(..) => Cells::Time(Values::default()),
            Cell::Text(_) => Cells::Text(Texts::default()),
            Cell::List(_) => Cells::List(Box::default()),
            Cell::Object(_) => Cells::Struct(Box::default()),
        };
        self.pad_to(count);
    }

    /// Gives times space for any year.
    fn widen(&mut self) {
        if let Cells::Time(cells) = &*self {
            *self = Cells::WideTime(wide(cells));
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Cells::Null(_) => "nothing",
            Cells::Int(_) | Cells::Float(_) => "numbers",
            Cells::Bool(_) => "booleans",
            Cells::Time(_) | Cells::WideTime(_) => "times",
            Cells::Temporal(it) => it.kind(),
            Cells::Text(_) => "texts",
            Cells::List(_) => "lists",
            Cells::Struct(_) => "objects",
        }
    }
}

impl Default for Cells {
    fn default() -> Cells {
        Cells::Null(0)
    }
}

impl Cell {
    fn kind(&self) -> &'static str {
        match self {
            Cell::Null => "nothing",
            Cell::Int(_) | Cell::Float(_) => "numbers",
            Cell::Bool(_) => "booleans",
            Cell::Time(..) => "times",
            Cell::Text(_) => "texts",
            Cell::List(_) => "lists",
            Cell::Object(_) => "objects",
        }
    }
}

impl Texts {
    /// The text of a cell; `None` where it is null.
    ///
    /// # Panics
    ///
    /// When there is no such cell.
    pub fn get(&self, cell: usize) -> Option<&str> {
        let bytes = &self.bytes[self.offsets.range(cell)];
        let is_valid = self.valid.is_empty() || self.valid[cell];
        is_valid.then(|| str::from_utf8(bytes).expect("the bytes of a cell are a text"))
    }

    /// Adds a cell with a text.
    pub fn push(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.offsets.push(self.bytes.len());
        push_valid(&mut self.valid);
    }

    fn pad_to(&mut self, len: usize) {
        pad_valid(&mut self.valid, self.offsets.len(), len);
        self.offsets.pad_to(len);
    }
}

impl Lists {
    fn push(&mut self, items: Vec<Cell>, texts: &str) -> Result<(), MixedTypes> {
        for item in items {
            self.items.push(item, texts)?;
        }
        self.end_list();
        Ok(())
    }

    /// Adds a cell with a list of the items after the last list.
    pub fn end_list(&mut self) {
        self.offsets.push(self.items.len());
        push_valid(&mut self.valid);
    }

    fn pad_to(&mut self, len: usize) {
        pad_valid(&mut self.valid, self.offsets.len(), len);
        self.offsets.pad_to(len);
    }
}

/// As [`DateTime::unix_nanos`].
fn in_nanos(seconds: i64, nanos: u32) -> Option<i64> {
    DateTime { seconds, nanos, offset_minutes: 0 }.unix_nanos()
}

/// The same instants as seconds and nanoseconds.
fn wide(times: &Values<i64>) -> Values<(i64, u32)> {
    let parts =
        |nanos: &i64| (nanos.div_euclid(NANOS_A_SECOND), nanos.rem_euclid(NANOS_A_SECOND) as u32);
    Values { values: times.values.iter().map(parts).collect(), valid: times.valid.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_takes_the_kind_of_its_first_value() {
        let mut cells = Cells::default();
        cells.pad_to(2);
        cells.push(Cell::Int(7), "").unwrap();
        cells.push(Cell::Float(0.5), "").unwrap();
        cells.push(Cell::Int(8), "").unwrap();
        cells.push(Cell::Null, "").unwrap();
        let want = Values {
            values: vec![0.0, 0.0, 7.0, 0.5, 8.0, 0.0],
            valid: vec![false, false, true, true, true, false],
        };
        assert_eq!(cells, Cells::Float(want));
        let error = cells.push(Cell::Text(0..1), "a").unwrap_err();
        assert_eq!(error.to_string(), "numbers and texts");
    }

    proptest::proptest! {
        #[test]
        fn columns_in_chunks_equal_the_column(
            numbers in proptest::collection::vec(proptest::option::of((proptest::bool::ANY, -9i64..9)), 0..20),
            texts in proptest::collection::vec(proptest::option::of("[a-c]{0,3}"), 0..20),
            cut in 0usize..20,
        ) {
            let number = |given: &Option<(bool, i64)>| match given {
                None => Cell::Null,
                Some((true, number)) => Cell::Int(*number),
                Some((false, number)) => Cell::Float(*number as f64 / 2.0),
            };
            let of = |cells: &[Cell], buffer: &str| {
                let mut column = Cells::default();
                cells.iter().for_each(|cell| column.push(cell.clone(), buffer).unwrap());
                column
            };
            let mut buffer = String::new();
            let numbers: Vec<Cell> = numbers.iter().map(number).collect();
            let texts: Vec<Cell> = texts
                .iter()
                .map(|text| text.as_ref().map_or(Cell::Null, |text| Cell::text(text, &mut buffer)))
                .collect();
            let lists: Vec<Cell> = texts.chunks(3).map(|items| Cell::List(items.to_vec())).collect();
            for cells in [numbers, texts, lists] {
                let cut = cut.min(cells.len());
                let mut chunks = of(&cells[..cut], &buffer);
                chunks.append(of(&cells[cut..], &buffer)).unwrap();
                proptest::prop_assert_eq!(chunks, of(&cells, &buffer));
            }
        }
    }

    #[test]
    fn columns_of_two_types_are_refused() {
        let mut numbers = Cells::default();
        numbers.push(Cell::Int(1), "").unwrap();
        let mut texts = Cells::default();
        texts.push(Cell::Text(0..1), "a").unwrap();
        assert_eq!(numbers.append(texts).unwrap_err().to_string(), "numbers and texts");
    }

    #[test]
    fn lists_and_texts_know_where_they_end() {
        let mut cells = Cells::default();
        let list = |items: &[(usize, usize)]| {
            Cell::List(items.iter().map(|(start, end)| Cell::Text(*start..*end)).collect())
        };
        cells.push(list(&[(0, 2), (2, 3)]), "abc").unwrap();
        cells.push(Cell::Null, "").unwrap();
        cells.push(list(&[]), "").unwrap();
        let Cells::List(lists) = cells else { panic!("no lists") };
        assert_eq!(
            (&lists.offsets, lists.valid.as_slice()),
            (&CellOffsets::Narrow(vec![0, 2, 2, 2]), &[true, false, true][..])
        );
        let Cells::Text(texts) = lists.items else { panic!("no texts") };
        assert_eq!(
            (&texts.bytes[..], &texts.offsets),
            (&b"abc"[..], &CellOffsets::Narrow(vec![0, 2, 3]))
        );
        assert_eq!((texts.get(1), &texts.valid[..]), (Some("c"), &[][..]));
    }

    /// An instant out of the range of nanoseconds makes seconds of all.
    #[test]
    fn times_are_nanoseconds_while_they_fit() {
        let mut near = Cells::default();
        near.push(Cell::Time(-2, 999_999_999), "").unwrap();
        assert_eq!(near, Cells::Time(Values { values: vec![-1_000_000_001], valid: vec![] }));
        let mut far = near.clone();
        far.push(Cell::Time(1 << 40, 5), "").unwrap();
        far.push(Cell::Time(3, 0), "").unwrap();
        let values = vec![(-2, 999_999_999), (1 << 40, 5), (3, 0)];
        assert_eq!(far, Cells::WideTime(Values { values, valid: vec![] }));
        let mut both = near.clone();
        both.append(far.clone()).unwrap();
        far.append(near).unwrap();
        assert_eq!((both.len(), far.len()), (4, 4));
        let Cells::WideTime(far) = far else { panic!("not wide") };
        assert_eq!(far.values[3], (-2, 999_999_999));
    }
}
