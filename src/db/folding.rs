//! The thread that folds changes into their columns beside the writers: a commit adds its changes to small lists beside the columns,
//! and reads get slower as these grow, until the columns are built anew.
//!
//! It starts when a commit leaves a predicate with so many changes that they are due, or will be as soon as no commit comes, and ends when none are: a database that
//! nobody changes has no such thread, and a child of a fork starts its own. The data stay alive while it compacts, not the
//! database: closing waits for nothing. Readers and writers go before it where there are too few cores for all.

use super::activity::Meter;
use super::guard::guarded;
use hexgraph_base::types::lower_priority;
use hexgraph_store::graph::{Folding, Store};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use std::{process, thread};

/// Where no commit came for so long, the graph is at rest.
const REST: Duration = Duration::from_millis(200);

/// Starts the thread that folds the changes of one database, and knows whether it runs.
pub(super) struct Compactor {
    folding: Folding,
    runs: Arc<Meter>,
    /// The process whose thread folds now; `None` when no thread does.
    running: Mutex<Option<u32>>,
}

impl Compactor {
    /// Creates the folder of a database; no thread runs yet.
    pub(super) fn new(folding: Folding, runs: &Arc<Meter>) -> Arc<Compactor> {
        Arc::new(Compactor { folding, runs: Arc::clone(runs), running: Mutex::default() })
    }

    /// Has a thread fold what is due in a database that was just opened. O(predicates).
    pub(super) fn start_after_open(self: &Arc<Compactor>, store: &Arc<Store>) {
        if self.folding == Folding::Background && store.is_compaction_due() {
            self.start(store);
        }
    }

    /// Has a thread fold what is due, if the newest commit left anything. O(1) for the commit.
    pub(super) fn start_after_commit(self: &Arc<Compactor>, store: &Arc<Store>) {
        if self.folding == Folding::Background && store.version().is_compaction_due {
            self.start(store);
        }
    }

    /// Starts the thread, unless it runs.
    fn start(self: &Arc<Compactor>, store: &Arc<Store>) {
        let mut running = self.lock();
        if *running == Some(process::id()) {
            return;
        }
        let (folder, store) = (Arc::clone(self), Arc::downgrade(store));
        let thread = thread::Builder::new().name("hexgraph-fold".to_owned());
        // A thread too few is no reason to refuse a commit that was made: the next one asks again, and one that finds far too
        // many changes folds them itself.
        let fold = move || {
            // Where all cores are busy it gets about a tenth of one then, and commits that find far too many changes fold them themselves.
            lower_priority();
            folder.compact_all(&store);
        };
        if thread.spawn(fold).is_ok() {
            // The lock is still held: a thread that ends at once waits for it to note that.
            *running = Some(process::id());
        }
    }

    /// Folds until nothing is due, also when no commit comes for a while. It holds the store for one fold at a time only.
    fn compact_all(&self, store: &Weak<Store>) {
        // The newest version when nothing was due.
        let mut seen = None;
        while let Some(strong) = store.upgrade() {
            let now = strong.version().commit;
            let is_at_rest = seen == Some(now);
            // `None`: nothing is due. An error, such as too little memory, ends the thread; a later commit starts it again.
            let compact = || Ok(strong.fold_next(is_at_rest)?.then_some(()));
            let result = guarded(|| self.runs.run(compact));
            if matches!(result, Ok(Some(()))) {
                continue;
            }
            if matches!(result, Ok(None)) && !is_at_rest && strong.is_compaction_due() {
                seen = Some(now);
                drop(strong);
                thread::sleep(REST);
                continue;
            }
            let mut running = self.lock();
            // A commit that came after the last look is seen here, or finds no thread and starts another.
            if result.is_ok() && strong.is_compaction_due() {
                continue;
            }
            *running = None;
            return;
        }
        // The database was closed and nobody reads it any more.
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<u32>> {
        // Nothing that runs under the lock panics halfway.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
