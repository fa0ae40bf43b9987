//! Members as words of bits, 64 ids at a time: for loops over many adjacent ids.

use crate::storage::sets::bitmap::container::BIT_WORDS;
use crate::storage::sets::bitmap::row_runs::Words;
use crate::storage::sets::bitmap::{BitmapBuilder, FrozenBitmap, join, split};
use crate::storage::sets::span_bits::list_word;

impl FrozenBitmap {
    /// The set of words of bits. The first word begins at the id `first`, a multiple of 65,536.
    /// O(words).
    pub(crate) fn from_words(first: u32, words: &[u64]) -> FrozenBitmap {
        let mut builder = BitmapBuilder::new();
        let (first, low) = split(first);
        debug_assert_eq!(low, 0, "a container begins there");
        for (key, part) in (first..=u16::MAX).zip(words.chunks(BIT_WORDS)) {
            match part.try_into() {
                Ok(bits) => builder.push_bits(key, bits),
                Err(_) => {
                    let mut bits = [0; BIT_WORDS];
                    bits[..part.len()].copy_from_slice(part);
                    builder.push_bits(key, &bits);
                }
            }
        }
        builder.finish()
    }

    /// Calls `visit` with the index of each of `count` words, its members as bits, and the row of
    /// the first of them (or of the next member), ascending. The first word begins at the id
    /// `first`, a multiple of 64, and all words are within the ids. O(words + containers).
    pub(crate) fn for_each_word(
        &self,
        first: u32,
        count: usize,
        mut visit: impl FnMut(usize, u64, u32),
    ) {
        let mut position = 0;
        while position < count {
            let (key, low) = split(first + 64 * position as u32);
            let start = usize::from(low / 64);
            let len = (BIT_WORDS - start).min(count - position);
            match self.find_key(key) {
                None => (position..position + len).for_each(|position| visit(position, 0, 0)),
                Some(index) => {
                    let container = self.container(index);
                    let before = self.directory.get(index).before;
                    let mut row = before.wrapping_add(container.rank(low) as u32);
                    let mut words = Words::of(&container);
                    for index in start..start + len {
                        let members = words.at(index);
                        visit(position + index - start, members, row);
                        row = row.wrapping_add(members.count_ones());
                    }
                }
            }
            position += len;
        }
    }

    /// The members that `other` does not have, and those of `other` that this set lacks, both
    /// ascending. O(words of the containers of both).
    pub(in crate::storage::sets) fn differences(&self, other: &FrozenBitmap) -> [Vec<u32>; 2] {
        let mut differences = [Vec::new(), Vec::new()];
        let keys = |set: &FrozenBitmap| -> Vec<u16> {
            set.directory.as_slice().iter().map(|entry| entry.key).collect()
        };
        let mut keys = [keys(self), keys(other)].concat();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let containers = [self, other].map(|set| Some(set.container(set.find_key(key)?)));
            let mut members = containers.each_ref().map(|it| it.as_ref().map(Words::of));
            for index in 0..BIT_WORDS {
                let [mine, theirs] =
                    members.each_mut().map(|it| it.as_mut().map_or(0, |words| words.at(index)));
                if mine != theirs {
                    let first = join(key, (index * 64) as u16);
                    let [more, less] = &mut differences;
                    list_word(mine & !theirs, first, more);
                    list_word(theirs & !mine, first, less);
                }
            }
        }
        differences
    }

    /// Adds the members of some words to these. The first word begins at the id `first`.
    pub(crate) fn add_to_words(&self, first: u32, words: &mut [u64]) {
        debug_assert_eq!(first % 64, 0, "a word begins there");
        self.for_each_word(first, words.len(), |position, members, _| words[position] |= members);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Members alone, in runs, and as bits, of several containers.
    fn members() -> impl Strategy<Value = BTreeSet<u32>> {
        let alone = prop::collection::btree_set(0u32..300_000, 0..200);
        let runs = prop::collection::vec((0u32..300_000, 1u32..9000), 0..6);
        let step = prop_oneof![Just(0u32), 2u32..20];
        (alone, runs, step).prop_map(|(mut all, runs, step)| {
            runs.iter().for_each(|(first, len)| all.extend(*first..first + len));
            if step != 0 {
                all.extend((70_000..140_000).step_by(step as usize));
            }
            all
        })
    }

    proptest! {
        #[test]
        fn words_have_the_members_and_their_rows(
            members in members(),
            start in 0u32..5000,
            count in 0usize..5000,
            shift in prop::sample::select(vec![0u32, 0xfff0_0000]),
        ) {
            let members: BTreeSet<u32> = members.iter().map(|member| member + shift).collect();
            let frozen = FrozenBitmap::from_sorted_iter(members.iter().copied());
            let first = shift + 64 * start;
            let mut next = 0;
            frozen.for_each_word(first, count, |position, word, row| {
                assert_eq!(position, next);
                next += 1;
                let start = first + 64 * position as u32;
                let mut here = Vec::new();
                for bit in 0..64 {
                    assert_eq!(word >> bit & 1 == 1, members.contains(&(start + bit)));
                    here.extend((word >> bit & 1 == 1).then_some(start + bit));
                }
                for (position, member) in here.iter().enumerate() {
                    assert_eq!(frozen.row_of(*member), Some(row as usize + position));
                }
            });
            prop_assert_eq!(next, count);
        }

        #[test]
        fn sets_are_made_of_words(members in members(), shift in prop::sample::select(vec![0u32, 1 << 17, 0xfff0_0000])) {
            let mut words = vec![0_u64; 320_000 / 64];
            members.iter().for_each(|member| words[*member as usize / 64] |= 1 << (member % 64));
            let expected = FrozenBitmap::from_sorted_iter(members.iter().map(|member| member + shift));
            let made = FrozenBitmap::from_words(shift, &words);
            prop_assert_eq!(made.iter().collect::<Vec<u32>>(), expected.iter().collect::<Vec<u32>>());
            prop_assert_eq!(made.len(), members.len());
            let mut again = vec![0; words.len()];
            made.add_to_words(shift, &mut again);
            prop_assert_eq!(again, words);
        }
    }
}
