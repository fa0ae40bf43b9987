//! Random choices: tests run access paths that are not the cheapest ones.

/// Chooses among the access paths to the same answer. The same seed chooses the same ones for the
/// same request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RandomChoice {
    /// `None` where nothing is random: then the cheapest access path is chosen.
    seed: Option<u64>,
}

impl RandomChoice {
    /// Choices of a seed.
    pub fn of(seed: u64) -> RandomChoice {
        RandomChoice { seed: Some(seed) }
    }

    /// Whether choices are random.
    pub(crate) fn is_random(self) -> bool {
        self.seed.is_some()
    }

    /// A number below `count`, which is at least 1, that depends on the seed and on the salt.
    pub(crate) fn choose(self, salt: usize, count: usize) -> usize {
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

    /// Each of four choices is made, for some number of nodes, about as often as the others.
    #[test]
    fn all_choices_are_made() {
        let mut chosen = [0; 4];
        for seed in 0..100 {
            (0..100).for_each(|salt| chosen[RandomChoice::of(seed).choose(salt, 4)] += 1);
        }
        assert!(chosen.iter().all(|count| (2_000..3_000).contains(count)), "{chosen:?}");
        assert!(!RandomChoice::default().is_random() && RandomChoice::of(0).is_random());
    }
}
