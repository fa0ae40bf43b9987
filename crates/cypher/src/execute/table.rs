//! The result of a query.

use hexgraph_scalar::Value;

/// Rows under named columns.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// The names of the columns: aliases, or expressions as they are written.
    pub columns: Vec<Box<str>>,
    /// The rows, each with a value for each column.
    pub rows: Vec<Vec<Value>>,
}
