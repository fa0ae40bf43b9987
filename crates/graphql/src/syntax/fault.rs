//! What is wrong with a schema or a request, as the `errors` of a GraphQL answer say it.

use std::fmt;

use crate::syntax::Place;

/// One step of a path into an answer or into the variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    /// A response key, a variable or the key of an object.
    Key(Box<str>),
    /// A place in a list, from 0.
    Index(usize),
}

/// One entry of `errors`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// Where in the text; empty when no place of the text is to blame.
    pub places: Vec<Place>,
    /// Where in the answer or in the variables; empty when nothing is to be said.
    pub path: Vec<PathStep>,
}

impl Fault {
    /// A fault without a place.
    pub fn new(message: impl Into<String>) -> Fault {
        Fault { message: message.into(), places: Vec::new(), path: Vec::new() }
    }

    /// A fault at a place of the text, if it is known.
    pub fn at(place: impl Into<Option<Place>>, message: impl Into<String>) -> Fault {
        let places = place.into().into_iter().collect();
        Fault { places, ..Fault::new(message) }
    }

    /// A fault of a variable's value, or of an answer's.
    pub fn on(path: Vec<PathStep>, message: impl Into<String>) -> Fault {
        Fault { message: message.into(), places: Vec::new(), path }
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    /// Writes the one-line form that the reference uses outside of `errors`:
    /// `input:2: message`, or `input: variable.a[1].b message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("input:")?;
        if let Some(place) = self.places.first() {
            write!(f, "{}:", place.line)?;
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
        let at = Fault::at(Place { line: 2, column: 9 }, "no");
        assert_eq!(at.to_string(), "input:2: no");
        let path = vec![
            PathStep::Key("variable".into()),
            PathStep::Key("a".into()),
            PathStep::Index(1),
            PathStep::Key("b".into()),
        ];
        assert_eq!(Fault::on(path, "no").to_string(), "input: variable.a[1].b no");
    }
}
