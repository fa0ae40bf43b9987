//! The sizes from which the graph works in another way: folds changes, walks over vectors, forgets conflicts.
//!
//! None of them changes what is stored or answered, with one exception: fewer commits than a full table of
//! conflicts holds are told from those that a transaction must not overwrite, so a transaction may have to be
//! repeated earlier. A version has its thresholds from the one before; they are not kept in files.

use crate::index::VectorThresholds;

/// A part of a predicate is folded when more than one in this many of its rows have changed.
const CHANGED_SHARE: usize = 8;

/// The sizes from which folds, replays, walks over vectors and the table of conflicts behave in another way. The
/// default is for graphs of any size; [`Thresholds::small`] has graphs of a few nodes reach them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// The number of changed rows up to which a part of a predicate is never folded into its base: reading through them
    /// costs little.
    pub changes_min: usize,
    /// When the index of vectors is walked.
    pub vectors: VectorThresholds,
    /// The statements of a log that are gathered before they are carried out together.
    pub replayed_max: usize,
    /// How many numbers each commit leaves free for the snapshots that are taken before it is published. When more are
    /// taken, the others get greater numbers than the commit, as if they had it. Nothing but the order of the numbers
    /// is wrong then: conflicts are told by the versions.
    pub commit_gap: u64,
    /// The conflict keys that are kept at the most, of all commits that an open transaction may ask about.
    pub conflict_keys_max: usize,
    /// The predicates that were changed as a whole, of which it is kept at the most when that was.
    pub conflict_names_max: usize,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds {
            changes_min: 4096,
            vectors: VectorThresholds::default(),
            replayed_max: 1 << 18,
            commit_gap: 1 << 10,
            conflict_keys_max: 1 << 20,
            conflict_names_max: 1 << 14,
        }
    }
}

impl Thresholds {
    /// Thresholds for tests, whose graphs are small.
    pub fn small() -> Thresholds {
        Thresholds {
            changes_min: 4,
            vectors: VectorThresholds { compared_max: 100, walk_cost: 1 },
            replayed_max: 5,
            commit_gap: 4,
            conflict_keys_max: 100,
            conflict_names_max: 10,
        }
    }

    /// True when `changes` changed rows are to be folded into a base of `rows` rows. Amortised, a change costs O(log)
    /// then, whatever the size of the base.
    pub(in crate::graph) fn is_large(&self, changes: usize, rows: usize) -> bool {
        self.changes_min.max(rows / CHANGED_SHARE) < changes
    }
}
