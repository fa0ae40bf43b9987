//! Sums of weights by group, for one node or group at a time.

/// A slot without a sum: no group and no place.
const EMPTY: (u32, u32) = (u32::MAX, u32::MAX);

/// Spreads numbers that lie close together: the golden ratio's share of 2^32.
const SPREAD: u32 = 0x9e37_79b9;

/// Sums by group, in the order in which the groups came. They are found by a table as large as the groups that may come; so for most nodes all of it
/// stays in the first cache, which a place for every group of the network would not.
#[derive(Default)]
pub(super) struct Sums {
    /// The group of each sum.
    sums: Vec<(u32, f64)>,
    /// The groups and the places of their sums, by what is made of the numbers of the groups.
    slots: Vec<(u32, u32)>,
    mask: usize,
    /// How a number becomes that of a slot: by a product and a shift, of which the first is 1 and the second 0 where each group has a slot.
    factor: u32,
    shift: u32,
}

impl Sums {
    /// Begins anew, for at most `most` of the groups below `groups`. O(least of both).
    pub(super) fn begin(&mut self, most: usize, groups: usize) {
        let wanted = 2 * most.clamp(8, u32::MAX as usize / 4);
        let bits = wanted.min(groups.max(1)).next_power_of_two().trailing_zeros().max(1);
        (self.factor, self.shift) =
            if groups <= 1 << bits { (1, 0) } else { (SPREAD, u32::BITS - bits) };
        self.mask = (1 << bits) - 1;
        self.sums.clear();
        self.slots.clear();
        self.slots.resize(1 << bits, EMPTY);
    }

    /// The slot of a group, or the empty one that it would get.
    #[inline]
    fn slot(&self, group: u32) -> usize {
        let mut slot = (group.wrapping_mul(self.factor) >> self.shift) as usize & self.mask;
        loop {
            let found = self.slots[slot];
            if found.0 == group || found == EMPTY {
                return slot;
            }
            slot = (slot + 1) & self.mask;
        }
    }

    #[inline]
    pub(super) fn add(&mut self, group: u32, weight: f64) {
        let slot = self.slot(group);
        match self.sums.get_mut(self.slots[slot].1 as usize) {
            Some((_, sum)) => *sum += weight,
            None => {
                self.slots[slot] = (group, self.sums.len() as u32);
                self.sums.push((group, weight));
            }
        }
    }

    /// The sum of a group; 0 where it has none.
    #[inline]
    pub(super) fn of(&self, group: u32) -> f64 {
        self.sums.get(self.slots[self.slot(group)].1 as usize).map_or(0.0, |(_, sum)| *sum)
    }

    /// The groups that have a sum, in the order in which they came.
    pub(super) fn all(&self) -> &[(u32, f64)] {
        &self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_are_those_of_a_plain_list(
            rounds in prop::collection::vec(prop::collection::vec((0u32..60, 0u8..9), 0..50), 1..5),
            factor in prop::sample::select(vec![1u32, 7, 1 << 20]),
        ) {
            let mut sums = Sums::default();
            for round in &rounds {
                sums.begin(round.len(), 60 * factor as usize);
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
                    let wanted = plain.iter().find(|it| it.0 == group * factor);
                    prop_assert_eq!(sums.of(group * factor), wanted.map_or(0.0, |it| it.1));
                }
            }
        }
    }
}
