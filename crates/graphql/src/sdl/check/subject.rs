//! The subject of a schema check: a field with its type and the schema.

use crate::sdl::source::draft::Draft;
use crate::sdl::source::raw::{RawDirective, RawField, RawType};
use crate::syntax::GraphqlError;

/// A field that is checked, with its type and the schema.
#[derive(Clone, Copy)]
pub(in crate::sdl) struct Subject<'a> {
    pub(in crate::sdl) draft: &'a Draft<'a>,
    pub(in crate::sdl) def: &'a RawType,
    pub(in crate::sdl) field: &'a RawField,
}

impl Subject<'_> {
    /// Returns an error at a directive; the message names the type and the field.
    pub(in crate::sdl) fn fault_at(
        &self,
        directive: &RawDirective,
        what: impl AsRef<str>,
    ) -> GraphqlError {
        let message =
            format!("Type {}; Field {}: {}", self.def.name, self.field.name, what.as_ref());
        GraphqlError::at(directive.position, message)
    }

    /// Returns an error at the field; the message names the type and the field.
    pub(in crate::sdl) fn fault(&self, what: impl AsRef<str>) -> GraphqlError {
        let message =
            format!("Type {}; Field {}: {}", self.def.name, self.field.name, what.as_ref());
        GraphqlError::at(self.field.position, message)
    }
}
