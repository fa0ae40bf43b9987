//! The lock for builds of entire predicates: an `alter`, a load, a compaction, a `compact`, a drop.
//!
//! One build runs at a time, since each replaces what another one would catch up with. Writers
//! never wait for this lock; its holder acquires the writer lock only briefly.

use hexgraph_base::types::sync::{Condvar, Mutex, MutexGuard};
use hexgraph_base::types::{LockGuard, before_waiting};
use std::process;
use std::sync::PoisonError;

/// The lock, which is free at first.
#[derive(Default)]
pub(in crate::graph) struct Rebuilding {
    /// The process that holds it. The child of a fork does not have its parent's threads, so there
    /// it counts as free.
    holder: Mutex<Option<u32>>,
    free: Condvar,
}

/// Releases the lock when dropped.
pub struct RebuildLock<'a> {
    _held: LockGuard<Owned<'a>>,
}

struct Owned<'a>(&'a Rebuilding);

impl Rebuilding {
    /// Waits for the lock.
    pub(super) fn writer_lock(&self) -> RebuildLock<'_> {
        before_waiting();
        let own = process::id();
        let mut holder = self.lock();
        while *holder == Some(own) {
            holder = self.free.wait(holder).unwrap_or_else(PoisonError::into_inner);
        }
        *holder = Some(own);
        RebuildLock { _held: LockGuard::new(Owned(self)) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<u32>> {
        // Nothing that runs under the lock panics halfway.
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        *self.0.lock() = None;
        self.0.free.notify_one();
    }
}
