//! Syncs the log to the disk, and records how far it is durable.
//!
//! A thread that needs a durable position syncs for all earlier ones, or waits for another sync.

use crate::storage::OutputFile;
use hexgraph_base::types::sync::{Condvar, Mutex, MutexGuard};
use hexgraph_base::types::{Error, Result, before_waiting};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use std::{io, mem, thread};

/// The syncs of a log. The background sync thread shares only this: it may end a little later than
/// the database, whose lock it must not hold.
#[derive(Default)]
pub(super) struct Syncs {
    state: Mutex<State>,
    /// Is notified when a sync has ended, and when the log is closed.
    synced: Condvar,
}

/// The positions up to which the log is written and durable.
#[derive(Default)]
pub(super) struct State {
    /// Everything up to this position is.
    pub(super) durable: u64,
    /// The end position of the log, and its file.
    pub(super) end: u64,
    pub(super) file: Option<Arc<dyn OutputFile>>,
    /// True while some thread syncs.
    is_busy: bool,
    /// Why a sync failed. It is unknown from then on what is durable.
    pub(super) failure: Option<String>,
    is_closed: bool,
    /// The thread that syncs every so often runs.
    has_thread: bool,
}

impl Syncs {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that runs under the lock panics halfway.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the sync thread.
    pub(super) fn end(&self) {
        self.state().is_closed = true;
        self.synced.notify_all();
    }

    /// Starts the thread that syncs after each `pause`, where it does not run.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the system gives no thread.
    pub(super) fn retain(self: &Arc<Syncs>, pause: Duration) -> Result<()> {
        if mem::replace(&mut self.state().has_thread, true) {
            return Ok(());
        }
        let syncs = Arc::clone(self);
        let thread = thread::Builder::new().name("hexgraph-sync".to_owned());
        thread.spawn(move || syncs.sync_every(pause)).map(drop).map_err(|error| {
            self.state().has_thread = false;
            Error::io("starting the thread that syncs the log", error)
        })
    }

    fn sync_every(&self, pause: Duration) {
        loop {
            let state = self.state();
            let until_closed = |state: &mut State| !state.is_closed;
            let waited = self.synced.wait_timeout_while(state, pause, until_closed);
            let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let (is_closed, end) = (state.is_closed, state.end);
            drop(state);
            // The failure is stored, and the next commit reports it. When the log is closed this is
            // the last sync, for what came since the last pause.
            if self.wait(end).is_err() || is_closed {
                return;
            }
        }
    }

    /// Waits until all up to a position is durable. Returns up to which position all is.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when a sync failed, now or before.
    pub(super) fn wait(&self, position: u64) -> Result<u64> {
        before_waiting();
        let mut state = self.state();
        loop {
            if let Some(failure) = &state.failure {
                return Err(poisoned(failure));
            }
            if position <= state.durable {
                return Ok(state.durable);
            }
            if state.is_busy {
                state = self.synced.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            // Both are set together, after the write. What this process
            // wrote to older logs was synced when they were ended.
            let (end, file) = (state.end, state.file.clone());
            state.is_busy = true;
            drop(state);
            let done = file.map_or(Ok(()), |file| file.sync());
            state = self.state();
            state.is_busy = false;
            match done {
                // Never less than before: one thread syncs at a time, and end positions only grow.
                Ok(()) => state.durable = end,
                Err(error) => state.failure = Some(error.to_string()),
            }
            self.synced.notify_all();
        }
    }
}

/// Why nothing is committed any more.
pub(super) fn poisoned(failure: &str) -> Error {
    let reason = "the log of the database can't be trusted any more, so nothing is committed; what \
                  was committed before is safe: close the database and open it again";
    Error::io(reason, io::Error::other(failure.to_owned()))
}
