//! An open transaction: what it has read, what it has changed so far, and how it ended.
//!
//! It depends neither on the database nor on the list of open transactions: [`super::txn`] executes
//! requests in it, and [`super::transactions`] has the list.

use hexgraph_base::budget::Held;
use hexgraph_base::types::{Error, LockGuard, Result, Uid};
use hexgraph_store::graph::{Changes, ConflictKey, Effect, Snapshot, Version};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The state of a transaction, shared by its handles and the list of open transactions.
pub(in crate::db) struct OpenTxn {
    number: u64,
    pub(super) read_only: bool,
    client: Option<IpAddr>,
    state: Mutex<State>,
}

pub(super) enum State {
    Open(Box<Work>),
    Ended(End),
}

#[derive(Clone, Copy)]
pub(super) enum End {
    /// Its user committed or discarded it.
    Finished,
    /// It failed with a conflict, or was aborted by a change of the schema or because nobody used
    /// it.
    Aborted,
}

/// The snapshot and the changes of a transaction that is still open.
pub(super) struct Work {
    pub snapshot: Snapshot,
    pub view: Arc<Version>,
    pub changes: Vec<Changes>,
    /// The conflict keys of all changes, unsorted across mutations; a key may occur more than once.
    pub keys: Vec<ConflictKey>,
    /// The names of the changed predicates, ascending and distinct.
    pub names: Vec<Arc<str>>,
    pub statements: u64,
    /// What was deleted with everything.
    pub detached: Vec<DetachedNodes>,
    /// The memory reserved for the changes and the view.
    pub held: Vec<Held>,
    pub used: Instant,
    /// True when a commit is bound to fail with a conflict, because an earlier part of the
    /// transaction is lost.
    pub is_doomed: bool,
}

/// Nodes that a transaction has deleted with all that they had.
pub(super) struct DetachedNodes {
    pub uids: Vec<Uid>,
    /// The index of the changes that delete them.
    pub at: usize,
    /// What was there to be deleted.
    pub effect: Effect,
}

impl OpenTxn {
    pub(super) fn new(snapshot: Snapshot, read_only: bool) -> OpenTxn {
        OpenTxn::numbered(snapshot.number(), snapshot, read_only)
    }

    pub(super) fn numbered(number: u64, snapshot: Snapshot, read_only: bool) -> OpenTxn {
        let work = Work {
            view: Arc::clone(snapshot.version()),
            snapshot,
            changes: Vec::new(),
            keys: Vec::new(),
            names: Vec::new(),
            statements: 0,
            detached: Vec::new(),
            held: Vec::new(),
            used: Instant::now(),
            is_doomed: false,
        };
        let state = Mutex::new(State::Open(Box::new(work)));
        OpenTxn { number, read_only, client: None, state }
    }

    pub(super) fn of_client(self, client: Option<IpAddr>) -> OpenTxn {
        OpenTxn { client, ..self }
    }

    /// The address of the client, for a transaction over the network.
    pub(in crate::db) fn client(&self) -> Option<IpAddr> {
        self.client
    }

    /// The start timestamp.
    pub(in crate::db) fn number(&self) -> u64 {
        self.number
    }

    /// The version that queries of the transaction read: its snapshot with its own changes.
    pub(super) fn view(&self) -> Result<Arc<Version>> {
        self.lock_work(|work| Arc::clone(&work.view))
    }

    /// Aborts the transaction if nobody has used it for `idle`. Returns the number of its
    /// statements in that case.
    pub(super) fn drop_idle(&self, idle: Duration) -> Option<u64> {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
            // The lock is held, so a request is using it right now.
            Err(TryLockError::WouldBlock) => return None,
        };
        let State::Open(work) = &*state else { return None };
        if work.used.elapsed() < idle {
            return None;
        }
        let statements = work.statements;
        *state = State::Ended(End::Aborted);
        Some(statements)
    }

    /// Aborts the transaction if it has changed one of the predicates `names`, or anything at all
    /// for `None`. Returns the number of its statements in that case.
    pub(super) fn abort(&self, names: Option<&[&str]>) -> Option<u64> {
        let mut state = self.lock();
        let State::Open(work) = &*state else { return None };
        let is_meant = |name: &Arc<str>| names.is_none_or(|names| names.contains(&&**name));
        if !work.names.iter().any(is_meant) {
            return None;
        }
        let statements = work.statements;
        *state = State::Ended(End::Aborted);
        Some(statements)
    }

    pub(super) fn end(&self, end: End) -> Option<u64> {
        let mut state = self.lock();
        let State::Open(work) = &*state else { return None };
        let statements = work.statements;
        *state = State::Ended(end);
        Some(statements)
    }

    pub(super) fn lock_work<T>(&self, use_it: impl FnOnce(&mut Work) -> T) -> Result<T> {
        Ok(use_it(self.lock().work()?))
    }

    pub(super) fn lock(&self) -> LockGuard<MutexGuard<'_, State>> {
        // A request that panics leaves the work as it was before.
        LockGuard::new(self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    pub(super) fn work(&mut self) -> Result<&mut Work> {
        match self {
            State::Open(work) => {
                work.used = Instant::now();
                Ok(work)
            }
            State::Ended(end) => Err(end.error()),
        }
    }
}

impl End {
    pub(super) fn error(self) -> Error {
        match self {
            End::Finished => Error::query("Transaction has already been committed or discarded"),
            End::Aborted => Error::Conflict,
        }
    }
}
