//! Whose turn it is to build entire predicates anew, beside the writers: an `alter`, a load, a fold, a `compact`, a drop.
//!
//! They come one after the other, since each replaces what another one would keep up with. Writers never wait here: who
//! has this turn takes that of the writers for moments only.

use hexgraph_base::types::sync::{Condvar, Mutex, MutexGuard};
use hexgraph_base::types::{LockGuard, before_waiting};
use std::process;
use std::sync::PoisonError;

/// The turn, which nobody has at first.
#[derive(Default)]
pub(in crate::graph) struct Rebuilding {
    /// The process in which somebody has it. The thread of a parent is not there in the child of a fork, so it has nothing there.
    holder: Mutex<Option<u32>>,
    free: Condvar,
}

/// Who has the turn gives it back when this is dropped.
pub struct RebuildLock<'a> {
    _held: LockGuard<Owned<'a>>,
}

struct Owned<'a>(&'a Rebuilding);

impl Rebuilding {
    /// Waits for the turn.
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
