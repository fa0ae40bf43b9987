//! [`Cell`]: a value that is copied.

use hexgraph_base::types::{DateTime, Error};
use hexgraph_scalar::{Comparison, Value, compare, equals, instant_component, instant_value};
use std::cmp::Ordering;

/// A value of a property, or of an expression, without memory of its own.
#[derive(Debug, Clone, Copy)]
pub enum Cell<'c> {
    /// No value.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Text(&'c str),
    /// An instant.
    Time(DateTime),
}

/// The offset of an instant whose time zone is not in the cell: only the instant is compared.
const NO_OFFSET: i16 = i16::MIN;

/// Why cells have no result.
#[derive(Debug)]
pub(in crate::execute) enum Undecided {
    /// Rows decide.
    Rows,
    /// The graph fails.
    Failed(Error),
}

impl From<Error> for Undecided {
    fn from(error: Error) -> Undecided {
        Undecided::Failed(error)
    }
}

/// A result that perhaps only rows have.
pub(in crate::execute) type Decided<T> = Result<T, Undecided>;

impl<'c> Cell<'c> {
    /// A value as a cell; `None` for one that has none.
    pub(in crate::execute::cells) fn of(value: &'c Value) -> Option<Cell<'c>> {
        Some(match value {
            Value::Null => Cell::Null,
            Value::Bool(truth) => Cell::Bool(*truth),
            Value::Int(number) => Cell::Int(*number),
            Value::Float(number) => Cell::Float(*number),
            Value::String(text) => Cell::Text(text),
            Value::DateTime(time) => {
                let instant = time.timestamp();
                let nanos = i64::from(instant.subsec_nanosecond());
                let time = DateTime::from_unix(instant.as_second(), nanos);
                Cell::Time(DateTime { offset_minutes: NO_OFFSET, ..time })
            }
            _ => return None,
        })
    }

    /// The cell as a value.
    pub(in crate::execute::cells) fn value(self) -> Decided<Value> {
        Ok(match self {
            Cell::Null => Value::Null,
            Cell::Bool(truth) => Value::Bool(truth),
            Cell::Int(number) => Value::Int(number),
            Cell::Float(number) => Value::Float(number),
            Cell::Text(text) => Value::from(text),
            Cell::Time(time) => instant_value(local(time)?).ok_or(Undecided::Rows)?,
        })
    }

    /// A component of an instant.
    pub(in crate::execute::cells) fn component(self, name: &str) -> Decided<Cell<'c>> {
        match self {
            Cell::Null => Ok(Cell::Null),
            Cell::Time(time) => {
                instant_component(local(time)?, name).map(Cell::Int).ok_or(Undecided::Rows)
            }
            Cell::Bool(_) | Cell::Int(_) | Cell::Float(_) | Cell::Text(_) => Err(Undecided::Rows),
        }
    }

    pub(in crate::execute::cells) fn is_null(self) -> bool {
        matches!(self, Cell::Null)
    }

    /// The truth of a condition; `None` is null.
    pub(in crate::execute::cells) fn truth(self) -> Decided<Option<bool>> {
        match self {
            Cell::Null => Ok(None),
            Cell::Bool(truth) => Ok(Some(truth)),
            Cell::Int(_) | Cell::Float(_) | Cell::Text(_) | Cell::Time(_) => Err(Undecided::Rows),
        }
    }

    /// A number, whose value needs no memory.
    fn number(self) -> Option<Value> {
        match self {
            Cell::Int(number) => Some(Value::Int(number)),
            Cell::Float(number) => Some(Value::Float(number)),
            Cell::Null | Cell::Bool(_) | Cell::Text(_) | Cell::Time(_) => None,
        }
    }

    /// The order of two cells of one kind that is not a number.
    fn order(self, other: Cell<'_>) -> Option<Ordering> {
        match (self, other) {
            (Cell::Bool(one), Cell::Bool(other)) => Some(one.cmp(&other)),
            (Cell::Text(one), Cell::Text(other)) => Some(one.cmp(other)),
            (Cell::Time(one), Cell::Time(other)) => {
                Some((one.seconds, one.nanos).cmp(&(other.seconds, other.nanos)))
            }
            _ => None,
        }
    }

    /// `=`; `None` is null.
    #[inline]
    pub(in crate::execute::cells) fn equals(self, other: Cell<'_>) -> Option<bool> {
        match (self, other) {
            (Cell::Null, _) | (_, Cell::Null) => None,
            (Cell::Int(one), Cell::Int(other)) => Some(one == other),
            (Cell::Float(one), Cell::Float(other)) => Some(one == other),
            _ => match (self.number(), other.number()) {
                (Some(one), Some(other)) => equals(&one, &other),
                _ => Some(self.order(other) == Some(Ordering::Equal)),
            },
        }
    }

    /// `<` and the like; `None` is null.
    #[inline]
    pub(in crate::execute::cells) fn compares(
        self,
        comparison: Comparison,
        other: Cell<'_>,
    ) -> Option<bool> {
        match (self, other) {
            (Cell::Null, _) | (_, Cell::Null) => None,
            (Cell::Int(one), Cell::Int(other)) => Some(comparison.holds(one.cmp(&other))),
            (Cell::Float(one), Cell::Float(other)) => {
                Some(one.partial_cmp(&other).is_some_and(|it| comparison.holds(it)))
            }
            _ => match (self.number(), other.number()) {
                (Some(one), Some(other)) => compare(&one, comparison, &other),
                _ => self.order(other).map(|it| comparison.holds(it)),
            },
        }
    }
}

/// The seconds, the nanoseconds and the offset in seconds of an instant.
fn local(time: DateTime) -> Decided<(i64, u32, i32)> {
    match time.offset_minutes {
        NO_OFFSET => Err(Undecided::Rows),
        minutes => Ok((time.seconds, time.nanos, i32::from(minutes) * 60)),
    }
}
