//! Random numbers that are the same for the same seed on all machines: the generator SplitMix64
//! (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators. OOPSLA, 2014).

/// A source of random numbers.
pub(super) struct RandomStream {
    state: u64,
}

impl RandomStream {
    pub(super) fn new(seed: u64) -> RandomStream {
        RandomStream { state: seed }
    }

    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        // The upper half of the product lies below the bound, evenly but for a bias of `bound` in
        // 2^64.
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// A number from 0 to below 1.
    pub(super) fn fraction(&mut self) -> f64 {
        // The upper 53 bits, as many as a float has, so that nothing is rounded up to 1.
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Brings items into a random order.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for position in (1..items.len()).rev() {
            items.swap(position, self.below(position + 1));
        }
    }
}
