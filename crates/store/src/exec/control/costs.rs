//! By how much one way to an answer has to be better than another before it is taken.

use crate::exec::physical::lot::RandomChoice;

/// What the executor weighs ways to the same answer with. No setting changes an answer, only the time that it takes: tests ask with
/// random ones, so that ways which only large graphs take are compared on small ones.
#[derive(Debug, Clone, Copy)]
pub struct Costs {
    /// The number of entries of a posting list that take as long as one test of a node.
    pub test: usize,
    /// A set of a filter that is at least this many times smaller than the set that is asked for is walked in its place; at least 1.
    pub driver_ratio: usize,
    /// The least number of nodes in the first batch that a page asks a filter of; at least 1.
    pub page_batch: usize,
    /// Edge lists are asked one by one from this many targets each on, on average. Below, setting up the walk of a list costs about as
    /// much as asking its targets.
    pub long_list: usize,
    /// Edge lists are asked one by one when each has this many times as many targets as its page, on average.
    pub long_list_ratio: usize,
    /// The least number of roots that a block with `@cascade` and a page walks first; at least 1.
    pub cascade_batch: usize,
    /// The number of roots that such a block walks first for each node of its page.
    pub cascade_ratio: usize,
    /// Nodes are ordered by a walk over an index only when there are more than this many.
    pub index_walk_min: usize,
    /// Variables of at least this many nodes stand for columns, which are read when they are asked for; those of fewer are listed at once.
    pub column_min: usize,
    /// Nodes are ordered by a scan for the first ones when fewer than one in this many of them are requested; at least 1.
    pub top_ratio: usize,
    /// A scan for at least so many first nodes takes a sample before.
    pub sampled_top: usize,
    /// Work of at least so many estimated nanoseconds is shared with the other threads of the database. To wake one up and to wait
    /// for it takes some ten thousand.
    pub spread: usize,
    /// The estimated nanoseconds of a morsel of such work.
    pub morsel: usize,
    /// Draws among the ways that are allowed, where it is drawn; then the other numbers say only how a way is executed.
    pub choice: RandomChoice,
    /// The rewrites that are left out: a bit for each, by its place in the table of rewrites.
    pub left_out: u32,
}

impl Costs {
    /// Whether a scan for so many first ones of some nodes, which takes a sample before and sorts what it finds, is better than sorting all.
    pub(crate) fn pays_to_sample(&self, expected: usize, nodes: usize) -> bool {
        self.sampled_top <= expected && expected < nodes / 4
    }
}

impl Default for Costs {
    fn default() -> Costs {
        Costs {
            test: 4,
            driver_ratio: 4,
            page_batch: 16,
            long_list: 256,
            long_list_ratio: 4,
            cascade_batch: 64,
            cascade_ratio: 4,
            index_walk_min: 64,
            column_min: 256,
            top_ratio: 16,
            sampled_top: 512,
            spread: 400_000,
            morsel: 100_000,
            choice: RandomChoice::default(),
            left_out: 0,
        }
    }
}
