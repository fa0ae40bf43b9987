//! The thread that merges changes into their columns concurrently with writers. A commit adds its
//! changes to small lists next to the columns, and reads get slower as these grow, until the
//! columns are rebuilt.
//!
//! It starts when a commit leaves a predicate with enough changes for a compaction, now or when the
//! database is idle, and exits when none are left: an unchanged database has no such thread, and a
//! child of a fork starts its own. The data stay alive while it compacts, not the database: closing
//! waits for nothing. It has a lower priority than readers and writers.

use super::activity::Meter;
use super::guard::guarded;
use hexgraph_base::types::lower_priority;
use hexgraph_store::graph::{Folding, Store};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use std::{process, thread};

/// Where no commit came for so long, the graph is at rest.
const REST: Duration = Duration::from_millis(200);

/// Starts the compaction thread of one database, and records whether it runs.
pub(super) struct Compactor {
    folding: Folding,
    runs: Arc<Meter>,
    /// The process whose thread runs; `None` without one.
    running: Mutex<Option<u32>>,
}

impl Compactor {
    /// Creates the folder of a database; no thread runs yet.
    pub(super) fn new(folding: Folding, runs: &Arc<Meter>) -> Arc<Compactor> {
        Arc::new(Compactor { folding, runs: Arc::clone(runs), running: Mutex::default() })
    }

    /// Starts a thread that compacts a database that was just opened, if due. O(predicates).
    pub(super) fn start_after_open(self: &Arc<Compactor>, store: &Arc<Store>) {
        if self.folding == Folding::Background && store.is_compaction_due() {
            self.start(store);
        }
    }

    /// Starts a thread for due compactions, if the newest commit left any. O(1) for the commit.
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
        // A failed thread start does not fail the commit: the next one tries again, and a commit on
        // far too many changes compacts them itself.
        let work = move || {
            // Where all cores are busy it gets about a tenth of one then, and commits on far too
            // many changes compact them themselves.
            lower_priority();
            folder.compact_all(&store);
        };
        if thread.spawn(work).is_ok() {
            // The lock is still held: a thread that exits at once waits for it to record that.
            *running = Some(process::id());
        }
    }

    /// Compacts until nothing is due, also while the database is idle. It holds the store for one
    /// compaction at a time only.
    fn compact_all(&self, store: &Weak<Store>) {
        // The newest version when nothing was due.
        let mut seen = None;
        while let Some(strong) = store.upgrade() {
            let now = strong.version().commit;
            let is_at_rest = seen == Some(now);
            // `None`: nothing is due. An error, such as missing memory, stops the thread; a later
            // commit starts it again.
            let compact = || Ok(strong.compact_next(is_at_rest)?.then_some(()));
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
            // A commit that came after the last look is seen here, or finds no thread and starts
            // another.
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
