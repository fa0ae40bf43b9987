//! Many small amounts of memory that are charged together.

use super::stop::RequestContext;
use hexgraph_base::types::Result;
use std::mem;

/// Memory is charged, and the control checked, each time this many bytes are needed.
pub(in crate::exec) const CHARGED_BYTES: usize = 64 << 10;

/// What is charged for an entry of a hash table that may be half empty: a number by a node id, and
/// a value by a key or a list by a node.
pub(in crate::exec) const NUMBER_ENTRY_BYTES: usize = 16;
pub(in crate::exec) const VALUE_ENTRY_BYTES: usize = 64;

/// The bytes that are in use, or about to be, and not charged yet. An addition costs no atomic
/// operation, but for one that charges.
pub(in crate::exec) struct Pending<'c> {
    control: &'c RequestContext,
    bytes: usize,
}

impl<'c> Pending<'c> {
    /// Nothing so far.
    pub(in crate::exec) fn new(control: &'c RequestContext) -> Pending<'c> {
        Pending { control, bytes: 0 }
    }

    /// Adds bytes that the request holds to its end.
    ///
    /// # Errors
    ///
    /// Those of [`RequestContext::check`] and [`RequestContext::charge`].
    #[inline]
    pub(in crate::exec) fn add(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes;
        if self.bytes < CHARGED_BYTES {
            return Ok(());
        }
        self.control.check()?;
        self.charge()
    }

    /// Charges what is left.
    ///
    /// # Errors
    ///
    /// Those of [`RequestContext::charge`].
    pub(in crate::exec) fn charge(&mut self) -> Result<()> {
        match mem::take(&mut self.bytes) {
            0 => Ok(()),
            bytes => self.control.charge(bytes),
        }
    }
}
