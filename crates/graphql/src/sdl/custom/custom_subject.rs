//! The subject of the checks of `@custom`: the directive with its field.

use apollo_compiler::Node;
use apollo_compiler::ast::Value;

use crate::sdl::check::subject::Subject;
use crate::sdl::source::raw::RawDirective;
use crate::sdl::source::value;
use crate::syntax::{GraphqlError, Position};

/// A `@custom` that is checked.
pub(in crate::sdl) struct CheckedCustom<'a> {
    pub(in crate::sdl) subject: Subject<'a>,
    pub(super) directive: &'a RawDirective,
    /// True for the mode `BATCH`, once that was read.
    pub(super) batch: bool,
    pub(in crate::sdl) faults: &'a mut Vec<GraphqlError>,
}

impl CheckedCustom<'_> {
    /// Adds a fault. Dgraph writes `Field f; ` in some messages and `Field f: ` in others,
    /// so the separator is given.
    pub(in crate::sdl) fn fault(
        &mut self,
        position: Option<Position>,
        separator: char,
        what: impl AsRef<str>,
    ) {
        let (def, field) = (&self.subject.def.name, &self.subject.field.name);
        let message = format!("Type {def}; Field {field}{separator} {}", what.as_ref());
        self.faults.push(GraphqlError::at(position, message));
    }

    /// Returns the position of a value of its arguments.
    pub(super) fn position(&self, value: &Node<Value>) -> Option<Position> {
        value::position(value, self.subject.draft.positions)
    }
}
