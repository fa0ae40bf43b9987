//! The sizes at which the graph changes its strategy: compaction, vector search, conflict tracking.
//!
//! They change neither what is stored nor what is answered, with one exception: a full conflict
//! table forgets old commits, so a transaction may have to be repeated. A version inherits its
//! thresholds; they are not stored in files.

use crate::index::VectorThresholds;

/// A part of a predicate is compacted when more than one in this many of its rows have changed. A
/// change then costs O(this many) rows of compaction, amortised, and a full scan meets at most one
/// change in this many rows unless a compaction is overdue.
const DUE_RATIO: usize = 64;

/// When commits pause, parts with more than one changed row in this many are compacted, too. Old
/// changes then cost queries little, and a change costs at most this many rows of compaction.
const REST_RATIO: usize = 256;

/// A commit that sets more than one in this many of the rows rebuilds the part at once, which costs
/// less than the changes.
const BULK_RATIO: usize = 8;

/// A commit compacts by itself when this many times the due number of changes has piled up because
/// the compaction thread cannot keep up. This bounds the memory of changes.
const OVERDUE: f64 = 4.0;

/// Which thread compacts the changes of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Folding {
    /// A background thread, which starts when a compaction is due and ends when none is. Commits go
    /// on meanwhile.
    #[default]
    Background,
    /// The commit that makes a compaction due.
    Commit,
    /// None, until compaction is requested. The memory of changes is unbounded.
    Manual,
}

/// The sizes that control compaction, replay, vector search and the conflict table. The default
/// suits graphs of any size; with [`Thresholds::small`] graphs of a few nodes reach all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// Which thread compacts.
    pub folding: Folding,
    /// Up to this many changed rows a part of a predicate is never compacted: reading through them
    /// costs little.
    pub changes_min: usize,
    /// When the index of vectors is walked.
    pub vectors: VectorThresholds,
    /// The statements of a log that are gathered before they are executed together.
    pub replayed_max: usize,
    /// The numbers that each commit leaves free for snapshots before it is published. Further
    /// snapshots get numbers above the commit, as if they had it. Only the order of the numbers is
    /// wrong then: conflicts are detected by versions.
    pub commit_gap: u64,
    /// The most conflict keys retained, over all commits that an open transaction may query.
    pub conflict_keys_max: usize,
    /// The most entirely changed predicates for which the commit is retained.
    pub conflict_names_max: usize,
    /// The number of stored rows from which a load of few statements runs as a commit. A smaller
    /// graph is quickly rebuilt and saved.
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
    /// Thresholds for tests that compact small graphs in the background.
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
            // Tests of concurrent commits need loads that run for a while.
            small_rows: usize::MAX,
            small_ratio: 1,
        }
    }

    /// True if `changes` changed rows are to be compacted into a base of `rows` rows. Amortised, a
    /// change then costs O(log), whatever the size of the base.
    pub(in crate::graph) fn is_due(&self, changes: usize, rows: usize) -> bool {
        1.0 < self.urgency(changes, rows)
    }

    /// True if `changes` changed rows are to be compacted into a base of `rows` rows once commits
    /// pause.
    pub(in crate::graph) fn is_due_at_rest(&self, changes: usize, rows: usize) -> bool {
        self.changes_min.max(rows / REST_RATIO) < changes
    }

    /// The ratio of the changed rows to those allowed before a compaction into a base of `rows`
    /// rows: above 1 if due.
    pub(in crate::graph) fn urgency(&self, changes: usize, rows: usize) -> f64 {
        changes as f64 / self.changes_min.max(rows / DUE_RATIO) as f64
    }

    /// True if a commit must compact `changes` changed rows itself.
    pub(in crate::graph) fn is_overdue(&self, changes: usize, rows: usize) -> bool {
        match self.folding {
            Folding::Background => OVERDUE < self.urgency(changes, rows),
            Folding::Commit => self.is_due(changes, rows),
            Folding::Manual => false,
        }
    }

    /// True if a load of so many statements runs as a commit in a graph of `rows` stored rows.
    pub(in crate::graph) fn is_small(&self, statements: usize, rows: usize) -> bool {
        let is_large = self.small_rows.max(self.small_ratio * statements) <= rows;
        is_large && statements <= self.changes_min
    }

    /// True when a commit that sets `changes` rows lays them into a new base at once.
    pub(in crate::graph) fn is_bulk(&self, changes: usize, rows: usize) -> bool {
        self.changes_min.max(rows / BULK_RATIO) < changes
    }
}
