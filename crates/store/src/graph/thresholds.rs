//! The sizes from which the graph works in another way: folds changes, walks over vectors, forgets conflicts.
//!
//! None of them changes what is stored or answered, with one exception: fewer commits than a full table of
//! conflicts holds are told from those that a transaction must not overwrite, so a transaction may have to be
//! repeated earlier. A version has its thresholds from the one before; they are not kept in files.

use crate::index::VectorThresholds;

/// A part of a predicate is folded when more than one in this many of its rows have changed. A change then costs O(this many)
/// rows of a fold, amortised, and a query that reads all rows meets one change in this many at most while no fold is late.
const DUE_RATIO: usize = 64;

/// Where no commit comes for a while, more than one changed row in this many is folded, too: what was changed long ago costs queries little, and a change
/// this many rows of a fold at the most.
const REST_RATIO: usize = 256;

/// A commit that sets more than one in this many of the rows builds the part anew at once: that costs less than the changes.
const BULK_RATIO: usize = 8;

/// A commit folds by itself when this many times as much as is due has piled up, because the thread that folds can't keep up.
/// This bounds the memory of changes.
const OVERDUE: f64 = 4.0;

/// Who folds the changes of a graph into its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Folding {
    /// A thread beside the writers, which starts when a fold is due and ends when none is. Commits go on meanwhile.
    #[default]
    Background,
    /// The commit after which a fold is due.
    Commit,
    /// Nobody, until it is asked for. The memory of the changes is not bounded.
    Manual,
}

/// The sizes from which folds, replays, walks over vectors and the table of conflicts behave in another way. The
/// default is for graphs of any size; [`Thresholds::small`] has graphs of a few nodes reach them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// Who folds.
    pub folding: Folding,
    /// The number of changed rows up to which a part of a predicate is never folded into its base: reading through them
    /// costs little.
    pub changes_min: usize,
    /// When the index of vectors is walked.
    pub vectors: VectorThresholds,
    /// The statements of a log that are gathered before they are executed together.
    pub replayed_max: usize,
    /// How many numbers each commit leaves free for the snapshots that are taken before it is published. When more are
    /// taken, the others get greater numbers than the commit, as if they had it. Nothing but the order of the numbers
    /// is wrong then: conflicts are told by the versions.
    pub commit_gap: u64,
    /// The conflict keys that are kept at the most, of all commits that an open transaction may ask about.
    pub conflict_keys_max: usize,
    /// The predicates that were changed as a whole, of which it is kept at the most when that was.
    pub conflict_names_max: usize,
    /// The number of stored rows from which on a load of few statements is executed as a commit is. A smaller graph is quickly
    /// built anew, and quickly saved.
    pub small_rows: usize,
    /// How many stored rows there must be for each statement of such a load.
    pub small_ratio: usize,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds {
            folding: Folding::Background,
            changes_min: 4096,
            vectors: VectorThresholds::default(),
            replayed_max: 1 << 18,
            commit_gap: 1 << 10,
            conflict_keys_max: 1 << 20,
            conflict_names_max: 1 << 14,
            small_rows: 1 << 16,
            small_ratio: 16,
        }
    }
}

impl Thresholds {
    /// Thresholds for tests that fold small graphs beside their writers.
    pub fn small_background() -> Thresholds {
        Thresholds { folding: Folding::Background, ..Thresholds::small() }
    }

    /// Thresholds for tests, whose graphs are small.
    pub fn small() -> Thresholds {
        Thresholds {
            folding: Folding::Commit,
            changes_min: 4,
            vectors: VectorThresholds { compared_max: 100, walk_cost: 1 },
            replayed_max: 5,
            commit_gap: 4,
            conflict_keys_max: 100,
            conflict_names_max: 10,
            // Tests of what comes beside loads need loads that take their time.
            small_rows: usize::MAX,
            small_ratio: 1,
        }
    }

    /// True when `changes` changed rows are to be folded into a base of `rows` rows. Amortised, a change costs O(log)
    /// then, whatever the size of the base.
    pub(in crate::graph) fn is_due(&self, changes: usize, rows: usize) -> bool {
        1.0 < self.urgency(changes, rows)
    }

    /// True when `changes` changed rows are to be folded into a base of `rows` rows as soon as no commit comes.
    pub(in crate::graph) fn is_due_at_rest(&self, changes: usize, rows: usize) -> bool {
        self.changes_min.max(rows / REST_RATIO) < changes
    }

    /// How many times as many rows have changed as may wait to be folded into a base of `rows` rows: above 1 where they are due.
    pub(in crate::graph) fn urgency(&self, changes: usize, rows: usize) -> f64 {
        changes as f64 / self.changes_min.max(rows / DUE_RATIO) as f64
    }

    /// True when a commit must fold `changes` changed rows itself.
    pub(in crate::graph) fn is_overdue(&self, changes: usize, rows: usize) -> bool {
        match self.folding {
            Folding::Background => OVERDUE < self.urgency(changes, rows),
            Folding::Commit => self.is_due(changes, rows),
            Folding::Manual => false,
        }
    }

    /// True when a load of so many statements is executed as a commit is, in a graph of `rows` stored rows.
    pub(in crate::graph) fn is_small(&self, statements: usize, rows: usize) -> bool {
        let is_large = self.small_rows.max(self.small_ratio * statements) <= rows;
        is_large && statements <= self.changes_min
    }

    /// True when a commit that sets `changes` rows lays them into a new base at once.
    pub(in crate::graph) fn is_bulk(&self, changes: usize, rows: usize) -> bool {
        self.changes_min.max(rows / BULK_RATIO) < changes
    }
}
