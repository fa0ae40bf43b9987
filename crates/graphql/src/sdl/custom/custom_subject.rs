//! A `@custom` as the checks look at it.

use apollo_compiler::Node;
use apollo_compiler::ast::Value;

use crate::sdl::check::subject::Subject;
use crate::sdl::source::raw::RawDirective;
use crate::sdl::source::value;
use crate::syntax::{Fault, Place};

/// A `@custom` that is looked at. Messages write `Field f; ` or `Field f: `.
pub(in crate::sdl) struct Custom<'a> {
    pub(in crate::sdl) subject: Subject<'a>,
    pub(super) directive: &'a RawDirective,
    pub(super) batch: bool,
    pub(in crate::sdl) faults: &'a mut Vec<Fault>,
}

impl Custom<'_> {
    pub(in crate::sdl) fn fault(
        &mut self,
        place: Option<Place>,
        separator: char,
        what: impl AsRef<str>,
    ) {
        let (def, field) = (&self.subject.def.name, &self.subject.field.name);
        let message = format!("Type {def}; Field {field}{separator} {}", what.as_ref());
        self.faults.push(Fault::at(place, message));
    }

    /// Where a value of its arguments stands.
    pub(super) fn place(&self, value: &Node<Value>) -> Option<Place> {
        value::place(value, self.subject.draft.places)
    }
}
