//! Changes made after the base of a predicate was built.
//!
//! They are persistent maps: a commit shares all that it does not touch with the previous version,
//! so it costs O(changes · log), and readers of older versions see theirs unchanged.

use super::change_lists::{ChangeList, ColumnChanges};
use crate::index::{TokenIndex, TokenKey};
use hexgraph_base::types::{Value, ValueRef};
use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use roaring::RoaringBitmap;
use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

/// Facets of one value or edge, sorted by key.
pub(in crate::graph) type FacetList = Vec<(Arc<str>, Value)>;

/// All values of one node in one predicate and language, at least one; ascending for a list.
///
/// A number without facets is stored in the map of changes itself. So a scan over the changes of a
/// numeric column reads only the leaves of the map, without a cache miss or two for each change.
#[derive(Debug, Clone, PartialEq)]
pub enum Row {
    /// One int without facets.
    Int(i64),
    /// One float without facets.
    Float(f64),
    /// One value of any other type without facets.
    One(Arc<Value>),
    /// Several values, or one with facets.
    Many(Arc<Vec<(Value, FacetList)>>),
}

impl Row {
    /// The row of some values with their facets; `None` for no values.
    pub(in crate::graph) fn of(mut values: Vec<(Value, FacetList)>) -> Option<Row> {
        if !matches!(values.as_slice(), [(_, facets)] if facets.is_empty()) {
            return (!values.is_empty()).then(|| Row::Many(Arc::new(values)));
        }
        values.pop().map(|(value, _)| match value {
            Value::Int(number) => Row::Int(number),
            Value::Float(number) => Row::Float(number),
            other => Row::One(Arc::new(other)),
        })
    }

    /// The number of values, at least one.
    pub(crate) fn len(&self) -> usize {
        if let Row::Many(values) = self { values.len() } else { 1 }
    }

    /// The first value.
    pub(crate) fn first(&self) -> ValueRef<'_> {
        self.get(0)
    }

    /// The value at a position in the list.
    pub(crate) fn get(&self, position: usize) -> ValueRef<'_> {
        match self {
            Row::Int(number) => ValueRef::Int(*number),
            Row::Float(number) => ValueRef::Float(*number),
            Row::One(value) => value.as_ref().as_ref(),
            Row::Many(values) => values[position].0.as_ref(),
        }
    }

    /// All values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ValueRef<'_>> {
        (0..self.len()).map(|position| self.get(position))
    }

    /// The facets of the value at a position, by key.
    pub(super) fn facets(&self, position: usize) -> &[(Arc<str>, Value)] {
        if let Row::Many(values) = self { &values[position].1 } else { &[] }
    }

    /// The values with their facets, to be changed.
    pub(super) fn to_values(&self) -> Vec<(Value, FacetList)> {
        match self {
            Row::Many(values) => Vec::clone(values),
            other => vec![(other.first().to_value(), FacetList::new())],
        }
    }
}

/// The bits of a [`NodeFilter`] for each node, while it is not as long as it gets.
const BITS_PER_NODE: usize = 16;

/// The words of a [`NodeFilter`], at least and at most.
const FILTER_WORDS: (usize, usize) = (8, 1024);

/// Filters out most unchanged nodes with one word, without a search in the map of changes, which
/// costs a cache miss or two for each node.
///
/// It is a set of hashes, two bits of one word for each node (a blocked Bloom filter, F. Putze et
/// al., "Cache-, hash- and space-efficient Bloom filters", 2007). It has every changed node and a
/// few false positives, one in sixty while fewer than 4,096 nodes have changed. A commit copies it,
/// so its size is limited to 8 KiB.
#[derive(Clone, Default)]
pub(super) struct NodeFilter {
    words: Arc<Vec<u64>>,
}

impl NodeFilter {
    /// False when a node was not added; true may be wrong. O(1).
    #[inline]
    fn may_have(&self, node: u32) -> bool {
        let (position, bits) = filter_bits(node, self.words.len());
        // Without words there is none at position 0: the filter has no node.
        self.words.get(position).is_some_and(|word| word & bits == bits)
    }

    /// Adds a node, which is already in `all`. O(1), amortised, and a copy of the filter if another
    /// version shares it.
    fn add<R>(&mut self, node: u32, all: &OrdMap<u32, R>) {
        let (least, most) = FILTER_WORDS;
        let expected = (all.len() * BITS_PER_NODE / 64).next_power_of_two().clamp(least, most);
        // Made anew of all nodes: the bits of a node depend on the length of the filter.
        if self.words.len() < expected {
            let mut words = vec![0; expected];
            all.keys().for_each(|node| set_bits(&mut words, *node));
            self.words = Arc::new(words);
        } else if !self.may_have(node) {
            let words: &mut Vec<u64> = Arc::make_mut(&mut self.words);
            set_bits(words, node);
        }
    }

    /// The number of changes that a scan passes in the time of so many lookups, most of them of
    /// unchanged nodes.
    fn steps_of_lookups(nodes: usize, changes: usize) -> usize {
        match changes * 8 <= 64 * FILTER_WORDS.1 {
            true => nodes / 2,
            // Once most bits are set, most nodes are looked up in the map.
            false => nodes.saturating_mul(8),
        }
    }
}

fn set_bits(words: &mut [u64], node: u32) {
    let (position, bits) = filter_bits(node, words.len());
    words[position] |= bits;
}

/// The word and the bits of a node in a filter of some words.
#[inline]
fn filter_bits(node: u32, words: usize) -> (usize, u64) {
    let hash = u64::from(node).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // The upper half of the product with 32 bits that depend on all bits of the node is uniform
    // below the number of words. The bits below them choose two bits of the word.
    let position = ((hash >> 32) * words as u64) >> 32;
    (position as usize, 1 << (hash >> 26 & 63) | 1 << (hash >> 20 & 63))
}

/// Changes of the values in one language.
#[derive(Clone, Default)]
pub struct ValueDelta {
    /// The entire row of each changed node; `None` if it has none left.
    pub rows: OrdMap<u32, Option<Row>>,
    /// Has all nodes of `rows`.
    pub(super) filter: NodeFilter,
    /// Nodes that have a value now and have none in the base.
    pub gained: Arc<RoaringBitmap>,
    /// Nodes that have none now and have one in the base.
    pub lost: Arc<RoaringBitmap>,
    /// Changes of postings, for each index of the base, in its order.
    pub(super) tokens: Vec<TokenChanges>,
    /// The same rows as one list, where the base is a column of numbers, or of few distinct texts.
    pub(super) list: ColumnChanges,
    /// The count of values minus that of the base, so that counting needs no scan over the changes.
    pub(super) excess: i64,
    /// The sum of the ints minus that of the base, for a column of ints without lists, so that
    /// summing needs no scan over the changes. Values of other types count as 0.
    pub(super) increase: i128,
}

impl ValueDelta {
    /// Sets the row of a node. Sets of nodes and postings are those of the caller.
    pub(super) fn put_row(&mut self, node: u32, row: Option<Row>) {
        self.list.note(node, row.as_ref().map(|row| (row.len() == 1).then(|| row.first())));
        self.rows.insert(node, row);
        self.filter.add(node, &self.rows);
    }

    /// The row of a node that changed, `None` inside for one that has none any more.
    #[inline]
    pub(super) fn row(&self, node: u32) -> Option<Option<&Row>> {
        if !self.filter.may_have(node) {
            return None;
        }
        self.rows.get(&node).map(Option::as_ref)
    }
}

/// Changes of one posting list.
#[derive(Clone, Default)]
pub(super) struct Postings {
    /// Nodes that the base does not have under the token.
    pub(super) gained: Arc<RoaringBitmap>,
    /// Nodes of the base that are none any more.
    pub(super) lost: Arc<RoaringBitmap>,
    /// How many more nodes were gained than lost: so they are counted without a look at the sets.
    pub(super) excess: i64,
}

impl Postings {
    /// Makes a node one of the token, or none any more; `in_base` says whether the base has it.
    fn set(&mut self, node: u32, in_base: bool, member: bool) {
        if set_member(&mut self.gained, &mut self.lost, node, in_base, member) {
            self.excess += if member { 1 } else { -1 };
        }
    }

    /// The number of nodes, of which the base has `stored`.
    pub(super) fn count(&self, stored: usize) -> usize {
        stored.saturating_add_signed(self.excess as isize)
    }
}

/// The stored tokens of an index are divided into so many spans, each with the change of its number
/// of nodes: 4 KiB, which a commit copies.
const SPANS: usize = 512;

/// Changes of fewer tokens are added up one by one.
const SPANNED_MIN: usize = 256;

/// Changes of an index: those of each token that has some.
#[derive(Clone, Default)]
pub(super) struct TokenChanges {
    pub(super) postings: OrdMap<TokenKey, Postings>,
    /// The gained minus the lost nodes of the tokens in each span; `None` while few tokens have
    /// changes.
    spans: Option<Arc<[i64; SPANS]>>,
}

impl TokenChanges {
    /// Makes a node one of a token, or none any more.
    pub(super) fn set(&mut self, index: &TokenIndex, token: &TokenKey, node: u32, member: bool) {
        let (position, is_stored) = index.position(token);
        let in_base = is_stored && index.nodes(position).contains(node);
        let before;
        let mut now = 0;
        // Changed in place if this commit already changed the posting, which may be long.
        if let Some(postings) = self.postings.get_mut(token) {
            before = postings.excess;
            postings.set(node, in_base, member);
            now = postings.excess;
            // Equal to the base again, so the index is read in place.
            if postings.gained.is_empty() && postings.lost.is_empty() {
                self.postings.remove(token);
            }
        } else {
            before = 0;
            if in_base != member {
                let mut postings = Postings::default();
                postings.set(node, in_base, member);
                now = postings.excess;
                self.postings.insert(token.clone(), postings);
            }
        }
        if let Some(spans) = &mut self.spans {
            if now != before {
                Arc::make_mut(spans)[span_of(index, position)] += now - before;
            }
        } else if SPANNED_MIN <= self.postings.len() {
            let mut spans = [0; SPANS];
            for (token, change) in &self.postings {
                spans[span_of(index, index.position(token).0)] += change.excess;
            }
            self.spans = Some(Arc::new(spans));
        }
    }

    /// The gained minus the lost nodes of the tokens between two ordered bounds. O(spans + changed
    /// tokens of a span), or O(changed tokens) if these are few.
    pub(super) fn excess(
        &self,
        index: &TokenIndex,
        low: Bound<&TokenKey>,
        high: Bound<&TokenKey>,
    ) -> i64 {
        let changes = || self.postings.range::<_, TokenKey>((low, high));
        let sum = |changes: &mut dyn Iterator<Item = (&TokenKey, &Postings)>| -> i64 {
            changes.map(|(_, change)| change.excess).sum()
        };
        let Some(spans) = &self.spans else { return sum(&mut changes()) };
        let positions = index.positions(low, high);
        // New tokens below the bound may have the first position too, so its span is incomplete.
        let full = span_of(index, positions.start) + 1..span_of(index, positions.end);
        if full.is_empty() {
            return sum(&mut changes());
        }
        let (first, end) = (first_of(index, full.start), first_of(index, full.end));
        // A new token has the position of the first stored one above it.
        let is_before = |token: &TokenKey, position: usize| {
            let last = position.checked_sub(1).map(|last| token.compare(index.keys.get(last)));
            last.is_some_and(|order| order != Ordering::Greater)
        };
        let before = sum(&mut changes().take_while(|(token, _)| is_before(token, first)));
        let behind = sum(&mut changes().rev().take_while(|(token, _)| !is_before(token, end)));
        before + behind + spans[full].iter().sum::<i64>()
    }
}

/// The span of a position among the stored tokens; the position after the last one is in the last
/// span.
fn span_of(index: &TokenIndex, position: usize) -> usize {
    (position as u64 * SPANS as u64 / (index.len() as u64 + 1)) as usize
}

/// The first position of a span.
fn first_of(index: &TokenIndex, span: usize) -> usize {
    (span as u64 * (index.len() as u64 + 1)).div_ceil(SPANS as u64) as usize
}

/// Changes of the edges in one direction.
#[derive(Clone, Default)]
pub struct EdgeDelta {
    /// What changed for each changed node.
    pub rows: OrdMap<u32, Arc<EdgeRow>>,
    /// Has all nodes of `rows`.
    pub(super) filter: NodeFilter,
    /// Nodes that have an edge now and have none in the base.
    pub gained: Arc<RoaringBitmap>,
    /// Nodes that have none now and have one in the base.
    pub lost: Arc<RoaringBitmap>,
    /// True when an edge was set with facets.
    pub has_facets: bool,
    /// True when an edge was set with a facet that is a number below 0, whichever facet it was.
    pub has_negative: bool,
    /// The count of edges minus that of the base, so that counting needs no scan over the changes.
    pub(super) excess: i64,
    /// The number of edges that each node of `rows` has now.
    pub(super) counts: ChangeList<i64>,
}

impl EdgeDelta {
    /// Sets the changes of a node, which now has `count` edges. The caller updates sets of nodes
    /// and sums. Returns the previous changes.
    pub(super) fn put_row(
        &mut self,
        node: u32,
        row: Arc<EdgeRow>,
        count: i64,
    ) -> Option<Arc<EdgeRow>> {
        self.counts.note(node, count);
        let old = self.rows.insert(node, row);
        self.filter.add(node, &self.rows);
        old
    }

    /// What changed for a node.
    #[inline]
    pub(super) fn row(&self, node: u32) -> Option<&EdgeRow> {
        if !self.filter.may_have(node) {
            return None;
        }
        self.rows.get(&node).map(|row| &**row)
    }
}

/// Changes of one node's edges.
#[derive(Clone, Default)]
pub struct EdgeRow {
    /// True when none of the base's edges count any more.
    pub cleared: bool,
    /// Edges that were set, with their facets; they win over the base's.
    pub added: OrdMap<u32, Arc<FacetList>>,
    /// The targets of `added` that the base does not have, or all of them where it was cleared.
    pub gained: Arc<RoaringBitmap>,
    /// Targets of the base that were deleted; none where it was cleared.
    pub lost: Arc<RoaringBitmap>,
    /// How many more edges were gained than lost: so edges are counted without a look at the sets.
    pub(super) excess: i64,
}

/// Equal rows have the same changes. Most compared rows are the same allocation, which needs no
/// look at their edges.
impl PartialEq for EdgeRow {
    fn eq(&self, other: &EdgeRow) -> bool {
        std::ptr::eq(self, other)
            || self.cleared == other.cleared
                && self.gained == other.gained
                && self.lost == other.lost
                && self.added == other.added
    }
}

impl EdgeRow {
    /// The number of edges of a node that has `stored` in the base.
    pub(crate) fn count(&self, stored: i64) -> i64 {
        if self.cleared { self.excess } else { stored + self.excess }
    }

    /// To be called when edges were gained or lost.
    pub(super) fn note_excess(&mut self) {
        self.excess = self.gained.len() as i64 - self.lost.len() as i64;
    }

    /// What changed since the row was `old`, as changes of a base that has all of `old`.
    pub(in crate::graph) fn since(&self, old: &EdgeRow) -> Arc<EdgeRow> {
        if self.cleared && !old.cleared {
            return Arc::new(self.clone());
        }
        // A lost edge that came back is a gain for a base without it, as a gained edge that went is
        // a loss for one with it.
        let gained = (&*self.gained - &*old.gained) | (&*old.lost - &*self.lost);
        let lost = (&*old.gained - &*self.gained) | (&*self.lost - &*old.lost);
        let mut added = OrdMap::new();
        for item in old.added.diff(&self.added) {
            match item {
                DiffItem::Add(target, facets) | DiffItem::Update { new: (target, facets), .. } => {
                    added.insert(*target, Arc::clone(facets));
                }
                DiffItem::Remove(..) => {}
            }
        }
        let (gained, lost) = (Arc::new(gained), Arc::new(lost));
        let mut row = EdgeRow { cleared: false, added, gained, lost, excess: 0 };
        row.note_excess();
        Arc::new(row)
    }
}

/// Whether looking up each of some nodes, which ascend, among changed rows costs less than a scan
/// of those between the first and the last node. The scan is estimated from the average density.
/// O(log rows).
pub(super) fn pays_to_look_up<R>(rows: &OrdMap<u32, R>, nodes: &[u32]) -> bool {
    let lookups = NodeFilter::steps_of_lookups(nodes.len(), rows.len()) as u64;
    let changes = rows.len() as u64;
    let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else { return false };
    if changes <= lookups {
        return false;
    }
    let (Some((least, _)), Some((greatest, _))) = (rows.get_min(), rows.get_max()) else {
        return false;
    };
    let all = u64::from(greatest - least) + 1;
    let between = u64::from(last - first) + 1;
    lookups < changes * between.min(all) / all
}

/// Moves `node` between the changes of a set so that it is a member, or is not. False if nothing
/// changes.
pub(super) fn set_member(
    gained: &mut Arc<RoaringBitmap>,
    lost: &mut Arc<RoaringBitmap>,
    node: u32,
    in_base: bool,
    member: bool,
) -> bool {
    let (changed, other) = if member { (gained, lost) } else { (lost, gained) };
    // A difference from the base is recorded in one set, and a node that equals the base again is
    // removed from the other.
    match in_base != member {
        true => !changed.contains(node) && Arc::make_mut(changed).insert(node),
        false => other.contains(node) && Arc::make_mut(other).remove(node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Array, Values};
    use proptest::prelude::*;

    fn of_ints() -> ValueDelta {
        let list = ColumnChanges::of(&Values::Int(Array::empty()));
        ValueDelta { list, ..ValueDelta::default() }
    }

    proptest! {
        /// The list of changed ints agrees with the rows at any time, also in an older version.
        #[test]
        fn a_run_is_what_the_rows_are(
            changes in prop::collection::vec((0u32..200, prop::option::of(-5i64..5)), 0..400),
            retained in 0usize..400,
        ) {
            let (mut delta, mut versions) = (of_ints(), Vec::new());
            for (position, (node, number)) in changes.into_iter().enumerate() {
                delta.put_row(node, number.map(Row::Int));
                if position == retained {
                    versions.push(delta.clone());
                }
            }
            versions.push(delta);
            for delta in versions {
                let int = |row: &Row| match row {
                    Row::Int(int) => *int,
                    other => panic!("{other:?} is no int"),
                };
                let rows = delta.rows.iter().map(|(node, row)| (*node, row.as_ref().map(int)));
                let rows: Vec<(u32, Option<i64>)> = rows.collect();
                prop_assert_eq!(delta.list.ints().map(|run| Vec::clone(&run)), Some(rows));
            }
        }
    }

    /// A filter has all nodes that were added, and few others.
    #[test]
    fn filters_have_all_and_few_others() {
        for (count, step) in [(1, 1), (60, 7), (1_000, 1), (1_000, 65_536), (20_000, 37)] {
            let (mut all, mut filter) = (OrdMap::new(), NodeFilter::default());
            let nodes = (0..count).map(|position: u32| position * step);
            for node in nodes.clone() {
                all.insert(node, ());
                filter.add(node, &all);
            }
            assert!(nodes.clone().all(|node| filter.may_have(node)));
            let others = (0..100_000).map(|position| 0x9999_0000_u32.wrapping_add(position * 11));
            let wrong = others.filter(|node| filter.may_have(*node)).count();
            // Eight bits a node filter out seven of eight; with very many nodes, three bits filter
            // out two of three.
            let most = if count < 8_192 { 15_000 } else { 31_000 };
            assert!(wrong < most, "{wrong} of 100,000 with {count} nodes, {step} apart");
            assert!(filter.words.len() <= FILTER_WORDS.1);
        }
    }

    #[test]
    fn a_run_has_ints_alone() {
        let text = || Row::of(vec![(Value::String("seven".to_owned()), FacetList::new())]);
        let several = || Row::of([1, 2].map(|it| (Value::Int(it), FacetList::new())).to_vec());
        let ints: fn(u32) -> Option<Row> = |node| Some(Row::Int(node.into()));
        for other in [text(), several()] {
            // One node is among the latest changes, then among those for which a list would have
            // been built.
            for behind in [0, 200] {
                let mut delta = of_ints();
                (0..5).for_each(|node| delta.put_row(node, ints(node)));
                assert_eq!(delta.list.ints().map(|run| run.len()), Some(5));
                delta.put_row(3, other.clone());
                (10..10 + behind).for_each(|node| delta.put_row(node, ints(node)));
                assert!(delta.list.ints().is_none(), "{other:?} before {behind} others");
            }
        }
        assert!(of_ints().list.floats().is_none());
    }

    #[test]
    fn rows_retain_their_values() {
        let facets = || vec![(Arc::from("since"), Value::Int(4))];
        let lists = [
            vec![(Value::Int(3), Vec::new())],
            vec![(Value::Float(-0.5), Vec::new())],
            vec![(Value::String("three".to_owned()), Vec::new())],
            vec![(Value::Int(3), facets())],
            vec![(Value::Int(3), Vec::new()), (Value::Int(4), facets())],
        ];
        for values in lists {
            let row = Row::of(values.clone()).expect("there are values");
            assert_eq!(row.to_values(), values);
            assert_eq!(row.len(), values.len());
            for (position, (value, facets)) in values.iter().enumerate() {
                assert_eq!(
                    (row.get(position), row.facets(position)),
                    (value.as_ref(), facets.as_slice())
                );
            }
        }
        assert_eq!(Row::of(Vec::new()), None);
    }
}
