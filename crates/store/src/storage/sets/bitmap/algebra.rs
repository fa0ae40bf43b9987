//! Intersection, union and difference of entire sets.

use crate::storage::files::blocks::unwind_with;
use crate::storage::sets::bitmap::container::{BIT_WORDS, Container, Run};
use crate::storage::sets::bitmap::convert::PortableWriter;
use crate::storage::sets::bitmap::{FrozenBitmap, container, join, split};
use crate::storage::sets::sorted::gallop;
use crate::storage::vectorized;
use roaring::RoaringBitmap;

/// When the other set has fewer members than this for each of our containers, each member is looked
/// up and no container is converted.
const WALK_MEMBERS_MAX: u64 = 64;

impl FrozenBitmap {
    /// The members of both.
    pub fn and(&self, other: &FrozenBitmap) -> RoaringBitmap {
        let mut both = PortableWriter::default();
        for (one, two) in self.shared_keys(other) {
            let key = self.directory.get(one).key;
            push_both(&mut both, key, &self.container(one), &other.container(two));
        }
        // The roaring crate checks its input, so an unsorted payload is detected here.
        both.finish().unwrap_or_else(|fault| unwind_with(self.invalid(&fault)))
    }

    /// The number of members of both, without making the set of them.
    pub fn and_len(&self, other: &FrozenBitmap) -> u64 {
        if self.is_surely_equal(other) {
            return self.len as u64;
        }
        self.shared_keys(other)
            .map(|(one, two)| count_both(&self.container(one), &other.container(two)) as u64)
            .sum()
    }

    /// The number of members of both. O(containers of `other`) where this set has no gaps, else a
    /// look at each member of `other` that has a container here.
    pub fn and_len_roaring(&self, other: &RoaringBitmap) -> u64 {
        let (Some(least), Some(greatest)) = (self.min(), self.max()) else { return 0 };
        if self.range_from.is_some() {
            return other.range_cardinality(least..=greatest);
        }
        let mut members = other.range(least..=greatest);
        let (mut batch, mut count) = ([0; BATCH], 0);
        loop {
            let mut batch = &*members.next_many(&mut batch);
            if batch.is_empty() {
                return count;
            }
            while let Some(&first) = batch.first() {
                let (key, _) = split(first);
                let last = join(key, u16::MAX);
                let len = match batch[batch.len() - 1] <= last {
                    true => batch.len(),
                    false => gallop(batch, |member| *member <= last),
                };
                match self.find_key(key) {
                    Some(index) => count += count_among(&batch[..len], &self.container(index)),
                    None if len == batch.len() => members.advance_to(last),
                    None => {}
                }
                batch = &batch[len..];
            }
        }
    }

    /// The members that `other` does not have.
    pub fn and_not(&self, other: &FrozenBitmap) -> RoaringBitmap {
        if self.is_surely_equal(other) {
            return RoaringBitmap::new();
        }
        let mut rest = PortableWriter::default();
        for (index, entry) in self.directory.as_slice().iter().enumerate() {
            let mut bits = bits_of(&self.container(index));
            if let Some(other) = other.find_key(entry.key).map(|index| other.container(index)) {
                let gone = bits_of(&other);
                bits.iter_mut().zip(&gone).for_each(|(word, gone)| *word &= !gone);
            }
            match container::count_ones(&bits) {
                0 => {}
                count => rest.push_bits(entry.key, &bits, count),
            }
        }
        rest.finish().unwrap_or_else(|fault| unwind_with(self.invalid(&fault)))
    }

    /// The members of both. Containers where `other` has none are not touched.
    pub fn and_roaring(&self, other: &RoaringBitmap) -> RoaringBitmap {
        if self.is_longer_by_far(other) {
            return self.walk(other, true);
        }
        // Entire containers are copied, and only those whose key `other` has, too.
        let mut both = self.to_roaring_of(self.keys_of(other));
        both &= other;
        both
    }

    /// Adds the members to `target`.
    pub fn or_into(&self, target: &mut RoaringBitmap) {
        let own = self.to_roaring();
        if target.is_empty() {
            // Moved: a union with an empty set would copy it again.
            *target = own;
        } else {
            *target |= own;
        }
    }

    /// Removes the members of this set from `target`. Containers where `target` has no members are
    /// not read.
    pub fn remove_from(&self, target: &mut RoaringBitmap) {
        if self.is_longer_by_far(target) {
            *target = self.walk(target, false);
        } else {
            *target -= self.to_roaring_of(self.keys_of(target));
        }
    }

    /// True when `other` has so few members that looking up each is cheaper than converting
    /// containers.
    fn is_longer_by_far(&self, other: &RoaringBitmap) -> bool {
        other.len() < WALK_MEMBERS_MAX * self.directory.len() as u64
    }

    /// The members of `other` that are in this set, or those that are not.
    fn walk(&self, other: &RoaringBitmap, retain: bool) -> RoaringBitmap {
        let mut prober = self.prober();
        let retained = other.iter().filter(|&member| prober.contains(member) == retain);
        RoaringBitmap::from_sorted_iter(retained).expect("the members of a bitmap ascend")
    }

    /// The containers whose key both directories have, as pairs of indexes.
    fn shared_keys(&self, other: &FrozenBitmap) -> impl Iterator<Item = (usize, usize)> {
        let key_at = |bitmap: &FrozenBitmap, index: usize| {
            bitmap.directory.as_slice().get(index).map(|entry| entry.key)
        };
        let (mut one, mut two) = (0, 0);
        std::iter::from_fn(move || {
            loop {
                let (left, right) = (key_at(self, one)?, key_at(other, two)?);
                if left < right {
                    // A search instead of a step: one directory may be much longer than the
                    // other.
                    one = self.lower_bound(right);
                } else if right < left {
                    two = other.lower_bound(left);
                } else {
                    one += 1;
                    two += 1;
                    return Some((one - 1, two - 1));
                }
            }
        })
    }

    /// The indexes of the containers whose key has members in `other`.
    fn keys_of(&self, other: &RoaringBitmap) -> impl Iterator<Item = usize> {
        let mut members = other.iter();
        let mut index = 0;
        std::iter::from_fn(move || {
            loop {
                let least = self.directory.as_slice().get(index)?.key;
                // Both skip to where the other is, so neither is walked member by member.
                members.advance_to(u32::from(least) << 16);
                let key = split(members.next()?).0;
                index = self.lower_bound(key);
                if self.directory.as_slice().get(index)?.key == key {
                    index += 1;
                    return Some(index - 1);
                }
            }
        })
    }
}

/// Adds the members of two containers that have the same key.
fn push_both(both: &mut PortableWriter, key: u16, one: &Container<'_>, two: &Container<'_>) {
    match (one, two) {
        (Container::Sorted(_), Container::Sorted(_)) => {
            let mut lows = Vec::new();
            each_of_both(one, two, |low| lows.push(low));
            both.push_sorted(key, &lows);
        }
        (Container::Sorted(lows), other) | (other, Container::Sorted(lows)) => {
            let lows: Vec<u16> = lows.iter().copied().filter(|&low| other.contains(low)).collect();
            both.push_sorted(key, &lows);
        }
        (Container::Bits(left, _), Container::Bits(right, _)) => {
            let bits = std::array::from_fn(|index| left[index] & right[index]);
            both.push_bits(key, &bits, container::count_ones(&bits));
        }
        (Container::Bits(words, _), other) | (other, Container::Bits(words, _)) => {
            let bits = masked(words, other.as_runs().unwrap_or_default());
            both.push_bits(key, &bits, container::count_ones(&bits));
        }
        _ => {
            let (left, right) =
                (one.as_runs().unwrap_or_default(), two.as_runs().unwrap_or_default());
            both.push_runs(key, &shared_runs(left, right));
        }
    }
}

/// The number of members of two containers that have the same key.
fn count_both(one: &Container<'_>, two: &Container<'_>) -> usize {
    match (one, two) {
        (Container::Sorted(_), Container::Sorted(_)) => {
            let mut count = 0;
            each_of_both(one, two, |_| count += 1);
            count
        }
        (Container::Bits(left, _), Container::Bits(right, _)) => {
            let words = left.iter().zip(right.iter());
            vectorized(|| words.map(|(one, two)| (one & two).count_ones() as usize).sum())
        }
        _ => match (one.as_runs(), two.as_runs()) {
            (Some(one), Some(two))
                if one.len().max(two.len()) < SEARCHED * one.len().min(two.len()) =>
            {
                count_in_both_runs(one, two)
            }
            (Some(one), Some(two)) if two.len() < one.len() => {
                count_in_runs(two, &Container::Runs(one))
            }
            (Some(runs), _) => count_in_runs(runs, two),
            (None, Some(runs)) => count_in_runs(runs, one),
            (None, None) => match (one, two) {
                (Container::Sorted(lows), bits) | (bits, Container::Sorted(lows)) => {
                    lows.iter().filter(|&&low| bits.contains(low)).count()
                }
                // Unreachable: without runs it is a list or bits, and pairs of the same kind were
                // counted above.
                _ => 0,
            },
        },
    }
}

/// Where one container has this many times more runs than the other, those of the shorter one are
/// searched for.
const SEARCHED: usize = 8;

/// The number of members that lie in a run of each, by a merge without branches that are hard to
/// foresee.
fn count_in_both_runs(one: &[Run], two: &[Run]) -> usize {
    let (mut left, mut right, mut count) = (0, 0, 0);
    while let (Some(a), Some(b)) = (one.get(left), two.get(right)) {
        let (first, last) = (a.first.max(b.first), a.last.min(b.last));
        count += (usize::from(last) + 1).saturating_sub(usize::from(first));
        // The run that ends first meets no other run.
        left += usize::from(a.last <= b.last);
        right += usize::from(b.last <= a.last);
    }
    count
}

fn count_in_runs(runs: &[Run], container: &Container<'_>) -> usize {
    if let (Container::Bits(..), [first, _, .., last]) = (container, runs) {
        // All bits from the first run to the last one, but for those between two of them. Runs that
        // are left by deletions lie close together, so what lies between them is mostly a word. An
        // invalid payload may have runs that do not ascend.
        let between =
            runs.windows(2).map(|pair| match pair[1].first.saturating_sub(pair[0].last) {
                0 | 1 => 0,
                _ => container.count_between(pair[0].last + 1, pair[1].first - 1),
            });
        let all = container.count_between(first.first, last.last);
        return all.saturating_sub(between.sum::<usize>());
    }
    runs.iter().map(|run| container.count_between(run.first, run.last)).sum()
}

/// Merges two sorted containers, galloping in the longer one.
fn each_of_both(one: &Container<'_>, two: &Container<'_>, mut result: impl FnMut(u16)) {
    let (Container::Sorted(one), Container::Sorted(two)) = (one, two) else { return };
    let (short, mut long) = if one.len() <= two.len() { (*one, *two) } else { (*two, *one) };
    // Where the lists are about as long, nearly every search would end after a step or two: a
    // merge does the same with less.
    if long.len() < 8 * short.len() {
        return merge(short, long, result);
    }
    for &low in short {
        long = &long[gallop(long, |&other| other < low)..];
        if long.first() == Some(&low) {
            result(low);
        }
    }
}

/// Merges two sorted lists, without branches that are hard to foresee.
fn merge(one: &[u16], two: &[u16], mut result: impl FnMut(u16)) {
    let (mut left, mut right) = (0, 0);
    while let (Some(&a), Some(&b)) = (one.get(left), two.get(right)) {
        if a == b {
            result(a);
        }
        // Both go on where they are equal.
        left += usize::from(a <= b);
        right += usize::from(b <= a);
    }
}

/// So many members of a bitmap are listed at a time.
const BATCH: usize = 256;

/// The number of those members that are in a container of their key.
fn count_among(members: &[u32], container: &Container<'_>) -> u64 {
    match container {
        // Without a branch, which would be as hard to foresee as the members are.
        Container::Bits(words, _) => {
            let bit = |low: u16| words[usize::from(low / 64)] >> (low % 64) & 1;
            members.iter().map(|member| bit(*member as u16)).sum()
        }
        _ => members.iter().filter(|member| container.contains(**member as u16)).count() as u64,
    }
}

/// The members of a container as bits.
fn bits_of(container: &Container<'_>) -> [u64; BIT_WORDS] {
    let mut bits = [0; BIT_WORDS];
    match container {
        Container::Bits(words, _) => bits = **words,
        Container::Sorted(lows) => {
            lows.iter().for_each(|low| bits[usize::from(low / 64)] |= 1 << (low % 64));
        }
        Container::Range(run) => container::set_bits(&mut bits, run.first, run.last),
        Container::Runs(runs) => {
            runs.iter().for_each(|run| container::set_bits(&mut bits, run.first, run.last));
        }
    }
    bits
}

/// The bits that lie in runs.
fn masked(words: &[u64; BIT_WORDS], runs: &[Run]) -> [u64; BIT_WORDS] {
    let mut bits = [0; BIT_WORDS];
    for run in runs {
        for index in usize::from(run.first / 64)..=usize::from(run.last / 64) {
            bits[index] |= words[index] & container::run_mask(index, run.first, run.last);
        }
    }
    bits
}

/// The ranges that lie in runs of both.
fn shared_runs(one: &[Run], two: &[Run]) -> Vec<(u16, u16)> {
    let mut shared = Vec::new();
    let (mut left, mut right) = (0, 0);
    while let (Some(a), Some(b)) = (one.get(left), two.get(right)) {
        let (first, last) = (a.first.max(b.first), a.last.min(b.last));
        // Two runs may lie contiguously, without a member of both.
        if first <= last {
            shared.push((first, last));
        }
        // The run that ends first meets no other run.
        left += usize::from(a.last <= b.last);
        right += usize::from(b.last <= a.last);
    }
    shared
}
