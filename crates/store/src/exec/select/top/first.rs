//! Retains the first few of the nodes that it is offered.
//!
//! It retains at most twice as many candidates as are requested, and a bound: the rank of the last
//! of those that were the first ones when the candidates were last sorted out. Sorting out happens
//! O(log nodes) times when the values are in no order.
//!
//! Where all nodes that equal the last of the first ones are requested, too, they are retained as
//! long as they are not too many, and else selected in a second pass, when the last rank is fixed.
//!
//! Nodes may be offered to several of these, each a part of the nodes, and the parts put together
//! in their order. A part begins with the bound of all nodes, so that it is not offered again what
//! others have passed by.

use crate::exec::select::ranked_rows::first_of;

/// The least number of candidates that are retained.
const CAPACITY_MIN: usize = 256;

/// The space for nodes that equal the last one is doubled up to so many candidates: a megabyte.
const EQUALS_MAX: usize = 1 << 16;

/// The candidates for the first nodes by rank, or by rank backwards; those with equal ranks by
/// node. Nodes have to come ascending.
pub(super) struct Top {
    expected: usize,
    /// All bits where the greatest rank comes first: it inverts the order of ranks.
    turn: u64,
    /// Inverted ranks with their nodes.
    candidates: Vec<(u64, u32)>,
    capacity: usize,
    /// An inverted rank that is not retained any more, nor any greater one. The greatest one of the
    /// first nodes as last sorted out: a later node with this rank comes after them all. Where
    /// nodes that equal the last one are retained, the rank after that.
    bound: u64,
    has_bound: bool,
    /// Whether all nodes that equal the last one are requested.
    with_equals: bool,
    /// The least rank for which nodes that equal the last one were dropped, since they were too
    /// many.
    dropped: Option<u64>,
}

/// The nodes up to the rank of the last of the first ones.
pub(super) enum ToLast {
    /// They are here, ascending.
    Nodes(Vec<u32>),
    /// They were too many, and are retained by this one when it is offered all nodes again.
    Again(Top),
}

impl Top {
    /// Retains the first `expected` nodes, one at least.
    pub(super) fn new(expected: usize, descending: bool) -> Top {
        let capacity = expected.saturating_mul(2).max(CAPACITY_MIN);
        Top {
            expected,
            turn: if descending { u64::MAX } else { 0 },
            candidates: Vec::new(),
            capacity,
            bound: 0,
            has_bound: false,
            with_equals: false,
            dropped: None,
        }
    }

    /// Retains the first `expected` nodes and all that equal the last of them.
    pub(super) fn with_equals(expected: usize, descending: bool) -> Top {
        Top { with_equals: true, ..Top::new(expected, descending) }
    }

    /// All nodes up to the rank of the last of the first ones; `None` when there are fewer than
    /// requested.
    pub(super) fn finish_to_last(mut self) -> Option<ToLast> {
        if !self.is_enough() {
            return None;
        }
        // The candidates are not moved: mostly their nodes ascend.
        let mut ranks: Vec<u64> = self.candidates.iter().map(|(rank, _)| *rank).collect();
        let last = *ranks.select_nth_unstable(self.expected - 1).1;
        if !self.with_equals || self.dropped == Some(last) {
            return Some(ToLast::Again(self.all_to(last)));
        }
        self.candidates.retain(|(rank, _)| *rank <= last);
        let mut nodes: Vec<u32> = self.candidates.iter().map(|(_, node)| *node).collect();
        if !nodes.is_sorted() {
            nodes.sort_unstable();
        }
        Some(ToLast::Nodes(nodes))
    }

    /// One in the same order that retains all nodes up to an inverted rank.
    fn all_to(&self, last: u64) -> Top {
        Top {
            expected: usize::MAX,
            candidates: Vec::new(),
            capacity: usize::MAX,
            // A bound that no rank equals represents none.
            bound: last.wrapping_add(1),
            has_bound: last != u64::MAX,
            ..*self
        }
    }

    /// One in the same order that retains the first `expected` nodes and all that equal the last of
    /// them.
    pub(super) fn sample(&self, expected: usize) -> Top {
        Top::with_equals(expected, self.is_negated())
    }

    /// The inverted rank of the last of the first nodes, and how many nodes do not pass it; `None`
    /// when there are fewer than requested, or too many of these.
    pub(super) fn last(mut self) -> Option<(u64, usize)> {
        if !self.is_enough() {
            return None;
        }
        let last = self.candidates.select_nth_unstable(self.expected - 1).1.0;
        let count = self.candidates.iter().filter(|(rank, _)| *rank <= last).count();
        (self.dropped != Some(last)).then_some((last, count))
    }

    /// The same before the first node, which retains none after an inverted rank: perhaps too few.
    /// `None` for the greatest rank.
    pub(super) fn bounded(&self, last: u64) -> Option<Top> {
        Some(Top { bound: last.checked_add(1)?, has_bound: true, ..self.part() })
    }

    /// Whether there are as many as are requested.
    pub(super) fn is_enough(&self) -> bool {
        self.expected <= self.candidates.len()
    }

    /// The number of nodes that are retained.
    pub(super) fn expected(&self) -> usize {
        self.expected
    }

    /// The bytes of the candidates.
    pub(super) fn byte_len(&self) -> usize {
        size_of_val(self.candidates.as_slice())
    }

    /// Whether the greatest rank comes first.
    pub(super) fn is_negated(&self) -> bool {
        self.turn != 0
    }

    /// Whether a rank is needed to be retained, since enough nodes were seen.
    pub(super) fn has_bound(&self) -> bool {
        self.has_bound
    }

    /// Whether few nodes would be retained from now on, or all are requested.
    pub(super) fn is_choosy(&self) -> bool {
        self.has_bound || self.expected == usize::MAX
    }

    /// The inverted rank of a node that would be retained now.
    #[inline]
    pub(super) fn taken(&self, rank: u64) -> Option<u64> {
        let rank = rank ^ self.turn;
        (rank < self.bound || !self.has_bound).then_some(rank)
    }

    /// Retains nodes with inverted ranks that were [chosen](Top::taken) lately.
    pub(super) fn retain(&mut self, result: &[(u64, u32)]) {
        for &(rank, node) in result {
            if rank < self.bound || !self.has_bound {
                self.candidates.push((rank, node));
                if self.candidates.len() == self.capacity {
                    self.sort_out();
                }
            }
        }
    }

    /// Drops what is after the first nodes, where there are enough, and sets the bound. Returns
    /// whether there are.
    pub(super) fn sort_out(&mut self) -> bool {
        if !self.is_enough() {
            return self.expected == usize::MAX;
        }
        let last = self.candidates.select_nth_unstable(self.expected - 1).1.0;
        let (retained, bound) = match self.equals_to_front(last) {
            Some(retained) => (retained, last + 1),
            None => (self.expected, last),
        };
        self.candidates.truncate(retained);
        (self.bound, self.has_bound) = (bound, true);
        true
    }

    /// Moves the candidates that equal the last of the first ones after these, and returns how many
    /// that makes together. `None` where none of them is retained, as where there are too many or
    /// some were dropped before.
    fn equals_to_front(&mut self, last: u64) -> Option<usize> {
        if !self.with_equals || last == u64::MAX || self.dropped == Some(last) {
            return None;
        }
        let mut retained = self.expected;
        for position in self.expected..self.candidates.len() {
            if self.candidates[position].0 == last {
                self.candidates.swap(position, retained);
                retained += 1;
            }
        }
        if EQUALS_MAX.max(4 * self.expected) < 2 * retained {
            self.dropped = Some(last);
            return None;
        }
        self.capacity = self.capacity.max(2 * retained);
        Some(retained)
    }

    /// One that is offered a part of the nodes that come after those so far.
    pub(super) fn part(&self) -> Top {
        Top { candidates: Vec::new(), ..*self }
    }

    /// A part that has seen its nodes, ready to be put after others.
    pub(super) fn done(mut self) -> Top {
        // As long as nothing was sorted out the nodes ascend.
        if self.expected != usize::MAX && self.sort_out() {
            // So nodes with the same rank ascend, as they do where all nodes are offered in their
            // order.
            self.candidates.sort_unstable();
        }
        self
    }

    /// Puts a part that is [done](Top::done) after what was offered so far.
    pub(super) fn absorb(&mut self, part: &Top) {
        // The bound of all nodes is at most that of a part, so what a part has dropped of a greater
        // rank is not missed.
        self.dropped = self.dropped.into_iter().chain(part.dropped).min();
        self.retain(&part.candidates);
    }

    /// The first nodes in their order; `None` when there are fewer than requested.
    pub(super) fn finish(self) -> Option<Vec<u32>> {
        if !self.is_enough() {
            return None;
        }
        let first = first_of(self.candidates, Some(self.expected));
        Some(first.into_iter().map(|(_, node)| node).collect())
    }

    /// All nodes that were retained, of one that retains [all up to a rank](Top::all_to).
    pub(super) fn finish_all(self) -> Vec<u32> {
        self.candidates.iter().map(|(_, node)| *node).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The first of many, offered one after the other, or in parts that are put together.
        #[test]
        fn the_first_of_many(
            ranks in prop::collection::vec(0u64..60, 1..2000),
            expected in 1usize..20,
            descending in any::<bool>(),
            cuts in prop::collection::vec(1usize..300, 1..9),
        ) {
            let top = || Top { capacity: 2 * expected, ..Top::new(expected, descending) };
            let negated = |rank: u64| if descending { !rank } else { rank };
            let all: Vec<(u64, u32)> = ranks.iter().copied().zip(0..).collect();
            let mut sorted: Vec<(u64, u32)> =
                all.iter().map(|(rank, node)| (negated(*rank), *node)).collect();
            sorted.sort_unstable();
            let first: Vec<u32> = sorted.iter().take(expected).map(|(_, node)| *node).collect();
            let first = (expected <= ranks.len()).then_some(first);
            let offer = |top: &mut Top, some: &[(u64, u32)]| {
                for (rank, node) in some {
                    if let Some(rank) = top.taken(*rank) {
                        top.retain(&[(rank, *node)]);
                    }
                }
            };
            let mut one = top();
            offer(&mut one, &all);
            let mut cut = top();
            let (mut rest, mut cuts) = (all.as_slice(), cuts.into_iter().cycle());
            while !rest.is_empty() {
                let (some, behind) = rest.split_at(cuts.next().unwrap().min(rest.len()));
                let mut part = cut.part();
                offer(&mut part, some);
                cut.absorb(&part.done());
                rest = behind;
            }
            prop_assert_eq!(&cut.finish(), &first);
            prop_assert_eq!(&one.finish(), &first);
            let Some(&(last, _)) = sorted.get(expected - 1) else { return Ok(()) };
            let mut to_last: Vec<u32> =
                sorted.iter().filter(|(rank, _)| *rank <= last).map(|(_, node)| *node).collect();
            to_last.sort_unstable();
            // All up to the last of the first ones: as they come, in parts, and in two passes.
            let mut equals = Top { with_equals: true, ..top() };
            offer(&mut equals, &all);
            prop_assert_eq!(&all_to_last(equals, &all), &to_last);
            let mut cut = Top { with_equals: true, ..top() };
            let (front, back) = all.split_at(all.len() / 3);
            for some in [front, back] {
                let mut part = cut.part();
                offer(&mut part, some);
                cut.absorb(&part.done());
            }
            prop_assert_eq!(&all_to_last(cut, &all), &to_last);
            let mut again = top();
            offer(&mut again, &all);
            prop_assert_eq!(&all_to_last(again, &all), &to_last);
            let mut sample = top().sample(expected);
            offer(&mut sample, &all);
            prop_assert_eq!(sample.last(), Some((last, to_last.len())));
        }
    }

    /// Of more equal ones than are retained, the first ones are listed and all others left to a
    /// second pass; those of a lesser rank are retained again.
    #[test]
    fn too_many_equals_are_left_to_a_second_pass() {
        let count = EQUALS_MAX as u32;
        let all: Vec<(u64, u32)> = (0..count).map(|node| (7, node)).collect();
        let mut top = Top::with_equals(3, false);
        top.retain(&all);
        assert!(top.capacity <= EQUALS_MAX && top.candidates.len() < 2 * CAPACITY_MIN);
        assert_eq!(top.taken(7), None);
        let mut lesser = top.part();
        lesser.candidates = top.candidates.clone();
        assert_eq!(all_to_last(top, &all), (0..count).collect::<Vec<_>>());
        let few: Vec<(u64, u32)> = (count..count + 500).map(|node| (6, node)).collect();
        lesser.retain(&few);
        let ToLast::Nodes(nodes) = lesser.finish_to_last().unwrap() else {
            panic!("they were dropped")
        };
        assert_eq!(nodes, (count..count + 500).collect::<Vec<_>>());
    }

    fn all_to_last(top: Top, all: &[(u64, u32)]) -> Vec<u32> {
        match top.finish_to_last().unwrap() {
            ToLast::Nodes(nodes) => nodes,
            ToLast::Again(mut again) => {
                let taken =
                    |(rank, node): &(u64, u32)| again.taken(*rank).map(|rank| (rank, *node));
                let taken: Vec<_> = all.iter().filter_map(taken).collect();
                again.retain(&taken);
                again.finish_all()
            }
        }
    }
}
