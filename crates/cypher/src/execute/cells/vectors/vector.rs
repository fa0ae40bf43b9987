//! [`Vector`]: the values of an expression for the nodes of a chunk.

use super::bits::{Bits, Truths, Valid, is_valid};
use super::cell::{Cell, Decided, Undecided};
use hexgraph_base::types::DateTime;

/// Values of one type, one for each of some nodes.
#[derive(Debug, Clone)]
pub struct TypedCells<T> {
    /// A value for each node; those of nodes without one have no meaning.
    pub values: Vec<T>,
    /// The nodes that have a value; `None` for all.
    pub valid: Option<Bits>,
}

/// A value for each of some nodes. Values of one type are contiguous, so that an operator is chosen
/// once for all of them.
#[derive(Debug, Clone)]
pub enum Vector<'c> {
    /// One value for all of so many nodes.
    Constant(Cell<'c>, usize),
    /// Booleans.
    Bools(Truths),
    /// Integers.
    Ints(TypedCells<i64>),
    /// Floats.
    Floats(TypedCells<f64>),
    /// Strings.
    Texts(TypedCells<&'c str>),
    /// Instants.
    Times(TypedCells<DateTime>),
    /// Values of several types.
    Cells(Vec<Cell<'c>>),
}

impl<T: Copy> TypedCells<T> {
    /// The value of the node at a position.
    #[inline]
    pub(in crate::execute::cells) fn get(&self, at: usize) -> Option<T> {
        is_valid(&self.valid, at).then(|| self.values[at])
    }

    fn gather(&self, positions: &[u32]) -> TypedCells<T> {
        TypedCells {
            values: positions.iter().map(|at| self.values[*at as usize]).collect(),
            valid: self.valid.as_ref().map(|it| it.gather(positions)),
        }
    }

    /// Values of one type; `None` where a cell is of another one.
    fn of<'c>(
        cells: &[Cell<'c>],
        empty: T,
        value: impl Fn(Cell<'c>) -> Option<T>,
    ) -> Option<TypedCells<T>> {
        let (mut values, mut valid) =
            (Vec::with_capacity(cells.len()), Bits::all(cells.len(), false));
        for (at, cell) in cells.iter().enumerate() {
            if cell.is_null() {
                values.push(empty);
                continue;
            }
            valid.set(at);
            values.push(value(*cell)?);
        }
        let valid = (valid.count() < cells.len()).then_some(valid);
        Some(TypedCells { values, valid })
    }
}

impl<'c> Vector<'c> {
    /// Cells as values of one type, where they have one.
    ///
    /// ```
    /// use hexgraph_cypher::{Cell, Vector};
    ///
    /// let vector = Vector::of_cells(vec![Cell::Null, Cell::Int(2)]);
    /// assert!(matches!(vector, Vector::Ints(ints) if ints.values == [0, 2]));
    /// ```
    pub fn of_cells(cells: Vec<Cell<'c>>) -> Vector<'c> {
        let Some(first) = cells.iter().find(|it| !it.is_null()) else {
            return Vector::Constant(Cell::Null, cells.len());
        };
        let typed = match first {
            Cell::Null => None,
            Cell::Bool(_) => {
                let truth = |cell| if let Cell::Bool(truth) = cell { Some(truth) } else { None };
                TypedCells::of(&cells, false, truth).map(|TypedCells { values, valid }| {
                    Vector::Bools(Truths::new(Bits::of(&values, |it| *it), valid))
                })
            }
            Cell::Int(_) => {
                let int = |cell| if let Cell::Int(number) = cell { Some(number) } else { None };
                TypedCells::of(&cells, 0, int).map(Vector::Ints)
            }
            Cell::Float(_) => {
                let float = |cell| if let Cell::Float(it) = cell { Some(it) } else { None };
                TypedCells::of(&cells, 0.0, float).map(Vector::Floats)
            }
            Cell::Text(_) => {
                let text = |cell| if let Cell::Text(text) = cell { Some(text) } else { None };
                TypedCells::of(&cells, "", text).map(Vector::Texts)
            }
            Cell::Time(empty) => {
                let time = |cell| if let Cell::Time(time) = cell { Some(time) } else { None };
                TypedCells::of(&cells, *empty, time).map(Vector::Times)
            }
        };
        typed.unwrap_or(Vector::Cells(cells))
    }

    pub(in crate::execute::cells) fn len(&self) -> usize {
        match self {
            Vector::Constant(_, len) => *len,
            Vector::Bools(truths) => truths.len(),
            Vector::Ints(ints) => ints.values.len(),
            Vector::Floats(floats) => floats.values.len(),
            Vector::Texts(texts) => texts.values.len(),
            Vector::Times(times) => times.values.len(),
            Vector::Cells(cells) => cells.len(),
        }
    }

    /// The value of the node at a position.
    #[inline]
    pub(in crate::execute::cells) fn cell(&self, at: usize) -> Cell<'c> {
        match self {
            Vector::Constant(cell, _) => *cell,
            Vector::Bools(truths) => truths.get(at).map_or(Cell::Null, Cell::Bool),
            Vector::Ints(ints) => ints.get(at).map_or(Cell::Null, Cell::Int),
            Vector::Floats(floats) => floats.get(at).map_or(Cell::Null, Cell::Float),
            Vector::Texts(texts) => texts.get(at).map_or(Cell::Null, Cell::Text),
            Vector::Times(times) => times.get(at).map_or(Cell::Null, Cell::Time),
            Vector::Cells(cells) => cells[at],
        }
    }

    /// The values of the nodes at some positions.
    pub(in crate::execute::cells) fn gather(&self, positions: &[u32]) -> Vector<'c> {
        match self {
            Vector::Constant(cell, _) => Vector::Constant(*cell, positions.len()),
            Vector::Bools(truths) => Vector::Bools(truths.gather(positions)),
            Vector::Ints(ints) => Vector::Ints(ints.gather(positions)),
            Vector::Floats(floats) => Vector::Floats(floats.gather(positions)),
            Vector::Texts(texts) => Vector::Texts(texts.gather(positions)),
            Vector::Times(times) => Vector::Times(times.gather(positions)),
            Vector::Cells(cells) => {
                Vector::Cells(positions.iter().map(|at| cells[*at as usize]).collect())
            }
        }
    }

    /// The nodes that have a value; `None` for all.
    pub(in crate::execute::cells) fn valid(&self) -> Valid {
        match self {
            Vector::Constant(cell, len) => cell.is_null().then(|| Bits::all(*len, false)),
            Vector::Bools(truths) => truths.valid().clone(),
            Vector::Ints(ints) => ints.valid.clone(),
            Vector::Floats(floats) => floats.valid.clone(),
            Vector::Texts(texts) => texts.valid.clone(),
            Vector::Times(times) => times.valid.clone(),
            Vector::Cells(cells) => Some(Bits::of(cells, |it| !it.is_null())),
        }
    }

    /// The truths of conditions; rows refuse other values.
    pub(in crate::execute::cells) fn truths(&self) -> Decided<Truths> {
        match self {
            Vector::Bools(truths) => Ok(truths.clone()),
            Vector::Constant(cell, len) => Ok(Truths::all(*len, cell.truth()?)),
            Vector::Cells(cells) => {
                let truths = cells.iter().map(|it| it.truth()).collect::<Decided<Vec<_>>>()?;
                Ok(Truths::each(truths.len(), |at| truths[at]))
            }
            _ if self.valid().is_some_and(|it| it.count() == 0) => {
                Ok(Truths::all(self.len(), None))
            }
            Vector::Ints(_) | Vector::Floats(_) | Vector::Texts(_) | Vector::Times(_) => {
                Err(Undecided::Rows)
            }
        }
    }
}
