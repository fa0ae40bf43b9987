//! Sums of floats, which are defined here alone: floats are added one behind the other in blocks of 1,024, and the blocks' sums are added one behind
//! the other.
//!
//! ```text
//!   values in their order   v0 .. v1023 | v1024 .. v2047 | v2048 ..
//!   blocks                      b0             b1            b2        each from its first value on
//!   sum                      (b0 + b1) + b2
//! ```
//!
//! So a sum has the same bits however values are cut into slices and dealt out to threads, as long as it is known which number a value
//! has; and yet several blocks can be added at the same time, since none waits for another. An addition waits four cycles for the one before it:
//! eight blocks side by side are read as fast as memory gives them. Up to 1,024 values are simply added one behind the other.

use std::array;

/// The number of values of a block. It decides on the last bits of sums, so it never changes.
pub(crate) const BLOCK: usize = 1024;

/// The blocks that are added side by side, and how many values they have.
const BESIDE: usize = 8;
const WIDTH: usize = BESIDE * BLOCK;

/// The float that changes no other one to which it is added: what no floats add up to.
const NOTHING: f64 = -0.0;

/// The sum of floats that come one by one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FloatSum {
    /// The sum of the blocks that are full.
    full: f64,
    /// The sum of the values of the block that is not.
    open: f64,
    /// The number of these values.
    len: u32,
}

impl FloatSum {
    /// The sum of no floats.
    pub(crate) const NONE: FloatSum = FloatSum { full: NOTHING, open: NOTHING, len: 0 };

    /// The sum of one float.
    pub(crate) fn of(float: f64) -> FloatSum {
        let mut sum = FloatSum::NONE;
        sum.add(float);
        sum
    }

    /// Adds a float behind those before.
    #[inline]
    pub(crate) fn add(&mut self, float: f64) {
        self.open += float;
        self.len += 1;
        if self.len == BLOCK as u32 {
            *self = FloatSum { full: self.total(), ..FloatSum::NONE };
        }
    }

    /// What the floats add up to: the negative zero where there are none.
    pub(crate) fn total(&self) -> f64 {
        joined(self.full, self.open)
    }
}

/// The sum of floats that come in slices: all of them, or those of a part, which is then [put behind](FloatRun::absorb) the parts before it.
#[derive(Debug, Clone, Default)]
pub(crate) struct FloatRun {
    /// How many of the next values belong to a block that began before the part.
    room: usize,
    /// The values of that block, which can be added only to its beginning.
    head: Vec<f64>,
    /// The sums of the full blocks behind them.
    blocks: Vec<f64>,
    /// The values behind these, fewer than are added side by side.
    rest: Vec<f64>,
}

impl FloatRun {
    /// A part that begins behind so many values; where it is not known how many, its values are kept to be added when the part is put behind others.
    pub(crate) fn behind(values: Option<usize>) -> FloatRun {
        let room = values.map_or(usize::MAX, |values| values.wrapping_neg() % BLOCK);
        FloatRun { room, ..FloatRun::default() }
    }

    /// Adds floats behind those before.
    pub(crate) fn add(&mut self, floats: &[f64]) {
        let (head, mut floats) = floats.split_at(self.room.min(floats.len()));
        self.head.extend_from_slice(head);
        self.room -= head.len();
        if !self.rest.is_empty() {
            let (some, behind) = floats.split_at((WIDTH - self.rest.len()).min(floats.len()));
            self.rest.extend_from_slice(some);
            floats = behind;
            if self.rest.len() == WIDTH {
                self.blocks.extend(sums_of::<BESIDE>(&self.rest));
                self.rest.clear();
            }
        }
        let mut wide = floats.chunks_exact(WIDTH);
        wide.by_ref().for_each(|some| self.blocks.extend(sums_of::<BESIDE>(some)));
        self.rest.extend_from_slice(wide.remainder());
    }

    /// Adds up the blocks that are full, so that the values of one at most are left.
    pub(crate) fn settle(&mut self) {
        let full = self.rest.len() / BLOCK * BLOCK;
        let mut floats = &self.rest[..full];
        while let Some(some) = floats.get(..4 * BLOCK) {
            self.blocks.extend(sums_of::<4>(some));
            floats = &floats[4 * BLOCK..];
        }
        floats.chunks_exact(BLOCK).for_each(|some| self.blocks.extend(sums_of::<1>(some)));
        self.rest.drain(..full);
    }

    /// Puts the next part behind these values.
    pub(crate) fn absorb(&mut self, part: &FloatRun) {
        self.add(&part.head);
        if !part.blocks.is_empty() {
            self.settle();
            debug_assert!(self.rest.is_empty(), "the part begins elsewhere than it was told");
            self.blocks.extend_from_slice(&part.blocks);
        }
        self.add(&part.rest);
    }

    /// What all floats add up to.
    pub(crate) fn total(mut self) -> f64 {
        debug_assert!(self.head.is_empty(), "a part of a sum is none");
        self.settle();
        let full = self.blocks.iter().fold(NOTHING, |sum, block| joined(sum, *block));
        joined(full, self.rest.iter().fold(NOTHING, |sum, float| sum + float))
    }
}

/// A sum with that of the next block. What is beyond all floats stays so, as if all values came one behind the other: two infinities may not cancel.
fn joined(sum: f64, block: f64) -> f64 {
    if sum.is_infinite() { sum } else { sum + block }
}

/// The sums of some blocks that lie behind one another, which are added side by side.
fn sums_of<const N: usize>(floats: &[f64]) -> [f64; N] {
    let blocks: [&[f64]; N] = array::from_fn(|block| &floats[block * BLOCK..][..BLOCK]);
    let mut sums = [NOTHING; N];
    for place in 0..BLOCK {
        for (sum, block) in sums.iter_mut().zip(blocks) {
            *sum += block[place];
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    /// The definition.
    fn plain(floats: &[f64]) -> f64 {
        let sum = |floats: &[f64]| floats.iter().fold(NOTHING, |sum, float| sum + float);
        let blocks = floats.chunks(BLOCK).map(sum);
        blocks.fold(NOTHING, |sum, block| if sum.is_infinite() { sum } else { sum + block })
    }

    #[test]
    fn slices_and_parts_have_the_bits_of_the_definition() {
        let mut rng = Rng::with_seed(7);
        for round in 0..300 {
            let len =
                [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * WIDTH, rng.usize(..40_000)][rng.usize(..7)];
            let floats: Vec<f64> = (0..len)
                .map(|_| {
                    (rng.f64() - 0.3)
                        * 10_f64.powi(rng.i32(-9..[9, 308][usize::from(round % 9 == 0)]))
                })
                .collect();
            let wanted = plain(&floats).to_bits();
            let mut one_by_one = FloatSum::NONE;
            floats.iter().for_each(|float| one_by_one.add(*float));
            assert_eq!(one_by_one.total().to_bits(), wanted, "round {round}");
            let (mut slices, mut parts) = (FloatRun::default(), FloatRun::default());
            let mut done = 0;
            while done < len {
                let most = [20, 3_000, 30_000][rng.usize(..3)];
                let some = &floats[done..len.min(done + rng.usize(1..most))];
                slices.add(some);
                let mut part = FloatRun::behind(rng.bool().then_some(done));
                some.chunks(rng.usize(1..20_000)).for_each(|some| part.add(some));
                if rng.bool() {
                    part.settle();
                }
                parts.absorb(&part);
                done += some.len();
            }
            assert_eq!(slices.total().to_bits(), wanted, "round {round}");
            assert_eq!(parts.total().to_bits(), wanted, "round {round}");
        }
    }

    #[test]
    fn few_values_are_added_one_behind_the_other() {
        let floats: Vec<f64> = (1..=BLOCK).map(|number| 1.0 / number as f64).collect();
        assert_eq!(plain(&floats).to_bits(), floats.iter().sum::<f64>().to_bits());
        assert_eq!(
            FloatSum::NONE.total().to_bits(),
            std::iter::empty::<f64>().sum::<f64>().to_bits()
        );
    }
}
