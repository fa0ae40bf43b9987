//! Work on entire predicates beside the writers: loads and folds.
//!
//! What takes as long as the data are large is done without the writers' turn, upon a version that was the newest when it began. What was
//! committed meanwhile is taken over several times without the turn, as long as it is much, and the rest within: so a writer waits for
//! the last few commits to be taken over.

use super::catch_up::{CatchUp, Tail};
use super::rebuilding::RebuildLock;
use super::store::{Store, check_full};
use crate::graph::build::compact::{is_clean, is_compaction_due, urgency};
use crate::graph::build::compaction::Compaction;
use crate::graph::version::graph_version::Version;
use crate::graph::version::weight::of_compaction;
use hexgraph_base::types::{Check, Result, parallel};
use std::sync::Arc;

/// What was committed meanwhile is taken over outside of the writers' turn at most this many times,
const CATCH_UP_ROUNDS: usize = 8;

/// as long as it is more rows or commits than this. The turn is then held for that many or so.
const CATCH_UP_ROWS: usize = 64;

/// A fold that nobody waits for needs space for this many of its kind, so that the requests that come meanwhile find most of what is free.
const REST_CAPACITY: u64 = 4;

/// Calls `catch_up`, which takes over what was committed since its last call and returns the number of rows or commits, until that is so little
/// that the rest can be taken over in the writers' turn, or for the last time of a few.
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
    /// Called in the writers' turn before the load begins: what is committed from now on comes after it.
    ///
    /// # Errors
    ///
    /// Those of the home; there is no load then.
    fn begin(&mut self) -> Result<()>;

    /// Writes what was loaded, without the commits that came meanwhile. Called outside of the turn.
    ///
    /// # Errors
    ///
    /// Those of the home; there is no load then.
    fn write(&mut self, version: &Version) -> Result<()>;

    /// Makes what was written, with the commits since [`LoadHome::begin`], what is found after a crash. Called in the turn.
    ///
    /// # Errors
    ///
    /// Those of the home; there is no load then.
    fn switch(&mut self) -> Result<()>;
}

/// A graph in memory keeps nothing.
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

/// Ends the notes of commits when it is dropped, also where a load fails or panics.
struct NotesEnd<'a>(&'a Store);

impl Drop for NotesEnd<'_> {
    fn drop(&mut self) {
        self.0.writer_lock().tail = None;
    }
}

impl Store {
    /// Publishes what `change` makes of the newest version, after it was written to its home. Writers go on meanwhile, and what they
    /// commit counts as later: it is executed upon what was made. An open transaction that changes one of the predicates that
    /// were made is in conflict.
    ///
    /// # Errors
    ///
    /// Those of `change` and of `home`; [`hexgraph_base::types::Error::Query`] when a commit that came meanwhile does not go with what was made.
    /// The current version stays then.
    pub fn write_concurrently<T>(
        &self,
        _writer_lock: &RebuildLock<'_>,
        home: &mut dyn LoadHome,
        change: impl FnOnce(&Arc<Version>) -> Result<(Version, T)>,
    ) -> Result<T> {
        let base = {
            let mut writer_lock = self.writer_lock();
            // In one turn with the head: what the log has up to now is in the base, and the tail gets all that follows.
            home.begin()?;
            writer_lock.tail = Some(Tail::new(&writer_lock.head.budget));
            Arc::clone(&writer_lock.head)
        };
        let _end = NotesEnd(self);
        let (made, answer) = change(&base)?;
        check_full(&made)?;
        home.write(&made)?;
        let mut catch_up = CatchUp::new(&base, made);
        let take =
            |tail: &mut Option<Tail>| tail.as_mut().map_or_else(|| Ok(Vec::new()), Tail::drain);
        catch_up_outside(|| {
            let records = take(&mut self.writer_lock().tail)?;
            catch_up.add(&records)?;
            Ok(records.len())
        })?;
        let mut writer_lock = self.writer_lock();
        catch_up.add(&take(&mut writer_lock.tail)?)?;
        let mut next = catch_up.finish(&writer_lock.head)?;
        next.commit = self.snapshots.next_number();
        // First what is found after a crash, then what readers see: nobody reads what could still be lost.
        home.switch().inspect_err(|_| self.snapshots.give_up(next.commit))?;
        self.publish_made(writer_lock, next).map(|()| answer)
    }

    /// True when the changes of some predicate are due to be folded, or will be as soon as no commit comes. O(predicates).
    pub fn is_compaction_due(&self) -> bool {
        let version = self.version();
        version.predicates.values().any(|it| is_compaction_due(it, &version.thresholds))
    }

    /// Folds the changes of the part of a predicate (the values in one language, the edges in one direction) that is due longest, beside the
    /// writers: they wait for no more than the last changes that came meanwhile. Returns false when no fold is due. Takes O(part), and
    /// memory for two more copies of it. Waits for others that build entire predicates. `is_at_rest`: no commit came for a while, so fewer changes are due.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Limit`] when there is no memory for it, or at rest not four times as much; nothing has changed then.
    pub fn compact_next(&self, is_at_rest: bool) -> Result<bool> {
        let _rebuilding = self.rebuild_lock();
        let version = self.version();
        let thresholds = version.thresholds;
        let is_due = |changes, rows| match is_at_rest {
            true => thresholds.is_due_at_rest(changes, rows),
            false => thresholds.is_due(changes, rows),
        };
        let catch_up = version
            .predicates
            .iter()
            .filter_map(|(name, it)| Some((urgency(it, &thresholds, is_due)?, name, it)));
        // In any other order a predicate could wait for ever: those before it are due again when they were all folded.
        let Some((most, name, seen)) = catch_up.max_by(|one, other| one.0.total_cmp(&other.0))
        else {
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
        // The version is not kept longer than the fold needs it.
        drop(version);
        self.put_compactions(compactions)?;
        Ok(true)
    }

    /// Publishes the folds that `compaction` makes of the newest version, beside the writers, whose last changes may be left. Waits for
    /// others that build entire predicates.
    ///
    /// # Errors
    ///
    /// Those of `compaction`; nothing has changed then.
    pub fn compact_all(
        &self,
        compaction: impl FnOnce(&Version) -> Result<Compactions>,
    ) -> Result<()> {
        let _rebuilding = self.rebuild_lock();
        let head = self.head();
        let compactions = compaction(&head)?;
        drop(head);
        self.put_compactions(compactions.0)
    }

    /// Puts folded predicates in the places of those that they were made of, with what was committed meanwhile. Those whose base was
    /// replaced meanwhile are left out.
    fn put_compactions(&self, mut compactions: Vec<(Arc<str>, Compaction)>) -> Result<()> {
        catch_up_outside(|| catch_up(&mut compactions, &self.head()))?;
        // About `CATCH_UP_ROWS` rows are left, unless writers were faster than the rounds before.
        let mut writer_lock = self.writer_lock();
        catch_up(&mut compactions, &writer_lock.head)?;
        let compacted: Vec<_> = compactions
            .iter()
            .map(|(name, compaction)| (Arc::clone(name), compaction.compacted()))
            .collect();
        if !compacted.is_empty() {
            let mut next = Version::clone(&writer_lock.head);
            next.replace(compacted);
            self.put_arranged(&mut writer_lock, next);
        }
        // What was replaced is freed behind the turn, with the folds.
        drop(writer_lock);
        Ok(())
    }
}

/// Folds of predicates that keep up with their commits.
pub struct Compactions(Vec<(Arc<str>, Compaction)>);

impl Compactions {
    /// Folds all changes of all predicates of a version. `check` is asked before each predicate whether to go on.
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

/// Has folds catch up with a version, and drops those that have become useless. Returns the number of rows that were taken over.
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
