//! Sums of weights by group, for one node or group at a time.
//!
//! The sums are in a list in order of arrival, and a table of slots has the position of each.
//! Whether a group is new needs no branch, which would be unpredictable: the position of a new one
//! is the end of the list, where the sum is 0.

use std::sync::{Mutex, PoisonError};

/// The position of a group without a sum: after all others.
const EMPTY: u32 = u32::MAX;

/// Spreads close numbers: the golden ratio times 2^32.
const SPREAD: u32 = 0x9e37_79b9;

/// The slots for each group that may come. With so many two groups seldom want the same one, which
/// is the branch that remains.
const SLOTS_A_GROUP: usize = 4;

/// The least number of slots.
const SLOTS_MIN: usize = 64;

/// Up to so many groups in all each has a slot of its own: they lie in the second cache.
const GROUPS_WITH_SLOTS: usize = 1 << 16;

/// Sums by group, in order of arrival. The table is as large as the possible groups of the node, so
/// for most nodes it stays in the first cache, unlike one of all groups of the network.
#[derive(Default)]
pub(super) struct Sums {
    /// The group of each sum. Behind the last there is one of 0 at least.
    sums: Vec<(u32, f64)>,
    /// The number of sums.
    len: usize,
    /// The positions of the sums, by what is made of the numbers of the groups.
    slots: Vec<u32>,
    /// Whether each group has a slot of its own: those without a sum are [`EMPTY`] then, however
    /// many slots there are.
    is_direct: bool,
    mask: usize,
    /// The slot of a number: a product and a shift. The factor is 1 and the shift 0 if each group
    /// has its own slot.
    factor: u32,
    shift: u32,
}

impl Sums {
    /// Begins anew, for at most `most` of the groups below `groups`. O(`most` + what was summed up
    /// before); more where groups get slots of their own, which they had not.
    pub(super) fn begin(&mut self, most: usize, groups: usize) {
        let most = most.min(groups);
        let expected = (SLOTS_A_GROUP * most).max(SLOTS_MIN);
        if groups <= expected.max(GROUPS_WITH_SLOTS) {
            self.empty_slots(groups);
            (self.mask, self.factor, self.shift) = (usize::MAX, 1, 0);
        } else {
            let bits = expected.next_power_of_two().trailing_zeros().min(u32::BITS);
            self.is_direct = false;
            self.slots.resize(self.slots.len().max(1 << bits), EMPTY);
            // Only as much of the table as this node needs is used,
            // and cleared: for most nodes that stays in the cache.
            self.slots[..1 << bits].fill(EMPTY);
            (self.mask, self.factor, self.shift) = ((1 << bits) - 1, SPREAD, u32::BITS - bits);
        }
        self.sums[..self.len].fill((EMPTY, 0.0));
        self.len = 0;
        if self.sums.len() <= most {
            self.sums.resize(most + 1, (EMPTY, 0.0));
        }
    }

    /// Sees to it that each group has a slot of its own, and all are empty.
    fn empty_slots(&mut self, groups: usize) {
        if self.is_direct {
            self.sums[..self.len].iter().for_each(|(it, _)| self.slots[*it as usize] = EMPTY);
        } else {
            self.slots.fill(EMPTY);
        }
        self.is_direct = true;
        self.slots.resize(self.slots.len().max(groups), EMPTY);
    }

    /// The slot of a group, or the empty one that it would get.
    #[inline]
    fn slot(&self, group: u32) -> usize {
        let mut slot = (group.wrapping_mul(self.factor) >> self.shift) as usize;
        loop {
            let position = self.slots[slot] as usize;
            if self.len <= position || self.sums[position].0 == group {
                return slot;
            }
            // It terminates, since at least three of four slots are free. A group's own slot is
            // never met here: no other uses it.
            slot = (slot + 1) & self.mask;
        }
    }

    #[inline]
    pub(super) fn add(&mut self, group: u32, weight: f64) {
        let slot = self.slot(group);
        let position = (self.slots[slot] as usize).min(self.len);
        self.slots[slot] = position as u32;
        let (of, sum) = &mut self.sums[position];
        *of = group;
        *sum += weight;
        self.len += usize::from(position == self.len);
    }

    /// The sum of a group; 0 where it has none.
    #[inline]
    pub(super) fn of(&self, group: u32) -> f64 {
        // That of a group without one is 0 and follows the last.
        self.sums[(self.slots[self.slot(group)] as usize).min(self.len)].1
    }

    /// The groups that have a sum, in the order in which they came.
    pub(super) fn all(&self) -> &[(u32, f64)] {
        &self.sums[..self.len]
    }
}

/// Sums that wait for the next chunk of work, so that not each of them allocates its own.
#[derive(Default)]
pub(super) struct Spares(Mutex<Vec<Sums>>);

impl Spares {
    /// Has `work` use sums that nobody else uses meanwhile. They have to be begun.
    pub(super) fn lend<R>(&self, work: impl FnOnce(&mut Sums) -> R) -> R {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut sums = spare.unwrap_or_default();
        let result = work(&mut sums);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(sums);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_are_those_of_a_plain_list(
            rounds in prop::collection::vec(prop::collection::vec((0u32..60, 0u8..9), 0..50), 1..6),
            factor in prop::sample::select(vec![1u32, 7, 1 << 20]),
            smaller in prop::sample::select(vec![1usize, 50, 20_000]),
        ) {
            let mut sums = Sums::default();
            for (number, round) in rounds.iter().enumerate() {
                // Groups with and without slots of their own alternate, if `smaller` is large
                // enough.
                let groups = if number % 2 == 0 { 60 * factor } else { 60 * smaller as u32 };
                let factor = groups / 60;
                sums.begin(round.len(), groups as usize);
                let mut plain: Vec<(u32, f64)> = Vec::new();
                for &(group, weight) in round {
                    let (group, weight) = (group * factor, f64::from(weight));
                    sums.add(group, weight);
                    match plain.iter_mut().find(|it| it.0 == group) {
                        Some(it) => it.1 += weight,
                        None => plain.push((group, weight)),
                    }
                }
                prop_assert_eq!(sums.all(), plain.as_slice());
                for group in 0..60 {
                    let expected = plain.iter().find(|it| it.0 == group * factor);
                    prop_assert_eq!(sums.of(group * factor), expected.map_or(0.0, |it| it.1));
                }
            }
        }
    }
}
