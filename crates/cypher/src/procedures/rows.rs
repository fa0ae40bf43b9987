//! The result of an algorithm, column by column.

use hexgraph_scalar::{Result, Value};
use std::mem::size_of_val;

/// The rows of a call: a column for each of the algorithm, all of one length.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AlgorithmRows {
    /// The columns, in the order of the table of algorithms.
    pub columns: Vec<AlgorithmColumn>,
}

/// A column of the rows.
#[derive(Debug, Clone, PartialEq)]
pub enum AlgorithmColumn {
    /// A node in each row.
    Nodes(Vec<u64>),
    /// An integer in each row.
    Ints(Vec<i64>),
    /// A float in each row.
    Floats(Vec<f64>),
    /// A list of nodes in each row: the end of each, and the nodes of all.
    NodeLists(Vec<usize>, Vec<u64>),
    /// A list of floats in each row: the end of each, and the floats of all.
    FloatLists(Vec<usize>, Vec<f64>),
    /// A vector in each row: the length of each, and the numbers of all.
    Vectors(usize, Vec<f32>),
}

impl AlgorithmRows {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, AlgorithmColumn::len)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of all columns.
    pub fn byte_len(&self) -> usize {
        self.columns.iter().map(AlgorithmColumn::byte_len).sum()
    }

    /// The value of a column in a row.
    ///
    /// # Errors
    ///
    /// A list is too long for a value.
    pub(crate) fn value(&self, column: usize, row: usize) -> Result<Value> {
        Ok(match &self.columns[column] {
            AlgorithmColumn::Nodes(nodes) => Value::Node(nodes[row]),
            AlgorithmColumn::Ints(numbers) => Value::Int(numbers[row]),
            AlgorithmColumn::Floats(numbers) => Value::Float(numbers[row]),
            AlgorithmColumn::NodeLists(bounds, nodes) => Value::list(
                nodes[start(bounds, row)..bounds[row]].iter().copied().map(Value::Node).collect(),
            )?,
            AlgorithmColumn::FloatLists(bounds, numbers) => Value::list(
                numbers[start(bounds, row)..bounds[row]]
                    .iter()
                    .copied()
                    .map(Value::Float)
                    .collect(),
            )?,
            AlgorithmColumn::Vectors(length, numbers) => {
                let vector = &numbers[row * length..(row + 1) * length];
                Value::list(vector.iter().map(|it| Value::Float(f64::from(*it))).collect())?
            }
        })
    }
}

impl AlgorithmColumn {
    fn len(&self) -> usize {
        match self {
            AlgorithmColumn::Nodes(nodes) => nodes.len(),
            AlgorithmColumn::Ints(numbers) => numbers.len(),
            AlgorithmColumn::Floats(numbers) => numbers.len(),
            AlgorithmColumn::NodeLists(bounds, _) | AlgorithmColumn::FloatLists(bounds, _) => {
                bounds.len()
            }
            AlgorithmColumn::Vectors(length, numbers) => numbers.len() / (*length).max(1),
        }
    }

    fn byte_len(&self) -> usize {
        match self {
            AlgorithmColumn::Nodes(nodes) => size_of_val(&nodes[..]),
            AlgorithmColumn::Ints(numbers) => size_of_val(&numbers[..]),
            AlgorithmColumn::Floats(numbers) => size_of_val(&numbers[..]),
            AlgorithmColumn::NodeLists(bounds, nodes) => {
                size_of_val(&bounds[..]) + size_of_val(&nodes[..])
            }
            AlgorithmColumn::FloatLists(bounds, numbers) => {
                size_of_val(&bounds[..]) + size_of_val(&numbers[..])
            }
            AlgorithmColumn::Vectors(_, numbers) => size_of_val(&numbers[..]),
        }
    }
}

/// Where the list of a row begins.
fn start(bounds: &[usize], row: usize) -> usize {
    row.checked_sub(1).map_or(0, |before| bounds[before])
}
