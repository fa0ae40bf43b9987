//! The thread that folds changes into their columns beside the writers.
//!
//! It starts when a commit leaves a predicate with so many changes that they are due, and ends when none are: a database that
//! nobody changes has no such thread, and a child of a fork starts its own. It keeps the data alive while it folds, not the
//! database: closing waits for nothing.

use super::guard::guarded;
use hexgraph_store::graph::{Folding, Store};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::{process, thread};

/// Whoever folds a database in the background.
pub(super) struct Folder {
    folding: Folding,
    /// The process whose thread folds now; `None` when no thread does.
    running: Mutex<Option<u32>>,
}

impl Folder {
    /// Nobody folds yet.
    pub(super) fn new(folding: Folding) -> Arc<Folder> {
        Arc::new(Folder { folding, running: Mutex::default() })
    }

    /// Has a thread fold what is due, if the newest commit left anything. O(1) for the commit.
    pub(super) fn keep(self: &Arc<Folder>, store: &Arc<Store>) {
        if self.folding != Folding::Background || !store.version().is_fold_due {
            return;
        }
        let mut running = self.lock();
        if *running == Some(process::id()) {
            return;
        }
        let (folder, store) = (Arc::clone(self), Arc::downgrade(store));
        let thread = thread::Builder::new().name("hexgraph-fold".to_owned());
        // A thread too few is no reason to refuse a commit that was made: the next one asks again, and one that finds far too
        // many changes folds them itself.
        if thread.spawn(move || folder.fold_all(&store)).is_ok() {
            *running = Some(process::id());
        }
    }

    fn fold_all(&self, store: &Weak<Store>) {
        while let Some(store) = store.upgrade() {
            // Without memory for a fold, or after a fault of ours, a later commit asks again.
            let folded = guarded(|| store.fold_next());
            if matches!(folded, Ok(true)) {
                continue;
            }
            let mut running = self.lock();
            // A commit that came after the last look is seen here, or finds no thread and starts another.
            if folded.is_ok() && store.is_fold_due() {
                continue;
            }
            *running = None;
            return;
        }
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<u32>> {
        // Nothing that runs under the lock panics halfway.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
