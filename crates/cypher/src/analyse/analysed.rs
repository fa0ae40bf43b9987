//! What the analysis says about a text.

use super::kinds::Kind;

/// What a query returns and needs.
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
    /// What it holds in all branches of a `UNION`.
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
