//! Keeps the first few of the nodes that it is offered.
//!
//! It keeps at most twice as many candidates as are wanted, and a bound: the rank of the last of those that were the
//! first ones when the candidates were last sorted out. Sorting out happens O(log nodes) times when the values are in no order.
//!
//! Nodes may be offered to several of these, each a part of the nodes, and the parts put together in their order. A part begins with the bound
//! of the whole, so that it is not offered again what others have passed by.

/// The least number of candidates that are kept.
const ROOM_MIN: usize = 256;

/// The candidates for the first nodes by rank, or by rank backwards; those with equal ranks by node. Nodes have to come
/// ascending.
pub(super) struct Top {
    wanted: usize,
    /// All bits where the greatest rank comes first: it turns the order of ranks around.
    turn: u64,
    /// Turned ranks with their nodes.
    candidates: Vec<(u64, u32)>,
    room: usize,
    /// The greatest turned rank of the first nodes as last sorted out. A later node with this rank comes behind them all.
    bound: u64,
    has_bound: bool,
}

impl Top {
    /// Keeps the first `wanted` nodes, one at least.
    pub(super) fn new(wanted: usize, descending: bool) -> Top {
        let room = wanted.saturating_mul(2).max(ROOM_MIN);
        let turn = if descending { u64::MAX } else { 0 };
        Top { wanted, turn, candidates: Vec::new(), room, bound: 0, has_bound: false }
    }

    /// Keeps all nodes up to the rank of the last of the first ones, ascending by node; `None` when there are fewer than wanted.
    pub(super) fn all_to_last(mut self) -> Option<Top> {
        if self.candidates.len() < self.wanted {
            return None;
        }
        let last = self.candidates.select_nth_unstable(self.wanted - 1).1.0;
        Some(Top {
            wanted: usize::MAX,
            turn: self.turn,
            candidates: Vec::new(),
            room: usize::MAX,
            // A bound that nothing reaches stands for none.
            bound: last.wrapping_add(1),
            has_bound: last != u64::MAX,
        })
    }

    /// The number of nodes that are kept.
    pub(super) fn wanted(&self) -> usize {
        self.wanted
    }

    /// The bytes of the candidates.
    pub(super) fn byte_len(&self) -> usize {
        size_of_val(self.candidates.as_slice())
    }

    /// Whether the greatest rank comes first.
    pub(super) fn is_turned(&self) -> bool {
        self.turn != 0
    }

    /// Whether a rank is needed to be kept, since enough nodes were seen.
    pub(super) fn has_bound(&self) -> bool {
        self.has_bound
    }

    /// Whether few nodes would be kept from now on, or all are wanted.
    pub(super) fn is_choosy(&self) -> bool {
        self.has_bound || self.wanted == usize::MAX
    }

    /// The turned rank of a node that would be kept now.
    #[inline]
    pub(super) fn taken(&self, rank: u64) -> Option<u64> {
        let rank = rank ^ self.turn;
        (rank < self.bound || !self.has_bound).then_some(rank)
    }

    /// Keeps nodes with turned ranks that were [taken](Top::taken) lately.
    pub(super) fn keep(&mut self, found: &[(u64, u32)]) {
        for &(rank, node) in found {
            if rank < self.bound || !self.has_bound {
                self.candidates.push((rank, node));
                if self.candidates.len() == self.room {
                    self.sort_out();
                }
            }
        }
    }

    /// Drops what is behind the first nodes, where there are enough, and sets the bound. Returns whether there are.
    pub(super) fn sort_out(&mut self) -> bool {
        if self.candidates.len() < self.wanted {
            return self.wanted == usize::MAX;
        }
        self.bound = self.candidates.select_nth_unstable(self.wanted - 1).1.0;
        self.has_bound = true;
        self.candidates.truncate(self.wanted);
        true
    }

    /// One that is offered a part of the nodes that come behind those so far.
    pub(super) fn part(&self) -> Top {
        Top { candidates: Vec::new(), ..*self }
    }

    /// A part that has seen its nodes, ready to be put behind others.
    pub(super) fn done(mut self) -> Top {
        if self.wanted != usize::MAX {
            self.sort_out();
            // So nodes with the same rank ascend, as they do where all nodes are offered in their order.
            self.candidates.sort_unstable();
        }
        self
    }

    /// Puts a part that is [done](Top::done) behind what was offered so far.
    pub(super) fn absorb(&mut self, part: &Top) {
        self.keep(&part.candidates);
    }

    /// The first nodes in their order; `None` when there are fewer than wanted.
    pub(super) fn finish(mut self) -> Option<Vec<u32>> {
        if self.candidates.len() < self.wanted {
            return None;
        }
        self.candidates.sort_unstable();
        Some(self.candidates.iter().take(self.wanted).map(|(_, node)| *node).collect())
    }

    /// All nodes that were kept, of one that keeps [all up to the last](Top::all_to_last).
    pub(super) fn finish_all(self) -> Vec<u32> {
        self.candidates.iter().map(|(_, node)| *node).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The first of many, offered one behind the other, or in parts that are put together.
        #[test]
        fn the_first_of_many(
            ranks in prop::collection::vec(0u64..60, 1..2000),
            wanted in 1usize..20,
            descending in any::<bool>(),
            cuts in prop::collection::vec(1usize..300, 1..9),
        ) {
            let top = || Top { room: 2 * wanted, ..Top::new(wanted, descending) };
            let turned = |rank: u64| if descending { !rank } else { rank };
            let all: Vec<(u64, u32)> = ranks.iter().copied().zip(0..).collect();
            let mut sorted: Vec<(u64, u32)> =
                all.iter().map(|(rank, node)| (turned(*rank), *node)).collect();
            sorted.sort_unstable();
            let first: Vec<u32> = sorted.iter().take(wanted).map(|(_, node)| *node).collect();
            let first = (wanted <= ranks.len()).then_some(first);
            let offer = |top: &mut Top, some: &[(u64, u32)]| {
                for (rank, node) in some {
                    if let Some(rank) = top.taken(*rank) {
                        top.keep(&[(rank, *node)]);
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
            // All up to the last of the first ones, in two parts.
            let mut again = top();
            offer(&mut again, &all);
            prop_assert_eq!(&one.finish(), &first);
            let Some(mut to_last) = again.all_to_last() else {
                prop_assert!(first.is_none());
                return Ok(());
            };
            let (front, back) = all.split_at(all.len() / 2);
            for half in [front, back] {
                let mut part = to_last.part();
                offer(&mut part, half);
                to_last.absorb(&part.done());
            }
            let last = sorted[wanted - 1].0;
            let wanted: Vec<u32> = all
                .iter()
                .filter(|(rank, _)| turned(*rank) <= last)
                .map(|(_, node)| *node)
                .collect();
            prop_assert_eq!(to_last.finish_all(), wanted);
        }
    }
}
