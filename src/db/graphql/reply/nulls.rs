//! How a null that the schema forbids travels up (GraphQL specification, *Handling Execution
//! Errors*): the answer is written to one buffer, and when a value fails, what was written of the
//! objects around it is cut off again, up to the next value that may be null.

use apollo_compiler::ast::Type;
use hexgraph_graphql::request::{Field, GraphqlError, PathStep};

/// A value that failed: a null goes up to the next value around it that may be null.
pub(in crate::db::graphql) struct Spoiled;

/// The outcome of writing a value.
pub(in crate::db::graphql) type Written = std::result::Result<(), Spoiled>;

/// The faults of an answer in order, and about their bytes.
#[derive(Default)]
pub(super) struct Faults {
    list: Vec<GraphqlError>,
    bytes: usize,
}

impl Faults {
    pub(super) fn push(&mut self, fault: GraphqlError) {
        self.bytes += bytes_of(&fault);
        self.list.push(fault);
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn into_list(self) -> Vec<GraphqlError> {
        self.list
    }
}

/// About the bytes of memory that a fault takes; as JSON it is no longer.
pub(in crate::db::graphql) fn bytes_of(fault: &GraphqlError) -> usize {
    let step = |step: &PathStep| match step {
        PathStep::Key(key) => size_of::<PathStep>() + key.len(),
        PathStep::Index(_) => size_of::<PathStep>(),
    };
    let (positions, steps) = (size_of_val(&*fault.positions), fault.path.iter().map(step));
    size_of::<GraphqlError>() + fault.message.len() + positions + steps.sum::<usize>()
}

/// Something that writes values of an answer contiguous: those of the store, and those of other
/// servers.
pub(super) trait NullPropagation: Sized {
    /// The buffer that values are appended to.
    fn out(&mut self) -> &mut Vec<u8>;

    /// The faults that were reported so far.
    fn faults(&mut self) -> &mut Faults;

    /// Takes note of the length of what was written and of the faults. False where the answer has
    /// to end.
    fn goes_on(&mut self) -> bool;

    /// The path to the value that is being written.
    fn steps(&self) -> Vec<PathStep>;

    /// Writes a value; where it fails and its type allows null, null is instead.
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

    /// Writes a value that is not there: null, or a fault where the type `ty` of the field, or of
    /// an element of it, promises a value.
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

    /// Reports a fault of the value that is being written, which fails.
    fn spoil(&mut self, field: &Field, message: String) -> Written {
        let path = self.steps();
        self.report_fault(GraphqlError { path, ..GraphqlError::at(field.shape.location, message) });
        Err(Spoiled)
    }

    /// Reports a fault. There may be one for each value, so they count as what is written does;
    /// where there is no space for them they are reported no more.
    fn report_fault(&mut self, fault: GraphqlError) {
        if self.goes_on() {
            self.faults().push(fault);
        }
    }
}

/// Words the fault of a value that is `result` where the schema has `expected`.
pub(super) fn mismatch(result: &str, expected: &str) -> String {
    format!(
        "{result} was returned, but GraphQL was expecting {expected}. This indicates an internal error - probably a mismatch between the GraphQL and Dgraph/remote schemas. The value was resolved as null (which may trigger GraphQL error propagation) and as much other data as possible returned."
    )
}
