//! What the statements of a request must pass while they are read: there is memory for them, and
//! the caller may change their predicates.

use crate::db::database::Database;
use hexgraph_base::formats::{Admission, NQuad, Predicate};
use hexgraph_base::types::{Error, Result};
use hexgraph_store::exec::RequestContext;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A request is stopped between this many statements at the latest.
const CHECK_INTERVAL: usize = 4096;

/// The memory for the name of a predicate that the caller may not change, in addition to its bytes.
const NAME_BYTES: usize = 128;

/// Reserves the memory of statements, and checks the rights of the caller.
pub(super) struct Reading<'a> {
    database: &'a Database,
    context: &'a RequestContext,
    may_write: Box<dyn Fn(&str) -> bool + 'a>,
    /// The predicates that the caller may not change. From the first one on statements are not
    /// collected.
    refused: RefCell<BTreeSet<Arc<str>>>,
    count: Cell<usize>,
}

impl<'a> Reading<'a> {
    /// Begins to read a request.
    ///
    /// # Errors
    ///
    /// `Access` for an unauthenticated caller.
    pub(super) fn new(database: &'a Database, context: &'a RequestContext) -> Result<Reading<'a>> {
        let may_write = Box::new(database.check_writes(&[])?);
        let (refused, count) = (RefCell::default(), Cell::new(0));
        Ok(Reading { database, context, may_write, refused, count })
    }

    /// Ends reading.
    ///
    /// # Errors
    ///
    /// `Access` with the predicates that the caller may not change.
    pub(super) fn finish(&self) -> Result<()> {
        let refused = self.refused.take();
        if refused.is_empty() {
            return Ok(());
        }
        self.database.check_commit(&Vec::from_iter(refused))?;
        // The caller was given the right while the request was read, and not all of it was
        // retained.
        Err(Error::query("the rights of the user have changed: send the request again"))
    }
}

impl Admission for Reading<'_> {
    fn reserve(&self, bytes: usize) -> Result<()> {
        self.context.reserve(bytes as u64)
    }

    fn admits(&self, quad: &NQuad<'_>) -> Result<bool> {
        let count = self.count.get() + 1;
        self.count.set(count);
        if count == 1 {
            self.database.check_may_write()?;
        }
        if count.is_multiple_of(CHECK_INTERVAL) {
            self.context.check()?;
        }
        let mut refused = self.refused.borrow_mut();
        if let Predicate::Name(name) = quad.predicate
            && !(self.may_write)(name)
            && !refused.contains(name)
        {
            self.reserve(name.len() + NAME_BYTES)?;
            refused.insert(Arc::from(name));
        }
        Ok(refused.is_empty())
    }
}
