//! Statements as they are read: each is reserved for and admitted before it is retained.

use crate::formats::{NQuad, Object};
use crate::types::{Result, Value};
use std::borrow::Cow;

/// The facets and long values of statements are reserved for each time they have grown by this many
/// bytes.
const RESERVED_STEP: usize = 16 << 10;

/// The first capacity of a list of statements.
const FIRST_CAPACITY: usize = 16;

/// Limits the memory of reading statements, and selects which of them are retained.
pub trait Admission {
    /// Reserves bytes that are about to be allocated, for the duration of the request.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::types::Error::Limit) when there are too few left.
    fn reserve(&self, bytes: usize) -> Result<()>;

    /// Whether a statement is retained. One that is not is left out: the request is refused when
    /// all of it is read.
    ///
    /// # Errors
    ///
    /// A reason to read no further.
    fn admits(&self, _: &NQuad<'_>) -> Result<bool> {
        Ok(true)
    }
}

/// Admits everything.
impl Admission for () {
    fn reserve(&self, _: usize) -> Result<()> {
        Ok(())
    }
}

/// A list of statements that reserves what it takes before it grows.
pub struct Admitted<'t, 'r> {
    quads: Vec<NQuad<'t>>,
    admission: &'r dyn Admission,
    /// The bytes of facets and values for which nothing was reserved yet.
    pending: usize,
}

impl<'t, 'r> Admitted<'t, 'r> {
    /// An empty list.
    pub fn new(admission: &'r dyn Admission) -> Admitted<'t, 'r> {
        Admitted { quads: Vec::new(), admission, pending: 0 }
    }

    /// What decides about the statements.
    pub fn admission(&self) -> &'r dyn Admission {
        self.admission
    }

    /// Adds a statement if it is admitted.
    ///
    /// # Errors
    ///
    /// Those of the [`Admission`].
    pub fn push(&mut self, quad: NQuad<'t>) -> Result<()> {
        if !self.admission.admits(&quad)? {
            return Ok(());
        }
        if self.quads.len() == self.quads.capacity() {
            let more = self.quads.len().max(FIRST_CAPACITY);
            self.admission.reserve(more * size_of::<NQuad<'_>>())?;
            self.quads.reserve_exact(more);
        }
        let facets = quad.facets.iter().map(|(_, value)| value.heap_size());
        let facets = facets.sum::<usize>() + quad.facets.capacity() * size_of::<(&str, Value)>();
        self.pending += facets + own_bytes(&quad.object);
        if RESERVED_STEP <= self.pending {
            self.admission.reserve(std::mem::take(&mut self.pending))?;
        }
        self.quads.push(quad);
        Ok(())
    }

    /// The statements.
    pub fn into_quads(self) -> Vec<NQuad<'t>> {
        self.quads
    }
}

fn own_bytes(object: &Object<'_>) -> usize {
    match object {
        Object::Literal { text: Cow::Owned(text), .. } => text.capacity(),
        Object::Value(value) => value.heap_size(),
        _ => 0,
    }
}
