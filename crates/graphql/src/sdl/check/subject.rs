//! A field in its type and its schema, as the checks look at it.

use crate::sdl::source::draft::Draft;
use crate::sdl::source::raw::{RawDirective, RawField, RawType};
use crate::syntax::Fault;

/// A field that is looked at.
#[derive(Clone, Copy)]
pub(in crate::sdl) struct Subject<'a> {
    pub(in crate::sdl) draft: &'a Draft<'a>,
    pub(in crate::sdl) def: &'a RawType,
    pub(in crate::sdl) field: &'a RawField,
}

impl Subject<'_> {
    /// A fault at the directive, told of the type and the field.
    pub(in crate::sdl) fn fault_at(
        &self,
        directive: &RawDirective,
        what: impl AsRef<str>,
    ) -> Fault {
        let message =
            format!("Type {}; Field {}: {}", self.def.name, self.field.name, what.as_ref());
        Fault::at(directive.place, message)
    }

    /// A fault at the field, told of the type and the field.
    pub(in crate::sdl) fn fault(&self, what: impl AsRef<str>) -> Fault {
        let message =
            format!("Type {}; Field {}: {}", self.def.name, self.field.name, what.as_ref());
        Fault::at(self.field.place, message)
    }
}
