//! Hashes and compares passwords on behalf of a request.
//!
//! Each takes a twentieth of a second of a core, and hashes of others up to a second. So only so
//! many are computed at once in the process, each on the thread of its request, which looks at its
//! control between two of them and while it waits; and the thread with the writer lock computes
//! none. A request caches what it has computed: when it is staged again under the lock, because the
//! data has changed since, all is cached. What is missing aborts that attempt, and is computed
//! without the lock.

use hexgraph_base::types::{Error, Result, Value, before_waiting};
use rustc_hash::FxHashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{mem, process, thread};

/// How often a request that waits to compute a hash looks whether it has to stop.
const WAIT: Duration = Duration::from_millis(10);

/// The number of hashes that are being computed in the process.
static BUSY: Mutex<Busy> = Mutex::new(Busy { process: 0, count: 0 });
static FREED: Condvar = Condvar::new();

struct Busy {
    /// The process that counts. A forked child begins at 0: what it inherits is computed by its
    /// parent.
    process: u32,
    count: usize,
}

/// A position among the hashes that are computed at once; it is given back when it is dropped.
struct Position;

/// The hashes and comparisons that a request has computed, so that a second attempt need not
/// compute them again.
#[derive(Default)]
pub(in crate::exec) struct Computed {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// True while the request has the writer lock.
    in_turn: bool,
    /// True when something had to be computed under the lock, and was not.
    is_missing: bool,
    /// The hashes of a text, in the order in which they were requested: no two nodes have the same
    /// one.
    hashed: FxHashMap<String, Vec<Value>>,
    /// The number of hashes of a text that were handed out since the last attempt began.
    handed_out: FxHashMap<String, usize>,
    verified: FxHashMap<(String, String), bool>,
}

impl Computed {
    /// The hash of a password that is long enough. `check` says whether the request may go on.
    ///
    /// # Errors
    ///
    /// Those of `check`; [`Error::Limit`] under the writer lock.
    pub(in crate::exec) fn hash(
        &self,
        plain: &str,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Value> {
        let mut state = self.lock();
        let position = *state.handed_out.get(plain).unwrap_or(&0);
        if let Some(existing) = state.hashed.get(plain).and_then(|existing| existing.get(position))
        {
            let existing = existing.clone();
            state.handed_out.insert(plain.to_owned(), position + 1);
            return Ok(existing);
        }
        drop(state);
        let hash = self.compute(check, || Value::hash_password(plain).map_err(Error::query))?;
        let mut state = self.lock();
        state.hashed.entry(plain.to_owned()).or_default().push(hash.clone());
        state.handed_out.insert(plain.to_owned(), position + 1);
        Ok(hash)
    }

    /// Whether a hash is that of a password.
    ///
    /// # Errors
    ///
    /// As [`Computed::hash`]; [`Error::Query`] for a hash that takes too long.
    pub(in crate::exec) fn verify(
        &self,
        hash: &str,
        plain: &str,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<bool> {
        let key = (hash.to_owned(), plain.to_owned());
        if let Some(existing) = self.lock().verified.get(&key) {
            return Ok(*existing);
        }
        let work = || Value::verify_password(hash, plain).map_err(Error::query);
        let is_right = self.compute(check, work)?;
        self.lock().verified.insert(key, is_right);
        Ok(is_right)
    }

    /// How many comparisons were computed.
    pub(super) fn compared(&self) -> usize {
        self.lock().verified.len()
    }

    /// Forgets the hashes of a change before this one, which no other may use.
    pub(super) fn forget(&self) {
        let mut state = self.lock();
        state.hashed.clear();
        state.handed_out.clear();
    }

    /// Begins another attempt of the same change: it gets the hashes of the one before.
    pub(super) fn begin_again(&self) {
        self.lock().handed_out.clear();
    }

    /// Calls a function under the writer lock, where no password is computed. `None` when it failed
    /// because one would have to be.
    ///
    /// # Errors
    ///
    /// Those of `work`.
    pub(super) fn in_turn<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        {
            let mut state = self.lock();
            (state.in_turn, state.is_missing) = (true, false);
        }
        let done = work();
        let mut state = self.lock();
        state.in_turn = false;
        // Where the work succeeded all the same nobody needed what was missing.
        match mem::take(&mut state.is_missing) && done.is_err() {
            true => Ok(None),
            false => done.map(Some),
        }
    }

    fn compute<T>(
        &self,
        check: &dyn Fn() -> Result<()>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        {
            let mut state = self.lock();
            if state.in_turn {
                state.is_missing = true;
                return Err(Error::Limit { message: "a password takes too long here".to_owned() });
            }
        }
        check()?;
        let _position = Position::take(check)?;
        work()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that runs under the lock panics halfway.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Position {
    /// Waits until fewer than half of the cores compute.
    fn take(check: &dyn Fn() -> Result<()>) -> Result<Position> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let most = (cores / 2).max(1);
        before_waiting();
        let mut busy = BUSY.lock().unwrap_or_else(PoisonError::into_inner);
        if busy.process != process::id() {
            *busy = Busy { process: process::id(), count: 0 };
        }
        while most <= busy.count {
            // With a timeout, since the one who waits has to look at its own request now and then.
            let waited = FREED.wait_timeout(busy, WAIT);
            busy = waited.unwrap_or_else(PoisonError::into_inner).0;
            check()?;
        }
        busy.count += 1;
        Ok(Position)
    }
}

impl Drop for Position {
    fn drop(&mut self) {
        let mut busy = BUSY.lock().unwrap_or_else(PoisonError::into_inner);
        busy.count = busy.count.saturating_sub(1);
        drop(busy);
        FREED.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    const FREE: &dyn Fn() -> Result<()> = &|| Ok(());

    #[test]
    fn an_attempt_gets_the_hashes_of_the_one_before() {
        let computed = Computed::default();
        let hash = || computed.hash("secret", FREE);
        let first = (hash().unwrap(), hash().unwrap());
        assert_ne!(first.0, first.1, "no two nodes share a hash");
        computed.begin_again();
        let again = computed.in_turn(|| Ok((hash()?, hash()?)));
        assert_eq!(again.unwrap(), Some(first.clone()));
        computed.forget();
        assert_eq!(computed.in_turn(hash).unwrap(), None);
        assert_ne!(hash().unwrap(), first.0);
    }

    #[test]
    fn the_writer_computes_nothing() {
        let computed = Computed::default();
        let Value::Password(hash) = computed.hash("secret", FREE).unwrap() else {
            panic!("no hash")
        };
        let verify = || computed.verify(&hash, "secret", FREE);
        assert_eq!(computed.in_turn(verify).unwrap(), None);
        assert!(verify().unwrap());
        assert_eq!(computed.in_turn(verify).unwrap(), Some(true));
        let other = computed.in_turn(|| Err::<(), _>(Error::query("no")));
        assert_eq!(other.unwrap_err().to_string(), "no");
    }

    #[test]
    fn one_who_waits_can_be_stopped() {
        let computed = Computed::default();
        let started = Instant::now();
        let late = || Error::Limit { message: "too late".to_owned() };
        let check =
            || if started.elapsed() < Duration::from_millis(100) { Ok(()) } else { Err(late()) };
        let done: Result<Vec<Value>> = (0..100).map(|_| computed.hash("secret", &check)).collect();
        assert_eq!(done.unwrap_err().to_string(), "too late");
        assert!(started.elapsed() < Duration::from_secs(3));
    }
}
