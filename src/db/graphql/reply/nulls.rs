//! How a null that the schema forbids travels up (GraphQL specification, *Handling Execution Errors*): the answer is written to one buffer, and when a
//! value fails, what was written of the objects around it is cut off again, up to the next value that may be null.

use apollo_compiler::ast::Type;
use hexgraph_graphql::request::{Fault, Field, PathStep};

/// A value that failed: a null goes up to the next value around it that may be null.
pub(in crate::db::graphql) struct Spoiled;

/// The outcome of writing a value.
pub(in crate::db::graphql) type Written = std::result::Result<(), Spoiled>;

/// Something that writes values of an answer behind one another: those of the store, and those of other servers.
pub(super) trait NullPropagation: Sized {
    /// The buffer that values are appended to.
    fn out(&mut self) -> &mut Vec<u8>;

    /// The faults that were told so far.
    fn faults(&mut self) -> &mut Vec<Fault>;

    /// The path to the value that is being written.
    fn steps(&self) -> Vec<PathStep>;

    /// Writes a value; where it fails and its type allows null, null stands in its place.
    #[inline]
    fn nullable(&mut self, ty: &Type, write: impl FnOnce(&mut Self) -> Written) -> Written {
        let start = self.out().len();
        let written = write(self);
        if written.is_err() {
            if ty.is_non_null() {
                return written;
            }
            self.out().truncate(start);
            return self.null();
        }
        Ok(())
    }

    /// Writes null.
    #[inline]
    fn null(&mut self) -> Written {
        self.out().extend_from_slice(b"null");
        Ok(())
    }

    /// Writes a list without elements.
    #[inline]
    fn empty_list(&mut self) -> Written {
        self.out().extend_from_slice(b"[]");
        Ok(())
    }

    /// Writes a value that is not there: null, or a fault where the type `ty` of the field, or of an element of it, promises a value.
    fn missing(&mut self, ty: &Type, field: &Field) -> Written {
        if !ty.is_non_null() {
            return self.null();
        }
        let name = &field.shape.name;
        let message = format!(
            "Non-nullable field '{name}' (type {ty}) was not present in result from Dgraph.  GraphQL error propagation triggered."
        );
        self.spoil(field, message)
    }

    /// Tells a fault of the value that is being written, which fails.
    fn spoil(&mut self, field: &Field, message: String) -> Written {
        let path = self.steps();
        self.faults().push(Fault { path, ..Fault::at(field.shape.location, message) });
        Err(Spoiled)
    }
}

/// Words the fault of a value that is `found` where the schema has `wanted`.
pub(super) fn mismatch(found: &str, wanted: &str) -> String {
    format!(
        "{found} was returned, but GraphQL was expecting {wanted}. This indicates an internal error - probably a mismatch between the GraphQL and Dgraph/remote schemas. The value was resolved as null (which may trigger GraphQL error propagation) and as much other data as possible returned."
    )
}
