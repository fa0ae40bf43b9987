//! A sorted dictionary of tokens with a posting list for each.
//!
//! The tokens are values themselves (ints, floats, instants, texts), so that an index of entire
//! values answers equality, ranges and ordered scans exactly, and one of words or trigrams is the
//! same structure with other tokens. A lookup is a binary search in the dictionary; a posting list
//! is a part of one array, ascending by node.

use super::long_lists::LongLists;
use crate::storage::{Array, NodeSet, Offsets, Values};
use hexgraph_base::types::{Content, ValueRef, ValueType, ordered_bits};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::{Bound, Range};

/// The stored part of an index.
#[derive(Clone)]
pub struct TokenIndex {
    /// The tokens, ascending, each once.
    pub keys: Values,
    /// The position at which the postings of each token start.
    pub offsets: Offsets,
    /// Nodes, ascending within a token.
    pub postings: Array<u32>,
    /// Those of tokens that most nodes have as bitmaps, too.
    long_lists: LongLists,
}

/// An owned token, ordered as tokens of its index are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenKey {
    /// An int, a bool, a trigram.
    Int(i64),
    /// A float, as bits whose order is that of the numbers.
    Float(u64),
    /// An instant.
    Time(i64, u32),
    /// A text.
    Text(Box<str>),
    /// A big float.
    BigFloat(BigFloatKey),
}

/// A big float that compares as a number.
#[derive(Debug, Clone)]
pub struct BigFloatKey(Box<str>);

impl Ord for BigFloatKey {
    fn cmp(&self, other: &BigFloatKey) -> Ordering {
        self.compare(&other.0)
    }
}

impl PartialOrd for BigFloatKey {
    fn partial_cmp(&self, other: &BigFloatKey) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for BigFloatKey {
    fn eq(&self, other: &BigFloatKey) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for BigFloatKey {}

impl Hash for BigFloatKey {
    /// Equal numbers have equal texts: the texts are canonical.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl BigFloatKey {
    fn compare(&self, other: &str) -> Ordering {
        let order = ValueRef::BigFloat(&self.0).compare(ValueRef::BigFloat(other));
        order.expect("big floats have an order")
    }
}

impl TokenKey {
    /// The token of an entire value; `None` for values that cannot be tokens.
    pub fn of(value: ValueRef<'_>) -> Option<TokenKey> {
        Some(match value.content() {
            Content::Int(number) => TokenKey::Int(number),
            Content::Bool(truth) => TokenKey::Int(i64::from(truth)),
            Content::Float(number) => TokenKey::Float(ordered_bits(number)),
            Content::Time(time) => TokenKey::Time(time.seconds, time.nanos),
            Content::Text(text) => match value.value_type() {
                ValueType::Default | ValueType::String => TokenKey::Text(text.into()),
                ValueType::BigFloat => TokenKey::BigFloat(BigFloatKey(text.into())),
                ValueType::Int
                | ValueType::Float
                | ValueType::Bool
                | ValueType::DateTime
                | ValueType::Geo
                | ValueType::Uid
                | ValueType::Password
                | ValueType::Vector
                | ValueType::Binary => return None,
            },
            Content::Numbers(_) | Content::Bytes(_) => return None,
        })
    }

    /// Compares the token with a key of an index.
    pub(crate) fn compare(&self, key: ValueRef<'_>) -> Ordering {
        match (self, key.content()) {
            (TokenKey::Int(mine), Content::Int(other)) => mine.cmp(&other),
            (TokenKey::Int(mine), Content::Bool(other)) => mine.cmp(&i64::from(other)),
            (TokenKey::Float(mine), Content::Float(other)) => mine.cmp(&ordered_bits(other)),
            (TokenKey::Time(seconds, nanos), Content::Time(other)) => {
                (*seconds, *nanos).cmp(&(other.seconds, other.nanos))
            }
            (TokenKey::Text(mine), Content::Text(other)) => mine.as_bytes().cmp(other.as_bytes()),
            (TokenKey::BigFloat(mine), Content::Text(other)) => mine.compare(other),
            // A key of another type never matches: an index has keys of one type.
            _ => Ordering::Less,
        }
    }
}

impl TokenIndex {
    /// An index without tokens.
    pub fn empty() -> TokenIndex {
        let keys = Values::empty(hexgraph_base::types::ValueType::String);
        TokenIndex::new(keys, Offsets::from_vec(vec![0]), Array::empty())
    }

    /// An index of distinct, ascending tokens: with the position at which the postings of each
    /// begin, and the nodes, ascending within a token.
    pub fn new(keys: Values, offsets: Offsets, postings: Array<u32>) -> TokenIndex {
        TokenIndex { keys, offsets, postings, long_lists: LongLists::default() }
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// True when there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The first token that is not below `key`.
    pub fn lower_bound(&self, key: &TokenKey) -> usize {
        self.search(|token| key.compare(token) == Ordering::Greater)
    }

    /// The first token that is above `key`.
    pub fn upper_bound(&self, key: &TokenKey) -> usize {
        self.search(|token| key.compare(token) != Ordering::Less)
    }

    /// The position of the first token that is not below `key`, and whether it is `key`. O(log
    /// tokens).
    pub(crate) fn position(&self, key: &TokenKey) -> (usize, bool) {
        let position = self.lower_bound(key);
        let is_match =
            position < self.len() && key.compare(self.keys.get(position)) == Ordering::Equal;
        (position, is_match)
    }

    /// The positions of the tokens between two bounds.
    pub fn positions(&self, low: Bound<&TokenKey>, high: Bound<&TokenKey>) -> Range<usize> {
        let start = match low {
            Bound::Included(key) => self.lower_bound(key),
            Bound::Excluded(key) => self.upper_bound(key),
            Bound::Unbounded => 0,
        };
        let end = match high {
            Bound::Included(key) => self.upper_bound(key),
            Bound::Excluded(key) => self.lower_bound(key),
            Bound::Unbounded => self.len(),
        };
        start..end.max(start)
    }

    /// The first token of `positions` that is not below `key`, and whether it is `key`. The search
    /// gallops from the start of the positions, or backwards from their end: O(log tokens in
    /// between), so that a merge of an index with sorted keys costs a few comparisons a step.
    pub(crate) fn seek(
        &self,
        key: &TokenKey,
        positions: Range<usize>,
        backwards: bool,
    ) -> (usize, bool) {
        let below = |position: usize| key.compare(self.keys.get(position)) == Ordering::Greater;
        let (mut low, mut high, mut step) = (positions.start, positions.end, 1);
        // All before `low` are below the key, and none from `high`
        // on is. Steps double from the end where the walk stands.
        while step <= high - low {
            let probe = if backwards { high - step } else { low + step - 1 };
            let is_below = below(probe);
            if is_below {
                low = probe + 1
            } else {
                high = probe
            }
            // It is on this side of the last key, and not on the other.
            if is_below == backwards {
                break;
            }
            step *= 2;
        }
        let low = partition_point(low..high, below);
        let is_it = low < positions.end && key.compare(self.keys.get(low)) == Ordering::Equal;
        (low, is_it)
    }

    /// The position of a token.
    pub fn find(&self, key: &TokenKey) -> Option<usize> {
        let (position, is_match) = self.position(key);
        is_match.then_some(position)
    }

    /// The nodes of the token at `position`: a bitmap if they are most ids, which the first call
    /// makes in O(nodes), else a slice of the postings.
    pub fn nodes(&self, position: usize) -> NodeSet {
        match self.long_lists.bitmap((&self.offsets, &self.postings), position) {
            Some(nodes) => NodeSet::Frozen(nodes),
            None => NodeSet::Slice(self.postings.clone(), self.offsets.range(position)),
        }
    }

    /// The positions of the postings of a range of tokens.
    pub fn span(&self, positions: Range<usize>) -> Range<usize> {
        self.offsets.start(positions.start)..self.offsets.start(positions.end)
    }

    /// The bytes that the index takes.
    pub fn byte_len(&self) -> usize {
        let stored = self.keys.byte_len() + self.offsets.byte_len() + self.postings.byte_len();
        stored + self.long_lists.byte_len()
    }

    fn search(&self, below: impl Fn(ValueRef<'_>) -> bool) -> usize {
        partition_point(0..self.len(), |position| below(self.keys.get(position)))
    }
}

/// The first index of a range that is not below the key; the indexes below it come first. O(log
/// length).
#[inline]
fn partition_point(range: Range<usize>, below: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if below(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A search from either end of some positions finds what a search in the middle does.
        #[test]
        fn tokens_are_sought_in_both_directions(
            keys in prop::collection::btree_set(0i64..60, 0..40),
            bounds in (0usize..41, 0usize..41),
            key in -1i64..61,
        ) {
            let keys: Vec<i64> = keys.into_iter().collect();
            let (start, end) = (bounds.0.min(bounds.1).min(keys.len()), bounds.0.max(bounds.1).min(keys.len()));
            let below = keys[start..end].iter().filter(|other| **other < key).count();
            let offsets = Offsets::from_vec(vec![0; keys.len() + 1]);
            let index = TokenIndex::new(Values::Int(Array::from_vec(keys.clone())), offsets, Array::empty());
            let expected = (start + below, keys[start..end].contains(&key));
            for backwards in [false, true] {
                prop_assert_eq!(index.seek(&TokenKey::Int(key), start..end, backwards), expected);
            }
        }
    }
}
