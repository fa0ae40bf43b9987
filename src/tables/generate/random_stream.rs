//! Random numbers without an order: each is a function of the seed and of a position.

/// The random numbers of a seed, by the mixing function of SplitMix64 (Steele, Lea, Flood: Fast
/// Splittable Pseudorandom Number Generators. OOPSLA, 2014).
#[derive(Debug, Clone, Copy)]
pub(super) struct RandomStream {
    seed: u64,
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl RandomStream {
    /// The random numbers of a seed; `stream` separates different uses.
    pub(super) fn new(seed: u64, stream: u64) -> RandomStream {
        RandomStream { seed: mixed(seed ^ mixed(stream.wrapping_add(STEP))) }
    }

    /// 64 random bits.
    #[inline]
    pub(super) fn bits(self, position: u64) -> u64 {
        mixed(self.seed.wrapping_add(position.wrapping_mul(STEP)))
    }

    /// A number below `bound`, which is not 0.
    #[inline]
    pub(super) fn below(self, position: u64, bound: u64) -> u64 {
        ((u128::from(self.bits(position)) * u128::from(bound)) >> 64) as u64
    }
}

#[inline]
fn mixed(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
