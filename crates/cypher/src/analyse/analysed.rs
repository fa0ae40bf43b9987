//! The result of the semantic analysis of a query.

use super::kinds::Kind;

/// The columns that a query returns, and the parameters that it needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysed {
    pub(super) columns: Vec<Column>,
    pub(super) parameters: Vec<Box<str>>,
}

/// A column of the result of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The alias, or the expression as it is written.
    pub name: Box<str>,
    /// The kind of its values in all branches of a `UNION`.
    pub kind: Kind,
}

impl Analysed {
    /// The columns of the result, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The names of the parameters, in ascending order.
    pub fn parameters(&self) -> &[Box<str>] {
        &self.parameters
    }
}
