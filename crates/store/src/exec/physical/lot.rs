//! Choices at random: tests ask that a way is taken which would not be the cheapest one.

/// Draws among the ways that lead to the same answer. The same seed draws the same ways for the same request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RandomChoice {
    /// `None` where nothing is drawn: then the cheapest way is taken.
    seed: Option<u64>,
}

impl RandomChoice {
    /// A lot of a seed.
    pub fn of(seed: u64) -> RandomChoice {
        RandomChoice { seed: Some(seed) }
    }

    /// Whether something is drawn at all.
    pub(crate) fn is_reserved(self) -> bool {
        self.seed.is_some()
    }

    /// A number below `count`, which is at least 1, that depends on the seed and on what is drawn for.
    pub(crate) fn reserve(self, salt: usize, count: usize) -> usize {
        // The finisher of SplitMix64: each bit of the number depends on all of the seed.
        let seed = self.seed.unwrap_or_default();
        let mut mixed = seed.wrapping_add((salt as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % count as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::RandomChoice;

    /// Each of four ways is drawn, for some number of nodes, about as often as the others.
    #[test]
    fn all_ways_are_drawn() {
        let mut reserved = [0; 4];
        for seed in 0..100 {
            (0..100).for_each(|salt| reserved[RandomChoice::of(seed).reserve(salt, 4)] += 1);
        }
        assert!(reserved.iter().all(|count| (2_000..3_000).contains(count)), "{reserved:?}");
        assert!(!RandomChoice::default().is_reserved() && RandomChoice::of(0).is_reserved());
    }
}
