//! The open transactions, and the recently read versions that a client can still return to.
//!
//! A client over the network identifies its transaction by a number, the start timestamp of its
//! first request. Most first requests are queries that nobody follows up, so a query opens
//! nothing: its timestamp is noted in a list of runs, one for each version that was read. Only a
//! mutation with that timestamp makes a transaction of it. Queries of a program in the same process
//! are not noted at all.
//!
//! Everything here is bounded: transactions by number, in all and of a client, by idle time, staged
//! statements and the common memory budget; the list by length, age and the bytes that its versions
//! retain; ended transactions by number.

use super::open_txn::OpenTxn;
use crate::db::operation::TxnLimits;
use hexgraph_base::budget::{Budget, Held, Reservation};
use hexgraph_base::types::{Error, Result};
use hexgraph_store::graph::{Snapshot, Store, Version};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The largest number of old versions that are retained for clients that may come back to them.
const STARTS_MAX: usize = 4096;

/// The number of ended transactions that are remembered, to distinguish them from numbers that were
/// never used.
const ENDED_MAX: usize = 16_384;

/// Memory for the history is reserved in steps of this many bytes.
const HISTORY_STEP: u64 = 64 << 10;

/// The open transactions of a database.
pub(in crate::db) struct Transactions {
    limits: TxnLimits,
    /// Numbers up to this one were handed out before the database was opened.
    first: u64,
    /// The memory of staged changes and of old versions.
    reservation: Arc<Reservation>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    open: FxHashMap<u64, Arc<OpenTxn>>,
    /// The number of open transactions of each client.
    clients: FxHashMap<IpAddr, usize>,
    /// The versions that queries read, oldest first.
    starts: VecDeque<Start>,
    /// The memory that those versions retain.
    history: Option<Held>,
    /// The last ended transactions, in order.
    ended: VecDeque<u64>,
    /// The number of statements staged in all transactions together.
    staged: u64,
    /// The time of the next search for idle transactions.
    next_look: Option<Instant>,
}

/// A run of start timestamps that read the same version.
struct Start {
    first: u64,
    last: u64,
    used: Instant,
    snapshot: Snapshot,
}

/// The state of a transaction number.
pub(in crate::db) enum Resolved {
    /// It belongs to an open transaction.
    Open(Arc<OpenTxn>),
    /// A query read this version at that number.
    Start(Snapshot),
    /// The transaction has ended; with the version that it began with, if that is retained.
    Ended(Option<Snapshot>),
    /// It was handed out before the database was opened: staged changes of that transaction are
    /// lost.
    Lost,
    /// The number is unknown.
    Nothing,
}

impl Transactions {
    /// Creates an empty list. Numbers up to `first` belong to transactions of an earlier run, which
    /// are lost.
    pub(in crate::db) fn new(limits: TxnLimits, first: u64, budget: &Budget) -> Transactions {
        let reservation = Arc::new(budget.reservation());
        Transactions { limits, first, reservation, inner: Mutex::default() }
    }

    /// Reserves memory for the lifetime of a transaction.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when there is none.
    pub(in crate::db) fn hold(&self, bytes: u64) -> Result<Held> {
        Held::reserve(&self.reservation, bytes)
    }

    /// Adds a transaction, unless there is one of its number, which is returned then.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when too many are open.
    pub(in crate::db) fn add(&self, txn: OpenTxn) -> Result<Arc<OpenTxn>> {
        let mut inner = self.lock();
        inner.drop_idle(self.limits.idle);
        if let Some(existing) = inner.open.get(&txn.number()) {
            return Ok(Arc::clone(existing));
        }
        if self.limits.open <= inner.open.len() {
            let most = self.limits.open;
            let message = format!(
                "{most} transactions are open, which is the most there may be: commit or discard \
                 some"
            );
            return Err(Error::Limit { message });
        }
        if let Some(client) = txn.client() {
            let count = inner.clients.entry(client).or_default();
            if self.limits.per_client <= *count {
                let most = self.limits.per_client;
                let message = format!(
                    "{most} transactions of {client} are open, which is the most that one client \
                     may have: commit or discard some, or raise `--txn-per-client`"
                );
                return Err(Error::Limit { message });
            }
            *count += 1;
        }
        let txn = Arc::new(txn);
        inner.open.insert(txn.number(), Arc::clone(&txn));
        Ok(txn)
    }

    /// Notes that a transaction has ended, with so many statements staged in it.
    pub(in crate::db) fn end(&self, number: u64, statements: u64) {
        let mut inner = self.lock();
        inner.remove(number, statements);
    }

    /// Makes space for statements in a transaction.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when there is none.
    pub(super) fn reserve(&self, statements: u64) -> Result<()> {
        let mut inner = self.lock();
        let most = self.limits.statements;
        // In this form the sum can't overflow.
        if most - inner.staged.min(most) < statements {
            let staged = inner.staged;
            let message = format!(
                "{statements} more statements in open transactions, which hold {staged} of at \
                 most {most}"
            );
            return Err(Error::Limit { message });
        }
        inner.staged += statements;
        Ok(())
    }

    /// Returns all open transactions, in no particular order.
    pub(in crate::db) fn all(&self) -> Vec<Arc<OpenTxn>> {
        let mut inner = self.lock();
        inner.drop_idle(self.limits.idle);
        inner.open.values().cloned().collect()
    }

    /// The number of open transactions.
    pub(in crate::db) fn count(&self) -> usize {
        self.lock().open.len()
    }

    /// The newest version with a new start timestamp, by which [`Transactions::find`] returns it
    /// for a while.
    pub(in crate::db) fn start(&self, store: &Store) -> (Arc<Version>, u64) {
        let mut inner = self.lock();
        // Acquired under the lock, so the list is in order.
        let snapshot = store.snapshot();
        let (version, number, used) =
            (Arc::clone(snapshot.version()), snapshot.number(), Instant::now());
        inner.drop_idle(self.limits.idle);
        match inner.starts.back_mut() {
            Some(run) if Arc::ptr_eq(run.snapshot.version(), &version) => {
                (run.last, run.used) = (number, used);
            }
            _ => inner.starts.push_back(Start { first: number, last: number, used, snapshot }),
        }
        // One at a time is added, so one is enough.
        if STARTS_MAX < inner.starts.len() {
            inner.starts.pop_front();
        }
        self.bound_history(&mut inner, &version);
        (version, number)
    }

    /// Releases versions that retain too much memory, after a newer version was published.
    pub(in crate::db) fn note_version(&self, newest: &Version) {
        let mut inner = self.lock();
        inner.drop_idle(self.limits.idle);
        self.bound_history(&mut inner, newest);
    }

    /// Drops transactions and versions that nobody has used for the idle time.
    pub(super) fn expire(&self) {
        self.lock().drop_idle(self.limits.idle);
    }

    /// Versions have unchanged data in common. So the retained ones need at most as much in
    /// addition to the newest one as was replaced since the oldest of them.
    fn bound_history(&self, inner: &mut Inner, newest: &Version) {
        let held = inner.history.as_ref().map_or(0, Held::bytes);
        loop {
            let oldest = inner.starts.front().map(|run| run.snapshot.version().replaced);
            let Some(oldest) = oldest else { break inner.history = None };
            let bytes = newest.replaced.saturating_sub(oldest);
            // Small differences to the reservation are ignored: this is called often.
            if bytes <= held && held <= 2 * bytes + HISTORY_STEP {
                break;
            }
            // It is given back first, so that the next reservation needs no space for both.
            inner.history = None;
            if bytes <= self.limits.history
                && let Ok(held) = self.hold(bytes + HISTORY_STEP)
            {
                break inner.history = Some(held);
            }
            inner.starts.pop_front();
        }
    }

    /// Looks a transaction number up.
    pub(in crate::db) fn find(&self, number: u64) -> Resolved {
        let mut inner = self.lock();
        inner.drop_idle(self.limits.idle);
        if let Some(txn) = inner.open.get(&number) {
            return Resolved::Open(Arc::clone(txn));
        }
        let start = inner.start_of(number);
        match start {
            // A pass over at most `ENDED_MAX` numbers, for one that is not open any more.
            start if inner.ended.contains(&number) => Resolved::Ended(start),
            Some(snapshot) => Resolved::Start(snapshot),
            None if number <= self.first => Resolved::Lost,
            None => Resolved::Nothing,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // What runs under the lock does not panic halfway.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Drops what nobody used for the time `idle`. Looks at all only now and then.
    fn drop_idle(&mut self, idle: Duration) {
        let now = Instant::now();
        if self.next_look.is_some_and(|next| now < next) {
            return;
        }
        // A transaction lives at most a sixteenth longer than its time, and the search costs next
        // to nothing.
        self.next_look = now.checked_add(idle / 16);
        // The runs are in the order of their timestamps. One that was used recently retains those
        // after it: they are released when there are too many, or too many bytes.
        while self.starts.front().is_some_and(|run| idle <= now.duration_since(run.used)) {
            self.starts.pop_front();
        }
        let idle = self.open.values().filter_map(|txn| Some((txn.number(), txn.drop_idle(idle)?)));
        for (number, statements) in idle.collect::<Vec<_>>() {
            self.remove(number, statements);
        }
    }

    /// Forgets a transaction that has ended with so many statements staged in it.
    fn remove(&mut self, number: u64, statements: u64) {
        self.staged = self.staged.saturating_sub(statements);
        let client = self.open.remove(&number).and_then(|txn| txn.client());
        if let Some(client) = client
            && let Entry::Occupied(mut count) = self.clients.entry(client)
        {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
        self.note_end(number);
    }

    fn start_of(&mut self, number: u64) -> Option<Snapshot> {
        // Runs are disjoint and ascend, so the first with a greater last number is the only one
        // that may contain it.
        let position = self.starts.partition_point(|run| run.last < number);
        let run = self.starts.get_mut(position).filter(|run| run.first <= number)?;
        run.used = Instant::now();
        Some(run.snapshot.clone())
    }

    fn note_end(&mut self, number: u64) {
        self.ended.push_back(number);
        if ENDED_MAX < self.ended.len() {
            self.ended.pop_front();
        }
    }
}
