//! Work on entire predicates concurrently with writers: loads and compactions.
//!
//! Work that costs O(data) runs without the writer lock, on the version that is newest when it
//! begins. Later commits are replayed in rounds without the lock while they are many, and the rest
//! under the lock. So a writer waits only for the last few commits.

use super::catch_up::{CatchUp, Tail};
use super::rebuilding::RebuildLock;
use super::store::{Store, check_full};
use crate::graph::build::compact::{is_clean, is_compaction_due, urgency};
use crate::graph::build::compaction::Compaction;
use crate::graph::version::graph_version::Version;
use crate::graph::version::weight::of_compaction;
use hexgraph_base::types::{Check, Result, parallel};
use std::sync::Arc;

/// Catch-up rounds without the writer lock: at most this many,
const CATCH_UP_ROUNDS: usize = 8;

/// while more rows or commits than this are left. The writer lock is then held for about as many.
const CATCH_UP_ROWS: usize = 64;

/// A background compaction needs this many times its memory, so that concurrent requests can use
/// most of what is free.
const REST_CAPACITY: u64 = 4;

/// Calls `catch_up` until few enough commits are left for the writer lock, at most a few times.
/// `catch_up` applies what was committed since its last call and returns the number of rows or
/// commits.
///
/// # Errors
///
/// Those of `catch_up`.
pub fn catch_up_outside(mut catch_up: impl FnMut() -> Result<usize>) -> Result<()> {
    for _ in 0..CATCH_UP_ROUNDS {
        if catch_up()? <= CATCH_UP_ROWS {
            break;
        }
    }
    Ok(())
}

/// Where a load is retained before it is published, so that it is not lost in a crash.
pub trait LoadHome {
    /// Called under the writer lock before the load begins: later commits come after the load.
    ///
    /// # Errors
    ///
    /// Those of the home. The load does not start then.
    fn begin(&mut self) -> Result<()>;

    /// Writes what was loaded, without concurrent commits. Called without the writer lock.
    ///
    /// # Errors
    ///
    /// Those of the home. The load fails then.
    fn write(&mut self, version: &Version) -> Result<()>;

    /// Makes the written files, with the commits since [`LoadHome::begin`], the state that recovery
    /// reads. Called under the writer lock.
    ///
    /// # Errors
    ///
    /// Those of the home. The load fails then.
    fn switch(&mut self) -> Result<()>;
}

/// An in-memory graph stores nothing.
impl LoadHome for () {
    fn begin(&mut self) -> Result<()> {
        Ok(())
    }

    fn write(&mut self, _: &Version) -> Result<()> {
        Ok(())
    }

    fn switch(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Stops collecting records when dropped, even if a load fails or panics.
struct NotesEnd<'a>(&'a Store);

impl Drop for NotesEnd<'_> {
    fn drop(&mut self) {
        self.0.writer_lock().tail = None;
    }
}

impl Store {
    /// Publishes what `change` makes of the newest version, after `home` has written it. Writers go
    /// on, and their commits count as later: they are replayed on the result. An open transaction
    /// that changes one of the new predicates conflicts.
    ///
    /// # Errors
    ///
    /// Those of `change` and of `home`; [`hexgraph_base::types::Error::Query`] if a concurrent
    /// commit is incompatible with the result. The current version stays then.
    pub fn write_concurrently<T>(
        &self,
        _writer_lock: &RebuildLock<'_>,
        home: &mut dyn LoadHome,
        change: impl FnOnce(&Arc<Version>) -> Result<(Version, T)>,
    ) -> Result<T> {
        let base = {
            let mut writer_lock = self.writer_lock();
            // Under the same lock as the head: the base has all that is in the log now, and the
            // tail gets all that follows.
            home.begin()?;
            writer_lock.tail = Some(Tail::new(&writer_lock.head.budget));
            Arc::clone(&writer_lock.head)
        };
        let _end = NotesEnd(self);
        let (made, answer) = change(&base)?;
        check_full(&made)?;
        home.write(&made)?;
        let mut catch_up = CatchUp::new(&base, made);
        let drain =
            |tail: &mut Option<Tail>| tail.as_mut().map_or_else(|| Ok(Vec::new()), Tail::drain);
        catch_up_outside(|| {
            let records = drain(&mut self.writer_lock().tail)?;
            catch_up.add(&records)?;
            Ok(records.len())
        })?;
        let mut writer_lock = self.writer_lock();
        catch_up.add(&drain(&mut writer_lock.tail)?)?;
        let mut next = catch_up.finish(&writer_lock.head)?;
        next.commit = self.snapshots.next_number();
        // First what recovery reads, then what readers see: nobody reads what could still be lost.
        home.switch().inspect_err(|_| self.snapshots.give_up(next.commit))?;
        self.publish_made(writer_lock, next).map(|()| answer)
    }

    /// True if some predicate is due for compaction, or will be once commits pause. O(predicates).
    pub fn is_compaction_due(&self) -> bool {
        let version = self.version();
        version.predicates.values().any(|it| is_compaction_due(it, &version.thresholds))
    }

    /// Compacts the most overdue part of a predicate (the values in one language, the edges in one
    /// direction) concurrently with writers, which wait only while the last changes are applied.
    /// Returns false if no compaction is due. Costs O(part), and memory for two more copies of it.
    /// Waits for other builds of entire predicates. `is_at_rest`: commits have paused, so fewer
    /// changes are due.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Limit`] without enough memory, at rest four times as much.
    /// Nothing changes then.
    pub fn compact_next(&self, is_at_rest: bool) -> Result<bool> {
        let _rebuilding = self.rebuild_lock();
        let version = self.version();
        let thresholds = version.thresholds;
        let is_due = |changes, rows| match is_at_rest {
            true => thresholds.is_due_at_rest(changes, rows),
            false => thresholds.is_due(changes, rows),
        };
        let due = version
            .predicates
            .iter()
            .filter_map(|(name, it)| Some((urgency(it, &thresholds, is_due)?, name, it)));
        // The most urgent first. Any other order could starve a predicate, as those before it
        // become due again.
        let Some((most, name, seen)) = due.max_by(|one, other| one.0.total_cmp(&other.0)) else {
            return Ok(false);
        };
        let is_latest =
            |changes, rows| is_due(changes, rows) && most <= thresholds.urgency(changes, rows);
        let reservation = version.budget.reservation();
        let weight = of_compaction(seen, is_latest) as u64;
        if is_at_rest {
            // Only checked: a reservation, however short, could refuse a request meanwhile.
            version.budget.check_free(weight.saturating_mul(REST_CAPACITY))?;
        }
        reservation.reserve(weight)?;
        let compaction = Compaction::of(seen, &thresholds, is_latest);
        let compactions = vec![(Arc::clone(name), compaction)];
        // The version is released once the compaction no longer needs it.
        drop(version);
        self.put_compactions(compactions)?;
        Ok(true)
    }

    /// Publishes the compactions that `make` builds from the newest version, concurrently with
    /// writers. The changes of the last commits may stay. Waits for other builds of entire
    /// predicates.
    ///
    /// # Errors
    ///
    /// Those of `make`. Nothing changes then.
    pub fn compact_all(&self, make: impl FnOnce(&Version) -> Result<Compactions>) -> Result<()> {
        let _rebuilding = self.rebuild_lock();
        let head = self.head();
        let compactions = make(&head)?;
        drop(head);
        self.put_compactions(compactions.0)
    }

    /// Replaces predicates by their compacted form, with the commits made since. Skips those whose
    /// base was replaced.
    fn put_compactions(&self, mut compactions: Vec<(Arc<str>, Compaction)>) -> Result<()> {
        catch_up_outside(|| catch_up(&mut compactions, &self.head()))?;
        // About `CATCH_UP_ROWS` rows are left, unless writers were faster than the rounds before.
        let mut writer_lock = self.writer_lock();
        catch_up(&mut compactions, &writer_lock.head)?;
        let compacted: Vec<_> =
            compactions.iter().map(|(name, it)| (Arc::clone(name), it.compacted())).collect();
        if !compacted.is_empty() {
            let mut next = Version::clone(&writer_lock.head);
            next.replace(compacted);
            self.put_arranged(&mut writer_lock, next);
        }
        // What was replaced, and the compactions, are freed without the lock.
        drop(writer_lock);
        Ok(())
    }
}

/// Compactions of predicates that catch up with concurrent commits.
pub struct Compactions(Vec<(Arc<str>, Compaction)>);

impl Compactions {
    /// Compacts all changes of all predicates of a version. Calls `check` before each predicate to
    /// see whether to go on.
    ///
    /// # Errors
    ///
    /// Those of `check`.
    pub fn of(version: &Version, check: Check<'_>) -> Result<Compactions> {
        let unsettled: Vec<_> = version.predicates.iter().filter(|(_, it)| !is_clean(it)).collect();
        let compactions = parallel::map(&unsettled, |(name, seen)| {
            check()?;
            let compaction = Compaction::of(seen, &version.thresholds, |changes, _| 0 < changes);
            Ok((Arc::clone(name), compaction))
        });
        compactions.into_iter().collect::<Result<_>>().map(Compactions)
    }
}

/// Applies the changes up to a version to compactions, and drops those that have become useless.
/// Returns the number of rows applied.
fn catch_up(compactions: &mut Vec<(Arc<str>, Compaction)>, version: &Version) -> Result<usize> {
    let mut rows = 0;
    let mut failure = None;
    compactions.retain_mut(|(name, compaction)| {
        let now = version.predicates.get(name);
        match now.map_or(Ok(None), |now| compaction.catch_up(now, &version.thresholds)) {
            Ok(Some(count)) => {
                rows += count;
                true
            }
            Ok(None) => false,
            Err(error) => {
                failure = Some(error);
                false
            }
        }
    });
    failure.map_or(Ok(rows), Err)
}
