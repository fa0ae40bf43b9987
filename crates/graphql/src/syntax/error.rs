//! Faults of schemas and requests, which become the entries of `errors` in an answer.

use std::fmt;

use crate::syntax::Position;
use hexgraph_base::types::bounded;

/// A step of the path to a value, in an answer or in the variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    /// A key of the answer, the name of a variable, or a key of an object in it.
    Key(Box<str>),
    /// An index in a list, from 0.
    Index(usize),
}

/// Errors of a schema or a request: one entry of `errors`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphqlError {
    /// The message.
    pub message: String,
    /// The positions in the text that are at fault; empty when none is.
    pub positions: Vec<Position>,
    /// The path to the value that is at fault, in the answer or in the variables; empty when there
    /// is none.
    pub path: Vec<PathStep>,
}

impl GraphqlError {
    /// Makes a fault without a position. Its message is cut where it is too long, as those of all
    /// errors.
    pub fn new(message: impl Into<String>) -> GraphqlError {
        GraphqlError::on(Vec::new(), message)
    }

    /// Makes a fault at an optional position of the text.
    pub fn at(position: impl Into<Option<Position>>, message: impl Into<String>) -> GraphqlError {
        let positions = position.into().into_iter().collect();
        GraphqlError { positions, ..GraphqlError::new(message) }
    }

    /// Makes a fault of a value in the variables or in the answer.
    pub fn on(path: Vec<PathStep>, message: impl Into<String>) -> GraphqlError {
        GraphqlError { message: bounded(message.into()), positions: Vec::new(), path }
    }
}

impl std::error::Error for GraphqlError {}

impl fmt::Display for GraphqlError {
    /// Writes the one-line form that Dgraph uses outside of `errors`:
    /// `input:2: message`, or `input: variable.a[1].b message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("input:")?;
        if let Some(position) = self.positions.first() {
            write!(f, "{}:", position.line)?;
        }
        for (at, step) in self.path.iter().enumerate() {
            match step {
                PathStep::Key(key) => write!(f, "{}{key}", if at == 0 { " " } else { "." })?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        write!(f, " {}", self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_form() {
        let at = GraphqlError::at(Position { line: 2, column: 9 }, "no");
        assert_eq!(at.to_string(), "input:2: no");
        let path = vec![
            PathStep::Key("variable".into()),
            PathStep::Key("a".into()),
            PathStep::Index(1),
            PathStep::Key("b".into()),
        ];
        assert_eq!(GraphqlError::on(path, "no").to_string(), "input: variable.a[1].b no");
    }
}
