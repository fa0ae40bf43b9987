//! A set of nodes as a bit for each id of a span: the fastest set of nodes that lie close together.

use roaring::RoaringBitmap;

/// A set of nodes between two ids. It takes an eighth of a byte for each id of the span.
pub(crate) struct SpanBits {
    /// The id of the first bit, a multiple of 64.
    first: u32,
    words: Vec<u64>,
}

impl SpanBits {
    /// Creates a set of nodes in any order, with repeats, all between two ids, inclusive.
    pub(crate) fn of(least: u32, greatest: u32, nodes: impl Iterator<Item = u32>) -> SpanBits {
        let mut bits = SpanBits::empty(least, greatest);
        // One pass, no comparisons.
        nodes.for_each(|node| bits.set(node));
        bits
    }

    /// Creates an empty set for nodes between two ids, both included.
    pub(crate) fn empty(least: u32, greatest: u32) -> SpanBits {
        let first = least & !63;
        SpanBits { first, words: vec![0; (greatest - first) as usize / 64 + 1] }
    }

    #[inline]
    fn set(&mut self, node: u32) {
        let (position, bit) = bit_of(self.first, node);
        self.words[position] |= bit;
    }

    /// Adds nodes of the span, in any order, with repeats.
    pub(crate) fn set_all(&mut self, nodes: &[u32]) {
        nodes.iter().for_each(|node| self.set(*node));
    }

    /// True when `node`, which may lie outside of the span, is a member. O(1).
    #[inline]
    pub(crate) fn contains(&self, node: u32) -> bool {
        // A node before the first wraps to a position beyond all bits.
        let position = node.wrapping_sub(self.first) as usize / 64;
        self.words.get(position).is_some_and(|word| word >> (node % 64) & 1 != 0)
    }

    /// Returns what sets of the same span have together; `None` of no sets.
    pub(crate) fn union(parts: Vec<SpanBits>) -> Option<SpanBits> {
        parts.into_iter().reduce(|mut all, part| {
            all.words.iter_mut().zip(&part.words).for_each(|(word, other)| *word |= other);
            all
        })
    }

    /// The bytes of the bits.
    pub(crate) fn byte_len(&self) -> usize {
        size_of_val(self.words.as_slice())
    }

    /// The number of members. O(span).
    pub(crate) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Adds the members, ascending, to a list.
    pub(crate) fn append_to(&self, nodes: &mut Vec<u32>) {
        append_bits(self.first, &self.words, nodes);
    }

    /// Returns the members as a bitmap. O(span).
    pub(crate) fn to_bitmap(&self) -> RoaringBitmap {
        RoaringBitmap::from_lsb0_bytes(self.first, bytemuck::cast_slice(&self.words))
    }
}

/// The index of a node's word, and its bit there. The first word begins at the id `first`, a
/// multiple of 64.
#[inline]
pub(crate) fn bit_of(first: u32, node: u32) -> (usize, u64) {
    ((node - first) as usize / 64, 1 << (node % 64))
}

/// Adds the nodes of words that begin at the id `first`, ascending, to a list.
pub(super) fn append_bits(first: u32, words: &[u64], nodes: &mut Vec<u32>) {
    for (word, position) in words.iter().zip(0_u32..) {
        list_word(*word, first + 64 * position, nodes);
    }
}

/// The numbers of the bits that are set in each byte.
static BITS_OF_BYTES: [[u8; 8]; 256] = bits_of_bytes();

const fn bits_of_bytes() -> [[u8; 8]; 256] {
    let mut all = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                all[byte][count] = bit as u8;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    all
}

/// So many bits are listed one by one.
const FEW_BITS: u32 = 8;

/// Adds the numbers of the bits that are set to a list, each with `base` added. For each byte eight
/// numbers are written, whatever it has, and the next ones over those that were too many: so
/// nothing has to be foreseen.
pub(super) fn list_word(word: u64, base: u32, list: &mut Vec<u32>) {
    if word == u64::MAX {
        list.extend((0..64).map(|bit| base + bit));
        return;
    }
    if word.count_ones() <= FEW_BITS {
        let mut rest = word;
        while rest != 0 {
            list.push(base + rest.trailing_zeros());
            rest &= rest - 1;
        }
        return;
    }
    let mut numbers = [0_u32; 64 + 8];
    let mut end = 0;
    for (byte, first) in word.to_le_bytes().into_iter().zip((base..).step_by(8)) {
        let bits = &BITS_OF_BYTES[usize::from(byte)];
        numbers[end..end + 8]
            .iter_mut()
            .zip(bits)
            .for_each(|(it, bit)| *it = first + u32::from(*bit));
        end += byte.count_ones() as usize;
    }
    list.extend_from_slice(&numbers[..end]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn bits_are_the_nodes(
            nodes in prop::collection::vec(0u32..3000, 1..200),
            shift in prop::sample::select(vec![0, 1, 63, 64, 100_000, u32::MAX - 2999]),
            requested in 0u32..4000,
        ) {
            let nodes: Vec<u32> = nodes.iter().map(|node| node + shift).collect();
            let expected: BTreeSet<u32> = nodes.iter().copied().collect();
            let bounds = (*expected.first().unwrap(), *expected.last().unwrap());
            let bits = SpanBits::of(bounds.0, bounds.1, nodes.iter().copied());
            let mut members = Vec::new();
            bits.append_to(&mut members);
            prop_assert_eq!(&members, &expected.iter().copied().collect::<Vec<u32>>());
            prop_assert_eq!(bits.to_bitmap().iter().collect::<Vec<u32>>(), members);
            for node in [requested, requested.wrapping_add(shift).wrapping_sub(500), 0, u32::MAX] {
                prop_assert_eq!(bits.contains(node), expected.contains(&node));
            }
        }
    }
}
