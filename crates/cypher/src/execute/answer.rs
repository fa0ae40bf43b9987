//! The columns of an answer.

use hexgraph_base::answer::{Cells, Texts, Values};
use hexgraph_base::types::Result;
use hexgraph_scalar::Value;
use std::mem;
use std::ops::ControlFlow;

/// The bytes of a number, and of the flag that says whether it is null.
const CELL_BYTES: usize = 9;

/// A column of an answer.
#[derive(Debug, Clone)]
pub enum AnswerColumn {
    /// Null, booleans, integers, floats or strings: values of one type, contiguous.
    Typed(Cells),
    /// Values of several types, or of other ones.
    Any(Vec<Value>),
}

/// What receives the rows of a query.
pub trait AnswerSink {
    /// Adds a row, until it breaks off. The values of the row may be moved out.
    ///
    /// # Errors
    ///
    /// Those of the sink, which stop the query.
    fn row(&mut self, values: &mut Vec<Value>) -> Result<ControlFlow<()>>;

    /// Adds rows by their columns.
    ///
    /// # Errors
    ///
    /// As [`AnswerSink::row`].
    fn rows(&mut self, columns: Vec<AnswerColumn>) -> Result<ControlFlow<()>>;
}

impl Default for AnswerColumn {
    fn default() -> AnswerColumn {
        AnswerColumn::Typed(Cells::default())
    }
}

impl AnswerColumn {
    /// The number of values.
    ///
    /// ```
    /// use hexgraph_cypher::AnswerColumn;
    ///
    /// assert_eq!(AnswerColumn::default().len(), 0);
    /// ```
    pub fn len(&self) -> usize {
        match self {
            AnswerColumn::Typed(cells) => cells.len(),
            AnswerColumn::Any(values) => values.len(),
        }
    }

    /// Whether there is no value.
    ///
    /// ```
    /// use hexgraph_cypher::AnswerColumn;
    ///
    /// assert!(AnswerColumn::default().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of the values without those inside of lists and maps, about.
    ///
    /// ```
    /// use hexgraph_cypher::AnswerColumn;
    ///
    /// let mut column = AnswerColumn::default();
    /// column.push(7.into());
    /// assert_eq!(column.byte_len(), 9);
    /// ```
    pub fn byte_len(&self) -> usize {
        match self {
            AnswerColumn::Typed(cells) => cells.byte_len(),
            AnswerColumn::Any(values) => values.len() * size_of::<Value>(),
        }
    }

    /// The value in a row.
    ///
    /// ```
    /// use hexgraph_cypher::AnswerColumn;
    ///
    /// let mut column = AnswerColumn::default();
    /// column.push("Ada".into());
    /// assert_eq!(column.value(0).to_string(), "Ada");
    /// ```
    ///
    /// # Panics
    ///
    /// When there is no such row.
    pub fn value(&self, row: usize) -> Value {
        fn of<T: Copy>(cells: &Values<T>, row: usize) -> Option<T> {
            let is_valid = cells.valid.is_empty() || cells.valid[row];
            is_valid.then(|| cells.values[row])
        }
        let value = match self {
            AnswerColumn::Any(values) => Some(values[row].clone()),
            AnswerColumn::Typed(Cells::Int(cells)) => of(cells, row).map(Value::Int),
            AnswerColumn::Typed(Cells::Float(cells)) => of(cells, row).map(Value::Float),
            AnswerColumn::Typed(Cells::Bool(cells)) => of(cells, row).map(Value::Bool),
            AnswerColumn::Typed(Cells::Text(texts)) => texts.get(row).map(Value::from),
            AnswerColumn::Typed(_) => None,
        };
        value.unwrap_or(Value::Null)
    }

    /// The bytes that a value needs, and those of the values before it where it changes their form.
    ///
    /// ```
    /// use hexgraph_cypher::AnswerColumn;
    ///
    /// let mut column = AnswerColumn::default();
    /// (0..9).for_each(|number| column.push(number.into()));
    /// assert!(column.bytes_of(&1.into()) < 32);
    /// assert!(9 * 16 < column.bytes_of(&"a text".into()));
    /// ```
    pub fn bytes_of(&self, value: &Value) -> usize {
        let text = if let Value::String(text) = value { text.len() } else { 0 };
        let fits = match (self, value) {
            (AnswerColumn::Any(_), _) => return size_of::<Value>() + text,
            (_, Value::Null) => true,
            (AnswerColumn::Typed(cells), Value::Bool(_)) => {
                is_or_null(cells, |it| matches!(it, Cells::Bool(_)))
            }
            (AnswerColumn::Typed(cells), Value::Int(_)) => {
                is_or_null(cells, |it| matches!(it, Cells::Int(_)))
            }
            (AnswerColumn::Typed(cells), Value::Float(_)) => {
                is_or_null(cells, |it| matches!(it, Cells::Float(_)))
            }
            (AnswerColumn::Typed(cells), Value::String(_)) => {
                is_or_null(cells, |it| matches!(it, Cells::Text(_)))
            }
            _ => false,
        };
        match fits {
            // A buffer doubles as it grows.
            true => 2 * (CELL_BYTES + text),
            false => (self.len() + 1) * size_of::<Value>() + self.byte_len() + text,
        }
    }

    /// As [`AnswerColumn::bytes_of`], of all values of another column.
    ///
    /// ```
    /// use hexgraph_cypher::AnswerColumn;
    ///
    /// let mut column = AnswerColumn::default();
    /// column.push(7.into());
    /// assert_eq!(column.bytes_of_all(&column), 18);
    /// ```
    pub fn bytes_of_all(&self, other: &AnswerColumn) -> usize {
        match (self, other) {
            (AnswerColumn::Typed(one), AnswerColumn::Typed(more)) if have_one_type(one, more) => {
                2 * more.byte_len()
            }
            (AnswerColumn::Any(_), other) => other.len() * size_of::<Value>() + other.byte_len(),
            (one, other) => {
                (one.len() + other.len()) * size_of::<Value>() + one.byte_len() + other.byte_len()
            }
        }
    }

    /// Adds a value. Where it has another type than those before it, the column is one of any
    /// values from then on, in time linear in its length, once.
    ///
    /// ```
    /// use hexgraph_cypher::AnswerColumn;
    ///
    /// let mut column = AnswerColumn::default();
    /// column.push(1.into());
    /// column.push("two".into());
    /// assert_eq!((column.value(0).to_string(), column.len()), ("1".to_owned(), 2));
    /// ```
    pub fn push(&mut self, value: Value) {
        let AnswerColumn::Typed(cells) = self else {
            self.values().push(value);
            return;
        };
        if let Cells::Null(count) = *cells {
            let typed = match value {
                Value::Bool(_) => Some(Cells::Bool(Values::default())),
                Value::Int(_) => Some(Cells::Int(Values::default())),
                Value::Float(_) => Some(Cells::Float(Values::default())),
                Value::String(_) => Some(Cells::Text(Texts::default())),
                _ => None,
            };
            if let Some(typed) = typed {
                *cells = typed;
                cells.pad_to(count);
            }
        }
        match (cells, &value) {
            (cells, Value::Null) => cells.pad_to(cells.len() + 1),
            (Cells::Bool(cells), Value::Bool(truth)) => cells.push(*truth),
            (Cells::Int(cells), Value::Int(number)) => cells.push(*number),
            (Cells::Float(cells), Value::Float(number)) => cells.push(*number),
            (Cells::Text(texts), Value::String(text)) => texts.push(text),
            _ => self.values().push(value),
        }
    }

    /// Adds the values of another column.
    ///
    /// ```
    /// use hexgraph_cypher::AnswerColumn;
    ///
    /// let (mut ints, mut floats) = (AnswerColumn::default(), AnswerColumn::default());
    /// ints.push(1.into());
    /// floats.push(0.5.into());
    /// ints.append(floats);
    /// assert_eq!((ints.value(0).to_string(), ints.value(1).to_string()), ("1".into(), "0.5".into()));
    /// ```
    pub fn append(&mut self, other: AnswerColumn) {
        match (&mut *self, other) {
            (AnswerColumn::Typed(cells), AnswerColumn::Typed(more))
                if have_one_type(cells, &more) =>
            {
                cells.append(more).expect("cells of one type are appended");
            }
            (_, other) => {
                let values = (0..other.len()).map(|row| other.value(row));
                self.values().extend(values);
            }
        }
    }

    /// The values as those of any type.
    fn values(&mut self) -> &mut Vec<Value> {
        if let AnswerColumn::Typed(_) = self {
            let values = (0..self.len()).map(|row| self.value(row)).collect();
            *self = AnswerColumn::Any(values);
        }
        match self {
            AnswerColumn::Any(values) => values,
            AnswerColumn::Typed(_) => unreachable!("the column has any values now"),
        }
    }
}

fn is_or_null(cells: &Cells, is: impl Fn(&Cells) -> bool) -> bool {
    matches!(cells, Cells::Null(_)) || is(cells)
}

fn have_one_type(one: &Cells, other: &Cells) -> bool {
    matches!(one, Cells::Null(_))
        || matches!(other, Cells::Null(_))
        || mem::discriminant(one) == mem::discriminant(other)
}
