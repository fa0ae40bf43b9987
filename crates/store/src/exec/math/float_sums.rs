//! Sums of floats, which are defined here alone: floats are added one after the other in blocks of
//! 1,024, and the blocks' sums are added one after the other.
//!
//! ```text
//!   values in their order   v0 .. v1023 | v1024 .. v2047 | v2048 ..
//!   blocks                      b0             b1            b2        each from its first value on
//!   sum                      (b0 + b1) + b2
//! ```
//!
//! So a sum has the same bits however values are cut into slices and partitioned into threads, as
//! long as the number is given that a value has; and yet several blocks can be added at the same
//! time, since none waits for another. An addition waits four cycles for the one before it: eight
//! blocks side by side are read as fast as memory gives them. Up to 1,024 values are simply added
//! one after the other.

use crate::graph::{FloatCursor, PatchedFloats, STEP};
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

    /// Adds a float after those before.
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

/// Many sums of floats that come one by one, and how many floats each is of: a float touches one
/// slot of 16 bytes.
#[derive(Debug, Default)]
pub(crate) struct CountedSums {
    open: Vec<CountedSum>,
    /// The sums of the blocks that are full, by sum.
    full: Vec<f64>,
    /// Instead of them, the sums of a part, which others come before.
    part: Option<PartSums>,
}

/// The sum of the values of the block that is not full, and the number of all values.
#[derive(Debug, Clone, Copy)]
struct CountedSum {
    open: f64,
    count: u64,
}

impl CountedSum {
    const NONE: CountedSum = CountedSum { open: NOTHING, count: 0 };
}

impl CountedSums {
    /// The sums of a part, where so many floats of each come before it. They are there to be [put
    /// after](CountedSums::absorb) those before.
    pub(crate) fn behind(counts: &[u32]) -> CountedSums {
        CountedSums { part: Some(PartSums::behind(counts)), ..CountedSums::default() }
    }

    /// Has so many sums; those that are new are of no floats. A part has as many as it was created
    /// with.
    pub(crate) fn resize(&mut self, sums: usize) {
        if self.part.is_some() {
            return;
        }
        self.open.resize(sums, CountedSum::NONE);
        self.full.resize(sums, NOTHING);
    }

    /// Adds floats, each after those before to the sum that `position` returns for its key.
    pub(crate) fn add<K: Copy>(
        &mut self,
        keys: &[K],
        position: impl Fn(K) -> usize,
        floats: &[f64],
    ) {
        if let Some(part) = &mut self.part {
            return part.add(keys, position, floats);
        }
        let CountedSums { open: sums, full, .. } = self;
        for (key, float) in keys.iter().zip(floats) {
            let position = position(*key);
            let CountedSum { open, count } = &mut sums[position];
            *open += float;
            *count += 1;
            if count.is_multiple_of(BLOCK as u64) {
                full[position] = joined(full[position], *open);
                *open = NOTHING;
            }
        }
    }

    /// Appends the next part to these floats. What is no part is left out.
    pub(crate) fn absorb(&mut self, part: &CountedSums) {
        let Some(part) = &part.part else { return };
        let (positions, floats) = &part.head;
        self.add(positions, |position| position as usize, floats);
        for (position, block) in &part.blocks {
            let full = &mut self.full[*position as usize];
            *full = joined(*full, *block);
        }
        for (sum, PartSum { open, count, head }) in self.open.iter_mut().zip(&part.sums) {
            if head < count {
                debug_assert_eq!(sum.count, u64::from(*head), "the part begins where it was told");
                *sum = CountedSum { open: *open, count: u64::from(*count) };
            }
        }
    }

    /// The number of floats of each sum: of a part, without those before it.
    pub(crate) fn counts(&self) -> impl Iterator<Item = u32> {
        let part = self.part.iter().flat_map(PartSums::counts);
        self.open.iter().map(|sum| sum.count as u32).chain(part)
    }

    /// What the floats of a sum add up to: the negative zero where there are none.
    pub(crate) fn total(&self, sum: usize) -> f64 {
        joined(self.full[sum], self.open[sum].open)
    }

    /// The sums at some positions.
    pub(crate) fn at(&self, positions: &[u32]) -> CountedSums {
        CountedSums {
            open: positions.iter().map(|position| self.open[*position as usize]).collect(),
            full: positions.iter().map(|position| self.full[*position as usize]).collect(),
            part: None,
        }
    }

    /// Puts the sums of others from a position on after these.
    pub(crate) fn append(&mut self, more: &CountedSums, from: usize) {
        self.open.extend_from_slice(&more.open[from..]);
        self.full.extend_from_slice(&more.full[from..]);
    }

    /// The number of sums.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }
}

/// Many sums of the floats of a part, with the number of floats that come before, which determines
/// where blocks begin.
#[derive(Debug)]
struct PartSums {
    sums: Vec<PartSum>,
    /// The number of floats before the part, by sum.
    before: Vec<u32>,
    /// The floats of blocks that began before the part, in their order, each after its sum: they
    /// can be added only to the beginning of their block.
    head: (Vec<u32>, Vec<f64>),
    /// The sums of the full blocks after them, in their order, each with its position.
    blocks: Vec<(u32, f64)>,
}

#[derive(Debug, Clone, Copy)]
struct PartSum {
    open: f64,
    /// The number of all floats, with those before the part.
    count: u32,
    /// The number of floats before the first block that begins in the part.
    head: u32,
}

impl PartSums {
    /// A part after so many floats of each sum.
    fn behind(counts: &[u32]) -> PartSums {
        // A block that would end after the last number that there is has no end.
        let head = |count: u32| count.checked_next_multiple_of(BLOCK as u32).unwrap_or(u32::MAX);
        let sum = |&count: &u32| PartSum { open: NOTHING, count, head: head(count) };
        PartSums {
            sums: counts.iter().map(sum).collect(),
            before: counts.to_vec(),
            head: <(Vec<u32>, Vec<f64>)>::default(),
            blocks: Vec::new(),
        }
    }

    /// As [`CountedSums::add`].
    fn add<K: Copy>(&mut self, keys: &[K], position: impl Fn(K) -> usize, floats: &[f64]) {
        let PartSums { sums, head, blocks, .. } = self;
        for (key, &float) in keys.iter().zip(floats) {
            let position = position(*key);
            let sum = &mut sums[position];
            sum.count += 1;
            if sum.count <= sum.head {
                head.0.push(position as u32);
                head.1.push(float);
                continue;
            }
            sum.open += float;
            if sum.count.is_multiple_of(BLOCK as u32) {
                blocks.push((position as u32, sum.open));
                sum.open = NOTHING;
            }
        }
    }

    /// The number of floats of the part, by sum.
    fn counts(&self) -> impl Iterator<Item = u32> {
        self.sums.iter().zip(&self.before).map(|(sum, before)| sum.count - before)
    }
}

/// The sum of floats that come in slices: all of them, or those of a part, which is then [put
/// after](FloatRun::absorb) the parts before it.
#[derive(Debug, Clone, Default)]
pub(crate) struct FloatRun {
    /// How many of the next values belong to a block that began before the part.
    capacity: usize,
    /// The values of that block, which can be added only to its beginning.
    head: Vec<f64>,
    /// The sums of the full blocks after them.
    blocks: Vec<f64>,
    /// The values after these, fewer than are added side by side.
    rest: Vec<f64>,
}

impl FloatRun {
    /// A part that begins after so many values; if that number is not given, its values are
    /// retained to be added when the part is put after others.
    pub(crate) fn behind(values: Option<usize>) -> FloatRun {
        let capacity = values.map_or(usize::MAX, |values| values.wrapping_neg() % BLOCK);
        FloatRun { capacity, ..FloatRun::default() }
    }

    /// Adds floats after those before.
    pub(crate) fn add(&mut self, floats: &[f64]) {
        let (head, mut floats) = floats.split_at(self.capacity.min(floats.len()));
        self.head.extend_from_slice(head);
        self.capacity -= head.len();
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

    /// As [`FloatRun::add`], of floats, some of them changed. They are read where they lie, but for
    /// those of blocks that are not full.
    pub(crate) fn add_patched(&mut self, floats: PatchedFloats<'_>) {
        if let Some(floats) = floats.unchanged() {
            return self.add(floats);
        }
        let mut floats = floats.cursor();
        let head = self.capacity.min(floats.left());
        floats.append_to(head, &mut self.head);
        self.capacity -= head;
        // The block that has begun is filled up first: so the next ones begin after it.
        self.settle();
        if !self.rest.is_empty() {
            floats.append_to(BLOCK - self.rest.len(), &mut self.rest);
            self.settle();
        }
        while BLOCK <= floats.left() {
            let full = BESIDE.min(floats.left() / BLOCK);
            self.blocks.extend_from_slice(&sums_of_patched(&mut floats, full)[..full]);
        }
        floats.append_to(BLOCK, &mut self.rest);
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

    /// Puts the next part after these values.
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

/// A sum with that of the next block. What is beyond all floats stays so, as if all values came one
/// after the other: two infinities may not cancel.
fn joined(sum: f64, block: f64) -> f64 {
    if sum.is_infinite() { sum } else { sum + block }
}

/// The sums of some blocks that lie contiguously, which are added side by side.
fn sums_of<const N: usize>(floats: &[f64]) -> [f64; N] {
    let mut sums = [NOTHING; N];
    add_interleaved(&mut sums, array::from_fn(|block| &floats[block * BLOCK..][..BLOCK]));
    sums
}

/// Adds floats to some sums side by side. There are as many for each.
#[inline]
fn add_interleaved<const N: usize>(sums: &mut [f64; N], floats: [&[f64]; N]) {
    let len = floats[0].len();
    let floats = floats.map(|floats| &floats[..len]);
    let mut added = *sums;
    for position in 0..len {
        for (sum, floats) in added.iter_mut().zip(floats) {
            *sum += floats[position];
        }
    }
    *sums = added;
}

/// The sums of the next blocks, as many as are added side by side, only the first so many of them
/// have a meaning. As long as nothing changed in any of them they are read in place, and else a
/// step at a time: what changed is put together in the nearest cache.
fn sums_of_patched(floats: &mut FloatCursor<'_>, blocks: usize) -> [f64; BESIDE] {
    let first = *floats;
    let mut cursors: [FloatCursor<'_>; BESIDE] = array::from_fn(|block| {
        let cursor = if block < blocks { *floats } else { first };
        floats.skip(if block < blocks { BLOCK } else { 0 });
        cursor
    });
    let mut capacities = [[0.0; STEP]; BESIDE];
    let mut sums = [NOTHING; BESIDE];
    let mut left = BLOCK;
    while 0 < left {
        let unchanged = cursors.iter().fold(left, |least, cursor| least.min(cursor.unchanged()));
        // A block consists of full steps.
        let run = unchanged / STEP * STEP;
        left -= run.max(STEP);
        if 0 < run {
            add_interleaved(&mut sums, cursors.each_mut().map(|cursor| cursor.next_run(run)));
            continue;
        }
        let mut pairs = cursors.iter_mut().zip(&mut capacities);
        let steps: [&[f64]; BESIDE] = array::from_fn(|_| {
            let (cursor, capacity) = pairs.next().expect("there is one for each block");
            &cursor.step(capacity)[..]
        });
        add_interleaved(&mut sums, steps);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Patches, patched};
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
            let expected = plain(&floats).to_bits();
            let mut one_by_one = FloatSum::NONE;
            floats.iter().for_each(|float| one_by_one.add(*float));
            assert_eq!(one_by_one.total().to_bits(), expected, "round {round}");
            let mut counted = CountedSums::default();
            counted.resize(3);
            floats.chunks(rng.usize(1..2_000)).for_each(|some| {
                counted.add(&vec![2_u8; some.len()], usize::from, some);
            });
            let counted = counted.at(&[0, 2]);
            assert_eq!(counted.total(1).to_bits(), expected, "round {round}");
            assert_eq!(counted.counts().collect::<Vec<_>>(), [0, len as u32]);
            let (mut joined, mut begun) = (CountedSums::default(), 0);
            joined.resize(2);
            for some in floats.chunks(rng.usize(1..9_000)) {
                let mut part = CountedSums::behind(&[0, begun]);
                part.add(&vec![1_u8; some.len()], usize::from, some);
                assert_eq!(part.counts().collect::<Vec<_>>(), [0, some.len() as u32]);
                joined.absorb(&part);
                begun += some.len() as u32;
            }
            assert_eq!(joined.total(1).to_bits(), expected, "round {round}");
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
            assert_eq!(slices.total().to_bits(), expected, "round {round}");
            assert_eq!(parts.total().to_bits(), expected, "round {round}");
        }
    }

    #[test]
    fn floats_with_changes_have_the_bits_of_the_definition() {
        let mut rng = Rng::with_seed(11);
        for round in 0..200 {
            let (mut all, mut run) = (Vec::new(), FloatRun::default());
            let before = [None, Some(0), Some(rng.usize(..5_000))][rng.usize(..3)];
            let mut part = FloatRun::behind(before);
            for _ in 0..rng.usize(1..4) {
                let len = [0, 1, BLOCK, WIDTH, rng.usize(..40_000)][rng.usize(..5)];
                let stored: Vec<f64> = (0..len).map(|_| rng.f64() - 0.3).collect();
                let mut patches = Patches::default();
                let listed =
                    patched(&mut patches, &stored, [0, 1, 60, 700][rng.usize(..4)], &mut rng);
                run.add_patched(patches.of(&stored));
                part.add_patched(patches.of(&stored));
                all.extend(listed);
            }
            let mut full = FloatRun::default();
            let floats_before: Vec<f64> = (0..before.unwrap_or(0)).map(|_| rng.f64()).collect();
            full.add(&floats_before);
            part.settle();
            full.absorb(&part);
            let both = [floats_before, all.clone()].concat();
            assert_eq!(run.total().to_bits(), plain(&all).to_bits(), "round {round}");
            assert_eq!(full.total().to_bits(), plain(&both).to_bits(), "round {round}");
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
