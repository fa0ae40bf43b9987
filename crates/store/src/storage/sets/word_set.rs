//! Sets of any form as words of bits, 64 ids each, and back.

use super::span_bits::{append_bits, bit_of};
use crate::storage::{FrozenBitmap, NodeSet};

impl NodeSet {
    /// The set of words of bits: a list of few members, else a bitmap. The first word begins at the
    /// id `first`, a multiple of 65,536. O(words).
    pub(crate) fn from_words(first: u32, words: &[u64]) -> NodeSet {
        /// Fewer members than one in so many ids are a list.
        const LISTED_RATIO: usize = 64;
        let count: usize = words.iter().map(|word| word.count_ones() as usize).sum();
        if words.len() * 64 / LISTED_RATIO < count {
            return NodeSet::from(FrozenBitmap::from_words(first, words));
        }
        let mut nodes = Vec::with_capacity(count);
        append_bits(first, words, &mut nodes);
        NodeSet::from(nodes)
    }

    /// Adds the members to words of bits that have none yet, as far as they lie there; the first
    /// word begins at the id `first`, a multiple of 64. O(words + log members) for a set without
    /// changes, and O(changes there).
    pub(crate) fn add_to_words(&self, first: u32, words: &mut [u64]) {
        let Some(last) = (64 * words.len()).checked_sub(1) else { return };
        let last = first.saturating_add(last as u32);
        let mut add = |node: u32| {
            let (position, bit) = bit_of(first, node);
            words[position] |= bit;
        };
        match self {
            NodeSet::Sorted(_) | NodeSet::Slice(..) => {
                let nodes = self.list().unwrap_or_default();
                let nodes = &nodes[nodes.partition_point(|node| *node < first)..];
                nodes.iter().take_while(|node| **node <= last).for_each(|node| add(*node));
            }
            NodeSet::Bitmap(bitmap) => bitmap.range(first..=last).for_each(add),
            NodeSet::Frozen(bitmap) => bitmap.add_to_words(first, words),
            NodeSet::Overlay { base, gained, lost } => {
                // What was gained is not stored.
                gained.range(first..=last).for_each(add);
                base.add_to_words(first, words);
                for node in lost.range(first..=last) {
                    let (position, bit) = bit_of(first, node);
                    words[position] &= !bit;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use roaring::RoaringBitmap;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    proptest! {
        /// Sets in every form have their members in their words, and the words make the set.
        #[test]
        fn words_are_the_set(
            stored in prop::collection::btree_set(0u32..200_000, 0..3000),
            run in (0u32..150_000, 0u32..20_000),
            gained in prop::collection::btree_set(0u32..200_000, 0..100),
            start in 0u32..2000,
            count in 0usize..2000,
            form in 0..4,
        ) {
            let mut members: BTreeSet<u32> = stored;
            members.extend(run.0..run.0 + run.1);
            let list: Vec<u32> = members.iter().copied().collect();
            let set = match form {
                0 => NodeSet::from(list),
                1 => NodeSet::from(list.into_iter().collect::<RoaringBitmap>()),
                2 => NodeSet::from(FrozenBitmap::from_sorted(&list)),
                _ => {
                    let lost: RoaringBitmap = list.iter().copied().step_by(7).collect();
                    let gained: RoaringBitmap = gained.difference(&members).copied().collect();
                    members.retain(|node| !lost.contains(*node));
                    members.extend(&gained);
                    let base = NodeSet::from(FrozenBitmap::from_sorted(&list));
                    NodeSet::overlay(base, &Arc::new(gained), &Arc::new(lost))
                }
            };
            let mut words = vec![0; count];
            set.add_to_words(64 * start, &mut words);
            for (position, word) in words.iter().enumerate() {
                for bit in 0..64 {
                    let node = 64 * (start + position as u32) + bit;
                    prop_assert_eq!(word >> bit & 1 == 1, members.contains(&node));
                }
            }
            let mut all = vec![0; 220_000_usize.div_ceil(64)];
            set.add_to_words(0, &mut all);
            let again = NodeSet::from_words(1 << 16, &all);
            let expected: Vec<u32> = members.iter().map(|node| node + (1 << 16)).collect();
            prop_assert_eq!(again.to_vec(), expected);
        }
    }
}
