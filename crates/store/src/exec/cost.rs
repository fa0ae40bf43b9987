//! The cost model: what the steps of the executor cost on a machine, and the settings that compare
//! access paths.
//!
//! A [`Cost`] is the time of one step on one core. The constants of this file are all of them.
//! Other files add and multiply these, and compare two sums where they choose between two
//! strategies, so a threshold has no number of its own. Sums of constants are constants: no loop
//! computes a cost.
//!
//! Costs decide three things: which of two strategies is cheaper, whether threads help
//! ([`CostModel::spread`]), and how many items lie between two checks for cancellation. No answer
//! depends on them.
//!
//! The numbers are for an x86-64 core of about 3 GHz. Where a comment names a bench, the time
//! follows from a row that it prints. An `estimate` is the sum of the cache misses and instructions
//! of the step, rounded.

mod random_choice;

pub use random_choice::RandomChoice;

/// The time of a step on one core, in picoseconds: a row of a scan takes less than a nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cost {
    picos: u64,
}

/// A row of a column that is read in order by vector instructions, with a comparison.
/// `benches/columns.py` prints 0.1 ns for "scan counted" and "top 10, no index", of four bytes from
/// the caches. From memory: an estimate.
pub(crate) const SCAN: Cost = Cost::picos(310);

/// A row that is read in order, and tested or added up by itself. Estimate: three to four
/// instructions.
pub(crate) const ROW: Cost = Cost::nanos(1);

/// A bit of a bitmap that is read or set, at a position that is near the one before. Estimate.
pub(crate) const BIT: Cost = Cost::nanos(2);

/// The number of a node of an ascending list, read from its row. `benches/columns.py` prints 2 ns
/// for "degree, top 10".
pub(crate) const GATHER: Cost = Cost::nanos(2);

/// An entry of a sorted list (a posting, an edge, a row) that is compared, and copied or skipped.
/// Estimate.
pub(crate) const ENTRY: Cost = Cost::nanos(5);

/// A short text that is read in the order of its column, and compared by its first bytes. Estimate.
pub(crate) const TEXT: Cost = Cost::nanos(8);

/// The row of a single node, searched among the subjects of a column that lies in the caches.
/// Estimate.
pub(crate) const LOOKUP: Cost = Cost::nanos(10);

/// An entry of a hash table or of an array by node id, read or written at a random position.
/// Estimate.
pub(crate) const PROBE: Cost = Cost::nanos(15);

/// A filter that tests a single node: a call, a look-up and a comparison. Estimate.
pub(crate) const TEST: Cost = Cost::nanos(20);

/// The list of edges of a node, at a random position. Estimate: a miss of the second cache.
pub(crate) const LIST: Cost = Cost::nanos(25);

/// 64 rows that are tested at once, with the word of bits that results. `benches/columns.py` prints
/// 13 ns for "top 10 of 50 %" without gaps; the cost is an estimate for words with some.
pub(crate) const WORD: Cost = Cost::nanos(30);

/// A value, a name or a bracket of an answer that is written, with its bytes. Estimate.
pub(crate) const WRITE: Cost = Cost::nanos(30);

/// A cell of a group (a key, a count or an aggregate): made, and read at a random position.
/// Estimate.
pub(crate) const CELL: Cost = Cost::nanos(40);

/// An item that is sorted among thousands, with its keys read. Estimate: twelve comparisons.
pub(crate) const SORT: Cost = Cost::nanos(60);

/// Data after several random reads, each a miss of the caches: the facets of an edge, the values of
/// a group. Estimate.
pub(crate) const FETCH: Cost = Cost::nanos(100);

/// A text that is matched against a regular expression or within an edit distance. Estimate.
pub(crate) const PATTERN: Cost = Cost::nanos(150);

/// Setting up another strategy: buffers or tables that are allocated, and a pass to learn how the
/// input lies. Estimate.
pub(crate) const SETUP: Cost = Cost::nanos(512);

/// A geometry that is parsed and tested against another one. Estimate; it grows with the number of
/// corners.
pub(crate) const GEOMETRY: Cost = Cost::nanos(2_000);

/// Waking a thread of the pool and waiting for its result. Estimate: two switches of threads by the
/// operating system.
pub(crate) const WAKE: Cost = Cost::nanos(10_000);

/// The work between two checks whether a request may go on. A choice: it stops a tenth of a
/// millisecond later at most, and a check is a small part of so much work.
pub(crate) const CHECK: Cost = WAKE.times(13);

/// The bytes of the nearest cache of a core, on nearly all processors.
pub(crate) const CACHE_BYTES: usize = 32 << 10;

/// The number of nodes that are read at a time: few enough that what is read of them stays in the
/// nearest cache.
pub(crate) const BATCH: usize = CACHE_BYTES / size_of::<i64>();

/// The bytes of a line of the caches, which are read together.
pub(crate) const CACHE_LINE_BYTES: usize = 64;

impl Cost {
    pub(crate) const NOTHING: Cost = Cost::picos(0);

    /// A cost of so many nanoseconds.
    pub(crate) const fn nanos(nanos: usize) -> Cost {
        Cost { picos: (nanos as u64).saturating_mul(1_000) }
    }

    const fn picos(picos: u64) -> Cost {
        Cost { picos }
    }

    /// The cost in nanoseconds, rounded down.
    pub(crate) const fn as_nanos(self) -> usize {
        (self.picos / 1_000) as usize
    }

    /// The cost of so many steps.
    pub(crate) const fn times(self, steps: usize) -> Cost {
        Cost { picos: self.picos.saturating_mul(steps as u64) }
    }

    /// The cost of both, one after the other.
    pub(crate) const fn and(self, other: Cost) -> Cost {
        Cost { picos: self.picos.saturating_add(other.picos) }
    }

    /// The cost of one of so many equal parts.
    pub(crate) const fn part(self, parts: usize) -> Cost {
        Cost { picos: self.picos / if parts == 0 { 1 } else { parts as u64 } }
    }

    /// The number of steps of a cost that fit into this one, rounded down; at least 1. Where `self`
    /// is paid once, and `each` is saved with every item, this is the number of items from which on
    /// it pays.
    pub(crate) const fn per(self, each: Cost) -> usize {
        let each = if each.picos == 0 { 1 } else { each.picos };
        let steps = self.picos / each;
        if steps == 0 { 1 } else { steps as usize }
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Cost>>(costs: I) -> Cost {
        costs.fold(Cost::NOTHING, Cost::and)
    }
}

/// Whether `len` entries whose ids lie within `span` are better stored in an array with a slot for
/// each id than in a list or a hash table: to clear and scan all slots costs no more than to search
/// for the entries. So an array has 16 slots for each entry at most, which is about the memory of a
/// hash table.
#[inline]
pub(crate) const fn is_dense(span: usize, len: usize) -> bool {
    span <= len.saturating_mul(SLOTS_PER_ENTRY)
}

/// The most slots of an array by id for each entry: see [`is_dense`].
pub(crate) const SLOTS_PER_ENTRY: usize = ENTRY.per(SCAN);

/// The settings by which the executor compares strategies for the same answer. No setting changes
/// an answer, only the time of a request. Tests choose random ones, so that strategies of large
/// graphs run on small ones.
#[derive(Debug, Clone, Copy)]
pub struct CostModel {
    /// The number of entries of a posting list that cost as much as one test of a node.
    pub test: usize,
    /// A set of a filter that is at least this many times smaller than the candidates is the
    /// driving side; at least 1.
    pub driver_ratio: usize,
    /// The least number of nodes in the first batch that a page filters; at least 1.
    pub page_batch: usize,
    /// Edge lists are tested one by one from this many targets each on, on average. Below, the
    /// setup of a list costs about as much as a test of its targets.
    pub long_list: usize,
    /// Edge lists are tested one by one when each has this many times as many targets as its page,
    /// on average.
    pub long_list_ratio: usize,
    /// The least number of roots that a block with `@cascade` and a page walks first; at least 1.
    pub cascade_batch: usize,
    /// The number of roots that such a block walks first for each node of its page.
    pub cascade_ratio: usize,
    /// Nodes are ordered by a walk over an index only when there are more than this many.
    pub index_walk_min: usize,
    /// Variables of at least this many nodes refer to columns; those of fewer are listed at once.
    pub column_min: usize,
    /// Nodes are ordered by a scan for the first ones when fewer than one in this many of them are
    /// requested; at least 1.
    pub top_ratio: usize,
    /// A scan for at least so many first nodes is bounded by a sample.
    pub sampled_top: usize,
    /// Work of at least so many estimated nanoseconds is divided among threads.
    pub spread: usize,
    /// The estimated nanoseconds of a morsel of such work.
    pub morsel: usize,
    /// The random choice among the allowed strategies. Where it is random, the other numbers only
    /// say how a strategy runs.
    pub choice: RandomChoice,
    /// The rewrites that are left out: a bit for each, by its position in the table of rewrites.
    pub left_out: u32,
}

impl CostModel {
    /// Whether a scan for so many first ones of some nodes, which is bounded by a sample, is better
    /// than sorting all.
    pub(crate) fn pays_to_sample(&self, expected: usize, nodes: usize) -> bool {
        self.sampled_top <= expected && expected < nodes / 4
    }
}

impl Default for CostModel {
    fn default() -> CostModel {
        CostModel {
            test: TEST.per(ENTRY),
            driver_ratio: TEST.per(ENTRY),
            page_batch: 16,
            long_list: SETUP.per(BIT),
            long_list_ratio: 4,
            cascade_batch: SETUP.per(TEXT),
            cascade_ratio: 4,
            index_walk_min: SETUP.per(TEXT),
            column_min: SETUP.per(GATHER),
            top_ratio: 16,
            sampled_top: SETUP.per(ROW),
            spread: WAKE.times(40).as_nanos(),
            morsel: WAKE.times(10).as_nanos(),
            choice: RandomChoice::default(),
            left_out: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_added_and_divided_without_overflow() {
        assert_eq!(GATHER.times(3).and(ROW), Cost::nanos(7));
        assert_eq!(SETUP.per(GATHER), 256);
        assert_eq!(ROW.per(SETUP), 1);
        assert_eq!(GEOMETRY.times(usize::MAX).as_nanos(), (u64::MAX / 1_000) as usize);
        assert_eq!(WAKE.per(Cost::NOTHING), 10_000_000);
        assert_eq!(WAKE.part(0), WAKE);
    }

    #[test]
    fn arrays_have_sixteen_slots_an_entry_at_most() {
        assert!(is_dense(16, 1) && !is_dense(17, 1));
        assert!(is_dense(0, 0) && !is_dense(1, 0));
        assert!(is_dense(usize::MAX, usize::MAX));
    }
}
