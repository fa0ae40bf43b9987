//! An index at one version: the built index and its changes merged in the order of tokens.

use super::delta::{Postings, TokenChanges};
use super::unions::union_of;
use crate::index::{TokenIndex, TokenKey};
use crate::storage::{Array, NodeSet, append_changed};
use hexgraph_base::types::ValueRef;
use imbl::ordmap::RangedIter;
use imbl::shared_ptr::DefaultSharedPtr;
use std::ops::{Bound, Range};

/// An estimate counts the changes of so many tokens, and of more if little is stored.
const COUNTED_MIN: usize = 16;
const COUNTED_MAX: usize = 256;

/// An index at one version: base and changes as one.
#[derive(Clone, Copy)]
pub struct IndexView<'a> {
    /// The built part.
    pub index: &'a TokenIndex,
    changes: &'a TokenChanges,
}

impl<'a> IndexView<'a> {
    /// What was built, and what changed since.
    pub(super) fn new(index: &'a TokenIndex, changes: &'a TokenChanges) -> IndexView<'a> {
        IndexView { index, changes }
    }

    /// The nodes of one token.
    pub fn nodes(&self, token: &TokenKey) -> NodeSet {
        let stored = self.index.find(token).map(|position| self.index.nodes(position));
        let stored = stored.unwrap_or_default();
        match self.changes.postings.get(token) {
            Some(change) => NodeSet::overlay(stored, &change.gained, &change.lost),
            None => stored,
        }
    }

    /// The tokens with their nodes, in ascending or descending order: stored and new ones merged.
    /// Tokens that lost all of their nodes have none. A step costs O(1), and O(log) for a token
    /// with changes.
    pub fn tokens(&self, descending: bool) -> Tokens<'a> {
        self.tokens_between(Bound::Unbounded, Bound::Unbounded, descending)
    }

    /// As [`IndexView::tokens`], of those between two bounds. O(log tokens) to begin.
    pub fn tokens_between(
        &self,
        low: Bound<&TokenKey>,
        high: Bound<&TokenKey>,
        descending: bool,
    ) -> Tokens<'a> {
        let mut positions = self.positions(low, high);
        // Inverted bounds are an invalid range of a map.
        let changes = match range_is_empty(low, high) {
            true => {
                positions.end = positions.start;
                None
            }
            false => Some(self.changes.postings.range::<_, TokenKey>((low, high))),
        };
        let mut tokens = Tokens { index: self.index, positions, changes, next: None, descending };
        tokens.step_change();
        tokens
    }

    /// The positions of the tokens between two bounds.
    pub fn positions(&self, low: Bound<&TokenKey>, high: Bound<&TokenKey>) -> Range<usize> {
        self.index.positions(low, high)
    }

    /// The nodes of all tokens between two bounds.
    pub fn range(&self, low: Bound<&TokenKey>, high: Bound<&TokenKey>) -> NodeSet {
        let positions = self.positions(low, high);
        if positions.len() <= 1 && !range_is_empty(low, high) {
            // The nodes of a single token are read in place.
            let mut changes = self.changes.postings.range::<_, TokenKey>((low, high));
            match (positions.len(), changes.next(), changes.next()) {
                (1, None, _) => return self.index.nodes(positions.start),
                (0, Some((token, _)), None) => return self.nodes(token),
                (1, Some((token, _)), None) if self.index.find(token) == Some(positions.start) => {
                    return self.nodes(token);
                }
                _ => {}
            }
        }
        let mut nodes = Vec::new();
        self.append_range(low, high, &mut nodes);
        union_of(nodes)
    }

    /// Appends the nodes of all tokens between two bounds to a list: unordered, and with repeats.
    pub(crate) fn append_range(
        &self,
        low: Bound<&TokenKey>,
        high: Bound<&TokenKey>,
        nodes: &mut Vec<u32>,
    ) {
        if range_is_empty(low, high) {
            return;
        }
        let positions = self.positions(low, high);
        let mut done = positions.start;
        for (token, change) in self.changes.postings.range::<_, TokenKey>((low, high)) {
            // Changed tokens ascend as the stored ones do, so each search starts at the last
            // position.
            let (position, is_stored) = self.index.seek(token, done..positions.end, false);
            self.push_span(done..position, nodes);
            done = position + usize::from(is_stored);
            let stored = self.index.postings.slice(self.index.span(position..done));
            append_changed(stored, &change.gained, &change.lost, nodes);
        }
        self.push_span(done..positions.end, nodes);
    }

    /// About how many nodes are between two bounds: exact if few tokens between them changed, else
    /// too high by at most the number of changed tokens. O(log tokens).
    pub fn estimate(&self, low: Bound<&TokenKey>, high: Bound<&TokenKey>) -> usize {
        let stored = self.index.span(self.positions(low, high)).len();
        if self.changes.postings.is_empty() || range_is_empty(low, high) {
            return stored;
        }
        let mut changes = self.changes.postings.range::<_, TokenKey>((low, high));
        // If most of it is stored, the changes matter little, and few of them are read.
        let most =
            if self.changes.postings.len() <= stored / 2 { COUNTED_MIN } else { COUNTED_MAX };
        let counted = changes.by_ref().take(most);
        let excess = counted.map(|(_, change)| change.excess).sum::<i64>();
        match changes.next() {
            None => stored.saturating_add_signed(excess as isize),
            Some(_) => stored + self.changes.postings.len(),
        }
    }

    /// The number of nodes of all tokens between two bounds, with repeats. O(log tokens), and at
    /// most some hundred steps for changes.
    pub(crate) fn count(&self, low: Bound<&TokenKey>, high: Bound<&TokenKey>) -> usize {
        if range_is_empty(low, high) {
            return 0;
        }
        let stored = self.index.span(self.positions(low, high)).len();
        stored.saturating_add_signed(self.changes.excess(self.index, low, high) as isize)
    }

    fn push_span(&self, positions: Range<usize>, nodes: &mut Vec<u32>) {
        if positions.start < positions.end {
            nodes.extend_from_slice(self.index.postings.slice(self.index.span(positions)));
        }
    }
}

fn range_is_empty(low: Bound<&TokenKey>, high: Bound<&TokenKey>) -> bool {
    match (low, high) {
        (Bound::Included(low), Bound::Included(high)) => high < low,
        (
            Bound::Included(low) | Bound::Excluded(low),
            Bound::Included(high) | Bound::Excluded(high),
        ) => high <= low,
        _ => false,
    }
}

/// Walks the tokens of an index at one version.
pub struct Tokens<'a> {
    index: &'a TokenIndex,
    /// The stored tokens that are still to come.
    positions: Range<usize>,
    /// `None` for an empty range.
    changes: Option<RangedIter<'a, TokenKey, Postings, DefaultSharedPtr>>,
    /// The next token with changes.
    next: Option<Changed<'a>>,
    descending: bool,
}

/// A token with changes.
struct Changed<'a> {
    token: &'a TokenKey,
    change: &'a Postings,
    /// Its position among the stored tokens, or that of the first after it.
    position: usize,
    is_stored: bool,
}

/// The nodes of a token.
pub enum TokenNodes<'a> {
    /// As stored: a part of the postings.
    Stored(&'a Array<u32>, Range<usize>),
    /// With changes.
    Changed(ChangedNodes<'a>),
}

/// The nodes of a token with changes, merged on demand.
pub struct ChangedNodes<'a> {
    stored: Option<(&'a Array<u32>, Range<usize>)>,
    change: &'a Postings,
}

impl ChangedNodes<'_> {
    fn len(&self) -> usize {
        self.change.count(self.stored.as_ref().map_or(0, |(_, range)| range.len()))
    }

    /// The nodes as a set that is read in place.
    pub fn to_set(&self) -> NodeSet {
        let stored = self.stored.as_ref();
        let stored =
            stored.map(|(array, range)| NodeSet::Slice(Array::clone(array), range.clone()));
        NodeSet::overlay(stored.unwrap_or_default(), &self.change.gained, &self.change.lost)
    }
}

impl TokenNodes<'_> {
    /// The number of nodes.
    pub fn len(&self) -> usize {
        match self {
            TokenNodes::Stored(_, range) => range.len(),
            TokenNodes::Changed(nodes) => nodes.len(),
        }
    }

    /// True when the token has lost all of its nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The nodes as a set that is read in place.
    pub fn to_set(&self) -> NodeSet {
        match self {
            TokenNodes::Stored(postings, range) => {
                NodeSet::Slice(Array::clone(postings), range.clone())
            }
            TokenNodes::Changed(nodes) => nodes.to_set(),
        }
    }
}

impl<'a> Tokens<'a> {
    fn step_change(&mut self) {
        let entry = self.changes.as_mut().and_then(|changes| match self.descending {
            true => changes.next_back(),
            false => changes.next(),
        });
        self.next = entry.map(|(token, change)| {
            let (position, is_stored) =
                self.index.seek(token, self.positions.clone(), self.descending);
            Changed { token, change, position, is_stored }
        });
    }

    /// Whether the next token is the next one with changes.
    fn is_changed(&self) -> bool {
        let Some(next) = &self.next else { return false };
        match self.descending {
            false => next.position == self.positions.start,
            // A new token has the position of the first stored one after it: backwards it comes
            // after all of those.
            true => next.position + usize::from(next.is_stored) == self.positions.end,
        }
    }

    /// The key of the token that comes next, where it is a text or an int.
    pub(crate) fn next_key(&self) -> Option<ValueRef<'a>> {
        if self.is_changed() {
            return match self.next.as_ref()?.token {
                TokenKey::Text(text) => Some(ValueRef::String(text)),
                TokenKey::Int(int) => Some(ValueRef::Int(*int)),
                _ => None,
            };
        }
        let position = match self.descending {
            true => self.positions.end.checked_sub(1)?,
            false => self.positions.start,
        };
        let key = self.positions.contains(&position).then(|| self.index.keys.get(position))?;
        matches!(key, ValueRef::String(_) | ValueRef::Int(_)).then_some(key)
    }

    /// Takes the next stored token.
    fn next_position(&mut self) -> Option<usize> {
        if self.descending { self.positions.next_back() } else { self.positions.next() }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = TokenNodes<'a>;

    fn next(&mut self) -> Option<TokenNodes<'a>> {
        if !self.is_changed() {
            let position = self.next_position()?;
            return Some(TokenNodes::Stored(
                &self.index.postings,
                self.index.offsets.range(position),
            ));
        }
        let Changed { change, is_stored, .. } = self.next.take()?;
        let stored = if is_stored { self.next_position() } else { None };
        let index = self.index;
        let stored = stored.map(|position| (&index.postings, index.offsets.range(position)));
        self.step_change();
        Some(TokenNodes::Changed(ChangedNodes { stored, change }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Offsets, Values, gallop};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn keys(positions: &[i64]) -> (Values, Offsets) {
        let offsets = Offsets::from_lens(positions.iter().map(|_| 1));
        (Values::Int(Array::from_vec(positions.to_vec())), offsets)
    }

    proptest! {
        /// The number of nodes between two bounds, of few and of many changed tokens.
        #[test]
        fn a_range_has_as_many_nodes_as_its_tokens(
            changes in prop_oneof![0usize..20, 300usize..2000],
            stored in prop_oneof![Just(0i64), Just(3), Just(700), Just(5000)],
            seed in any::<u64>(),
            bounds in prop::collection::vec((0i64..11_000, 0i64..11_000), 20),
        ) {
            let mut rng = fastrand::Rng::with_seed(seed);
            // Every other key is stored, with one node each.
            let (keys, offsets) = keys(&(0..stored).map(|key| 2 * key).collect::<Vec<i64>>());
            let postings = Array::from_vec((0..stored as u32).collect());
            let index = TokenIndex::new(keys, offsets, postings);
            let mut all = TokenChanges::default();
            for _ in 0..changes {
                // Some are made and undone again.
                let (key, node) = (rng.i64(..11_000), rng.u32(..6000));
                all.set(&index, &TokenKey::Int(key), node, rng.bool());
                let existing = rng.u32(..stored.max(1) as u32);
                all.set(&index, &TokenKey::Int(2 * i64::from(existing)), existing, rng.bool());
            }
            let view = IndexView::new(&index, &all);
            for (low, high) in bounds {
                let (low, high) = (TokenKey::Int(low), TokenKey::Int(high));
                let bounds = [Bound::Unbounded, Bound::Included(&low), Bound::Excluded(&low)];
                for low in bounds {
                    for high in [Bound::Unbounded, Bound::Included(&high), Bound::Excluded(&high)] {
                        let counted: usize = view.tokens_between(low, high, false).map(|it| it.len()).sum();
                        prop_assert_eq!(view.count(low, high), counted, "{:?} {:?}", low, high);
                    }
                }
            }
        }

        #[test]
        fn a_changed_posting_is_what_it_was_and_what_changed(
            stored in proptest::collection::btree_set(0u32..300, 0..100),
            gained in proptest::collection::btree_set(0u32..300, 0..50),
            lost in proptest::collection::btree_set(0u32..300, 0..50),
        ) {
            let stored: Vec<u32> = stored.into_iter().collect();
            let change = Postings {
                gained: Arc::new(gained.iter().copied().collect()),
                lost: Arc::new(lost.iter().copied().collect()),
                ..Postings::default()
            };
            let mut nodes = Vec::new();
            append_changed(&stored, &change.gained, &change.lost, &mut nodes);
            let retained = stored.iter().copied().filter(|node| !lost.contains(node));
            prop_assert_eq!(nodes, retained.chain(gained).collect::<Vec<u32>>());
            for bound in 0..302 {
                let below = stored.iter().filter(|node| **node < bound).count();
                prop_assert_eq!(gallop(&stored, |&node| node < bound), below);
            }
        }
    }
}
