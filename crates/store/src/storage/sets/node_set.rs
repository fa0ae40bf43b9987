//! Sets of nodes in several forms. A set is read where it lies as long as possible.

use super::changed::Stored;
use super::node_iter::{NodeIter, OverlayIter, PlainIter};
use super::sorted::{
    append_changed, insert_sorted, is_run, merged, positions_between, rank_below, remove_sorted,
    retain_in, retain_sorted,
};
use crate::storage::{Array, FrozenBitmap, SpanBits};
use roaring::RoaringBitmap;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// A set of nodes, ascending.
#[derive(Clone)]
pub enum NodeSet {
    /// A sorted list without repeats.
    Sorted(Arc<Vec<u32>>),
    /// A sorted part of a stored array: the posting list of a token, the edges of a node.
    Slice(Array<u32>, Range<usize>),
    /// A computed bitmap.
    Bitmap(Arc<RoaringBitmap>),
    /// A stored bitmap.
    Frozen(FrozenBitmap),
    /// A stored set with later changes, merged as it is read: O(changes) on top of what is read.
    Overlay {
        /// The stored set, a bitmap or a slice.
        base: Box<NodeSet>,
        /// Members that `base` does not have.
        gained: Arc<RoaringBitmap>,
        /// Members of `base` that are none any more.
        lost: Arc<RoaringBitmap>,
    },
}

/// A set as changes of another: the gained and the lost members.
#[derive(Debug, Clone, Default)]
pub(crate) struct SetChanges {
    pub(crate) gained: Arc<RoaringBitmap>,
    pub(crate) lost: Arc<RoaringBitmap>,
}

/// Fewer than one change in this many members are few: to search for one and to move what lies
/// after it takes about as long as to look at so many members one by one.
const FEW_CHANGES: usize = 32;

/// Pages of fewer members are walked.
const LONG_PAGE: usize = 256;

/// In a set with changes, first pages of fewer members are walked: a step for each costs less than
/// to move what changed.
const MERGED_PAGE: usize = 32;

/// In a set with changes, lists of at most this many nodes are looked up node by node.
const FEW: usize = 16;

impl Default for NodeSet {
    fn default() -> NodeSet {
        NodeSet::Sorted(Arc::default())
    }
}

impl From<Vec<u32>> for NodeSet {
    fn from(sorted: Vec<u32>) -> NodeSet {
        debug_assert!(sorted.is_sorted_by(|a, b| a < b));
        NodeSet::Sorted(Arc::new(sorted))
    }
}

impl From<FrozenBitmap> for NodeSet {
    fn from(bitmap: FrozenBitmap) -> NodeSet {
        NodeSet::Frozen(bitmap)
    }
}

impl From<RoaringBitmap> for NodeSet {
    fn from(bitmap: RoaringBitmap) -> NodeSet {
        NodeSet::Bitmap(Arc::new(bitmap))
    }
}

impl NodeSet {
    /// A stored set, which is no overlay, with the changes that came later: `gained` has no member
    /// of it, and `lost` has only members of it.
    pub fn overlay(
        base: NodeSet,
        gained: &Arc<RoaringBitmap>,
        lost: &Arc<RoaringBitmap>,
    ) -> NodeSet {
        if gained.is_empty() && lost.is_empty() {
            return base;
        }
        if base.is_empty() {
            // Nothing is stored, so nothing can be lost.
            return NodeSet::Bitmap(Arc::clone(gained));
        }
        assert!(
            !matches!(base, NodeSet::Overlay { .. }),
            "changes do not repeat the stored members"
        );
        let (gained, lost) = (Arc::clone(gained), Arc::clone(lost));
        NodeSet::Overlay { base: Box::new(base), gained, lost }
    }

    /// The members as a list, ascending: in place if they are stored as one.
    pub fn as_list(&self) -> Cow<'_, [u32]> {
        match self {
            NodeSet::Sorted(nodes) => Cow::Borrowed(nodes),
            NodeSet::Slice(nodes, range) => Cow::Borrowed(nodes.slice(range.clone())),
            _ => Cow::Owned(self.to_vec()),
        }
    }

    /// The members, ascending, where they lie in memory as a list.
    pub fn list(&self) -> Option<&[u32]> {
        match self {
            NodeSet::Sorted(nodes) => Some(nodes),
            NodeSet::Slice(nodes, range) => Some(nodes.slice(range.clone())),
            _ => None,
        }
    }

    /// The number of members, without a walk.
    pub fn len(&self) -> usize {
        match self {
            NodeSet::Sorted(nodes) => nodes.len(),
            NodeSet::Slice(_, range) => range.len(),
            NodeSet::Bitmap(bitmap) => bitmap.len() as usize,
            NodeSet::Frozen(bitmap) => bitmap.len(),
            NodeSet::Overlay { base, gained, lost } => {
                // All of `lost` is in `base`, so this never falls below 0.
                base.len() + gained.len() as usize - lost.len() as usize
            }
        }
    }

    /// True when there are no members.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True when `node` is a member. O(log members) at most, O(1) in a list without gaps.
    pub fn contains(&self, node: u32) -> bool {
        match self {
            NodeSet::Sorted(nodes) => nodes.binary_search(&node).is_ok(),
            NodeSet::Slice(array, range) => slice_has(array, range, node),
            NodeSet::Bitmap(bitmap) => bitmap.contains(node),
            NodeSet::Frozen(bitmap) => bitmap.contains(node),
            NodeSet::Overlay { base, gained, lost } => {
                // One look at the changes: a stored node is never gained, and another one never
                // lost.
                if base.contains(node) { !lost.contains(node) } else { gained.contains(node) }
            }
        }
    }

    /// The least member. O(1), but for a set with changes that lost the first one of those that are
    /// stored.
    pub fn first(&self) -> Option<u32> {
        let NodeSet::Overlay { base, gained, lost } = self else { return self.plain_at(0) };
        let stored = base.plain_at(0).filter(|node| !lost.contains(*node));
        match (stored, gained.min()) {
            (Some(stored), new) => Some(new.map_or(stored, |new| stored.min(new))),
            // The first stored member is lost, so a merge has to find the next one.
            (None, _) => self.iter().next(),
        }
    }

    /// The greatest member. O(log members), or O(log members · log changes) for a set with changes.
    pub fn last(&self) -> Option<u32> {
        self.select(self.len().checked_sub(1)?)
    }

    /// The members, ascending.
    pub fn iter(&self) -> NodeIter<'_> {
        self.iter_from(0)
    }

    /// The members that are at least `least`, ascending: a seek, whatever the position.
    pub fn iter_from(&self, least: u32) -> NodeIter<'_> {
        match self {
            NodeSet::Overlay { base, gained, lost } => {
                let (gained, lost) = (gained.range(least..), lost.range(least..));
                NodeIter::Overlay(Box::new(OverlayIter::new(base.plain_from(least), gained, lost)))
            }
            _ => NodeIter::Plain(self.plain_from(least)),
        }
    }

    /// As [`NodeSet::iter_from`], for a set that is no overlay.
    fn plain_from(&self, least: u32) -> PlainIter<'_> {
        match self {
            NodeSet::Sorted(nodes) => {
                let start = nodes.partition_point(|&node| node < least);
                PlainIter::Sorted(nodes[start..].iter())
            }
            NodeSet::Slice(array, range) => {
                let start = array.partition_point(range.clone(), |node| node < least);
                PlainIter::Slice(array, start..range.end)
            }
            NodeSet::Bitmap(bitmap) => PlainIter::Bitmap(Box::new(bitmap.range(least..))),
            NodeSet::Frozen(bitmap) => PlainIter::Frozen(bitmap.iter_from(least)),
            NodeSet::Overlay { .. } => unreachable!("the base of an overlay is none"),
        }
    }

    /// The number of members below `bound`, without a walk.
    pub fn count_below(&self, bound: u32) -> usize {
        let below = |bitmap: &RoaringBitmap| rank_below(bitmap, bound);
        match self {
            NodeSet::Sorted(nodes) => nodes.partition_point(|&node| node < bound),
            NodeSet::Slice(array, range) => {
                array.partition_point(range.clone(), |node| node < bound) - range.start
            }
            NodeSet::Bitmap(bitmap) => below(bitmap),
            NodeSet::Frozen(bitmap) => bitmap.rank(bound),
            NodeSet::Overlay { base, gained, lost } => {
                base.count_below(bound) + below(gained) - below(lost)
            }
        }
    }

    /// The member of a set that is no overlay after `row` others, which has to be one. No walk.
    fn plain_at(&self, row: usize) -> Option<u32> {
        match self {
            NodeSet::Sorted(nodes) => nodes.get(row).copied(),
            NodeSet::Slice(array, range) => {
                (row < range.len()).then(|| array.get(range.start + row))
            }
            NodeSet::Bitmap(bitmap) => bitmap.select(u32::try_from(row).ok()?),
            NodeSet::Frozen(bitmap) => bitmap.select(row),
            NodeSet::Overlay { .. } => unreachable!("the base of an overlay is none"),
        }
    }

    /// The member after `row` others, by a search for the least bound that has as many members
    /// below it. In a set with changes it lies near the stored member in the same row: as many rows
    /// away as something changed, so few changes cost few steps.
    fn select(&self, row: usize) -> Option<u32> {
        let NodeSet::Overlay { base, gained, lost } = self else { return self.plain_at(row) };
        if self.len() <= row {
            return None;
        }
        if let Some(node) = select_stored(row, base, gained, lost) {
            return Some(node);
        }
        // Behind the stored member before which there are so few that the new ones do not fill the
        // rows... Though all gained ones lie before it and none is lost, at most `row` members end
        // with that stored one.
        let before = row.checked_sub(gained.len() as usize + 1);
        let mut low = before.and_then(|before| base.plain_at(before)).map_or(0, |node| node + 1);
        // ...and not after the one before which there are too many, if all losses were there. If so
        // many are not stored it is a new one, of any id below `u32::MAX`, which is reserved.
        let mut high = base.plain_at(row.saturating_add(lost.len() as usize)).unwrap_or(u32::MAX);
        while low < high {
            let middle = low + (high - low) / 2;
            // `middle` is below `high`, so one more never overflows.
            // The greatest bound with `row` members below it is the
            // member itself: the next bound has that one below it, too.
            match self.count_below(middle + 1) <= row {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Some(low)
    }

    /// True when the set has exactly the members of `nodes`, which ascend without repeats. O(1)
    /// when their number differs, O(log members) when they have no gap between them, else
    /// O(members).
    pub fn is_exactly(&self, nodes: &[u32]) -> bool {
        if self.len() != nodes.len() {
            return false;
        }
        if is_run(nodes) {
            // As many members as ids between the bounds: each of them is one.
            let Some((&first, &last)) = nodes.first().zip(nodes.last()) else { return true };
            return self.contains(last)
                && self.count_below(last) - self.count_below(first) == nodes.len() - 1;
        }
        match self {
            NodeSet::Sorted(members) => members.as_slice() == nodes,
            NodeSet::Slice(array, range) => array.slice(range.clone()) == nodes,
            NodeSet::Bitmap(members) => members.iter().eq(nodes.iter().copied()),
            NodeSet::Frozen(members) => members.is_exactly(nodes),
            NodeSet::Overlay { base, gained, lost } => {
                // Undoes the changes, and compares the rest with the stored set by entire
                // containers.
                let mut before = nodes.to_vec();
                remove_sorted(&mut before, gained);
                // Each gained member must be one of `nodes`; removed, they shorten the list by as
                // many.
                let has_gained = before.len() + gained.len() as usize == nodes.len();
                if !has_gained || lost.iter().any(|node| nodes.binary_search(&node).is_ok()) {
                    return false;
                }
                // None of them is in the list, as was just seen, and `insert_sorted` takes that for
                // granted.
                insert_sorted(&mut before, &lost.iter().collect::<Vec<u32>>());
                base.is_exactly(&before)
            }
        }
    }

    /// True when the sets are seen to be equal without a walk over them: both are the same stored
    /// set with the same changes. `false` does not mean that they differ. O(1), or O(changes).
    pub(crate) fn is_surely_equal(&self, other: &NodeSet) -> bool {
        let same = |one: &Arc<RoaringBitmap>, other: &Arc<RoaringBitmap>| {
            Arc::ptr_eq(one, other) || one == other
        };
        match (self, other) {
            (NodeSet::Frozen(one), NodeSet::Frozen(other)) => one.is_surely_equal(other),
            (NodeSet::Bitmap(one), NodeSet::Bitmap(other)) => Arc::ptr_eq(one, other),
            (
                NodeSet::Overlay { base, gained, lost },
                NodeSet::Overlay { base: other, gained: more, lost: less },
            ) => base.is_surely_equal(other) && same(gained, more) && same(lost, less),
            _ => false,
        }
    }

    /// True when the sets have the same members. O(containers) for two stored bitmaps with few
    /// changes, else a walk over both.
    pub(crate) fn equals(&self, other: &NodeSet) -> bool {
        self.is_surely_equal(other)
            || self.len() == other.len()
                && (self.is_sure_superset(other) || self.and(other).len() == self.len())
    }

    /// True when all members of `other` are seen to be members: of a list without gaps, or of two
    /// stored bitmaps with few changes. `false` does not mean that they are not. O(1) for the same
    /// set, O(log members) for such a list, O(containers) where the stored sets have no gaps, else
    /// O(containers + runs + changes), without a walk over the members.
    pub(crate) fn is_sure_superset(&self, other: &NodeSet) -> bool {
        /// Looking up more changes than this costs as much as a walk.
        const CHANGES_MAX: u64 = 1 << 15;
        if self.is_surely_equal(other) {
            return true;
        }
        if let Some(list) = self.list().filter(|list| is_run(list)) {
            let within = |node: u32| {
                let bounds = list.first().zip(list.last());
                bounds.is_some_and(|(first, last)| (*first..=*last).contains(&node))
            };
            return other.first().is_none_or(within) && other.last().is_none_or(within);
        }
        let none = RoaringBitmap::new();
        let (Some(mine), Some(theirs)) = (self.stored(&none), other.stored(&none)) else {
            return false;
        };
        mine.changes_len() + theirs.changes_len() <= CHANGES_MAX
            && mine.and_len(&theirs) == other.len() as u64
    }

    /// The set as changes of some stored members; `None` if they are many, or the set is no stored
    /// bitmap. O(payload), or O(words of the containers of both) for unrelated members.
    pub(crate) fn changes_against(&self, members: &FrozenBitmap) -> Option<SetChanges> {
        let none = RoaringBitmap::new();
        let stored = self.stored(&none)?;
        if stored.bits.is_stored_as(members) {
            let NodeSet::Overlay { gained, lost, .. } = self else {
                return Some(SetChanges::default());
            };
            return Some(SetChanges { gained: Arc::clone(gained), lost: Arc::clone(lost) });
        }
        let (gained, lost) = stored.changes_against(members)?;
        Some(SetChanges { gained: Arc::new(gained), lost: Arc::new(lost) })
    }

    /// The stored bitmap, its gained and its lost members, if the set has this form; `none` is an
    /// empty change.
    fn stored<'s>(&'s self, none: &'s RoaringBitmap) -> Option<Stored<'s>> {
        match self {
            NodeSet::Frozen(bits) => Some(Stored { bits, gained: none, lost: none }),
            NodeSet::Overlay { base, gained, lost } => match &**base {
                NodeSet::Frozen(bits) => Some(Stored { bits, gained, lost }),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns at most `count` members, ascending, after skipping the first `skip`. The skipped
    /// ones are not walked over.
    pub fn page(&self, skip: usize, count: usize) -> Vec<u32> {
        match self {
            NodeSet::Sorted(nodes) => nodes.iter().skip(skip).take(count).copied().collect(),
            NodeSet::Slice(array, range) => {
                let start = (range.start + skip).min(range.end);
                array.slice(start..start.saturating_add(count).min(range.end)).to_vec()
            }
            NodeSet::Frozen(bitmap) => bitmap.page(skip, count),
            NodeSet::Bitmap(bitmap) => match bitmap.select(skip as u32) {
                Some(least) => bitmap.range(least..).take(count).collect(),
                None => Vec::new(),
            },
            NodeSet::Overlay { .. } if skip == 0 && LONG_PAGE <= count && self.len() <= count => {
                self.to_vec()
            }
            NodeSet::Overlay { base, gained, lost } if LONG_PAGE <= count && skip < self.len() => {
                let end = self.len().min(skip.saturating_add(count));
                let (Some(first), Some(last)) = (self.select(skip), self.select(end - 1)) else {
                    return Vec::new();
                };
                // `first` and `last` need not be stored: these are the rows of the stored members
                // between them.
                let (start, end) = (base.count_below(first), base.count_below(last));
                let mut nodes = base.page(start, end - start + usize::from(base.contains(last)));
                let between =
                    |nodes: &RoaringBitmap| nodes.range(first..=last).collect::<Vec<u32>>();
                let (gained, lost) = (between(gained), between(lost));
                if FEW_CHANGES.saturating_mul(gained.len() + lost.len()) < nodes.len() {
                    remove_sorted(&mut nodes, &bitmap_of(&lost));
                    insert_sorted(&mut nodes, &gained);
                    return nodes;
                }
                merged(&nodes, &gained, &lost)
            }
            // The first page needs no search for where it begins.
            NodeSet::Overlay { base, gained, lost } if skip == 0 => {
                let merged = || merged_page(base, gained, lost, count);
                let page = if MERGED_PAGE <= count { merged() } else { None };
                page.unwrap_or_else(|| self.iter().take(count).collect())
            }
            NodeSet::Overlay { .. } => match self.select(skip) {
                Some(least) => self.iter_from(least).take(count).collect(),
                None => Vec::new(),
            },
        }
    }

    /// The next members from `least` on, ascending: at most `count` of them, which may be fewer or
    /// none also where others follow; and the least bound of those that do, `None` after the last
    /// one. O(log members + what is listed + changes between).
    pub(crate) fn batch(&self, least: u32, count: usize) -> (Vec<u32>, Option<u32>) {
        let NodeSet::Overlay { base, gained, lost } = self else {
            let nodes = match self {
                NodeSet::Bitmap(bitmap) => bitmap.range(least..).take(count).collect(),
                _ => self.page(self.count_below(least), count),
            };
            let last = nodes.last().filter(|_| nodes.len() == count);
            let next = last.and_then(|last| last.checked_add(1));
            return (nodes, next);
        };
        let (mut nodes, mut next) = base.batch(least, count);
        let until = next.map_or(u32::MAX, |next| next - 1);
        let mut new: Vec<u32> = gained.range(least..=until).take(count + 1).collect();
        if let Some(left) = new.get(count) {
            nodes.truncate(nodes.partition_point(|node| node < left));
            next = new.pop();
        }
        remove_sorted(&mut nodes, lost);
        insert_sorted(&mut nodes, &new);
        if let Some(left) = nodes.get(count) {
            next = Some(*left);
            nodes.truncate(count);
        }
        (nodes, next)
    }

    /// All members as a list.
    pub fn to_vec(&self) -> Vec<u32> {
        match self {
            NodeSet::Sorted(nodes) => nodes.to_vec(),
            NodeSet::Slice(array, range) => array.slice(range.clone()).to_vec(),
            NodeSet::Frozen(members) => members.page(0, members.len()),
            NodeSet::Overlay { base, gained, lost } if self.has_few_changes() => {
                // What is stored is listed at the speed of memory, and moved where something
                // changed.
                let mut nodes = Vec::with_capacity(base.len() + gained.len() as usize);
                base.append_to(&mut nodes);
                remove_sorted(&mut nodes, lost);
                insert_sorted(&mut nodes, &gained.iter().collect::<Vec<u32>>());
                nodes
            }
            _ => {
                let mut nodes = Vec::with_capacity(self.len());
                self.iter().for_each(|node| nodes.push(node));
                nodes
            }
        }
    }

    /// Adds the members to a list, in no particular order, but those of a set without changes
    /// ascending: what is stored as a list is copied from one lost member to the next.
    pub(crate) fn append_to(&self, nodes: &mut Vec<u32>) {
        match self {
            NodeSet::Sorted(members) => nodes.extend_from_slice(members),
            NodeSet::Slice(array, range) => nodes.extend_from_slice(array.slice(range.clone())),
            NodeSet::Overlay { base, gained, lost } if matches!(**base, NodeSet::Slice(..)) => {
                append_changed(base.list().unwrap_or_default(), gained, lost, nodes);
            }
            NodeSet::Frozen(members) => members.append_page(0, members.len(), nodes),
            _ => self.iter().for_each(|node| nodes.push(node)),
        }
    }

    /// Calls `visit` with the members, ascending, in lists of `count` members; the last one may be
    /// shorter. A set that is stored as a list is not copied.
    pub fn for_each_chunk(&self, count: usize, mut visit: impl FnMut(&[u32])) {
        match self {
            NodeSet::Sorted(_) | NodeSet::Slice(..) => {
                self.as_list().chunks(count).for_each(visit);
            }
            NodeSet::Overlay { .. } if self.has_few_changes() => {
                self.to_vec().chunks(count).for_each(visit);
            }
            NodeSet::Frozen(members) => {
                (0..members.len()).step_by(count).for_each(|row| visit(&members.page(row, count)));
            }
            _ => {
                let mut chunk = Vec::with_capacity(count);
                self.iter().for_each(|node| {
                    chunk.push(node);
                    if chunk.len() == count {
                        visit(&chunk);
                        chunk.clear();
                    }
                });
                if !chunk.is_empty() {
                    visit(&chunk);
                }
            }
        }
    }

    /// Whether moving the members between changes costs less than a look for a change at each
    /// member.
    fn has_few_changes(&self) -> bool {
        match self {
            NodeSet::Overlay { base, gained, lost } => {
                ((gained.len() + lost.len()) as usize).saturating_mul(FEW_CHANGES) < base.len()
            }
            _ => true,
        }
    }

    /// All members as a bitmap.
    pub fn to_bitmap(&self) -> RoaringBitmap {
        match self {
            NodeSet::Sorted(nodes) => bitmap_of(nodes),
            NodeSet::Slice(array, range) => bitmap_of(array.slice(range.clone())),
            NodeSet::Bitmap(bitmap) => RoaringBitmap::clone(bitmap),
            NodeSet::Frozen(bitmap) => bitmap.to_roaring(),
            NodeSet::Overlay { base, gained, lost } => {
                let mut all = base.to_bitmap();
                all |= &**gained;
                all -= &**lost;
                all
            }
        }
    }

    /// Retains the members (or, with `retains` false, the others) in a sorted list.
    pub fn retain(&self, nodes: &mut Vec<u32>, retains: bool) {
        match self {
            NodeSet::Sorted(members) => retain_sorted(nodes, members, retains),
            NodeSet::Slice(array, range) => {
                retain_sorted(nodes, array.slice(range.clone()), retains)
            }
            NodeSet::Frozen(bitmap) if retains => bitmap.retain_in(nodes),
            NodeSet::Frozen(bitmap) => bitmap.retain_not_in(nodes),
            NodeSet::Overlay { base, gained, lost } if FEW < nodes.len() => {
                // For non-members, the changes are inverted: a lost one is one more, and a gained
                // one is one less.
                let (gained, lost) = if retains { (gained, lost) } else { (lost, gained) };
                let mut again = nodes.clone();
                retain_in(&mut again, gained);
                base.retain(nodes, retains);
                remove_sorted(nodes, lost);
                insert_sorted(nodes, &again);
            }
            // A computed bitmap answers in one step, and for a short list single lookups are
            // cheaper than a merge with the changes.
            _ => nodes.retain(|&node| self.contains(node) == retains),
        }
    }

    /// The members of both. O(containers + changes) for bitmaps, stored ones with changes among
    /// them: a bitmap, or a stored one with changes where both are nearly that.
    pub fn and(&self, other: &NodeSet) -> NodeSet {
        let none = RoaringBitmap::new();
        match (self, other, self.stored(&none), other.stored(&none)) {
            (_, _, Some(one), Some(two)) => {
                let (small, large) =
                    if one.bits.len() <= two.bits.len() { (one, two) } else { (two, one) };
                return match small.and_near(&large) {
                    Some(changes) => near(small.bits, changes),
                    None => NodeSet::from(small.and(&large)),
                };
            }
            (NodeSet::Bitmap(bitmap), _, _, Some(stored))
            | (_, NodeSet::Bitmap(bitmap), Some(stored), _) => {
                return NodeSet::from(stored.and_bitmap(bitmap));
            }
            (NodeSet::Bitmap(one), NodeSet::Bitmap(two), ..) => {
                return NodeSet::from(&**one & &**two);
            }
            _ => {}
        }
        let (small, large) = if self.len() <= other.len() { (self, other) } else { (other, self) };
        if let NodeSet::Slice(array, range) = small
            && let Some(both) = large.within_run(array.slice(range.clone()))
        {
            // The overlapping range of the larger set is read in place.
            return NodeSet::Slice(array.clone(), range.start + both.start..range.start + both.end);
        }
        // The smaller set as a list bounds the cost, whatever the larger one is.
        let mut nodes = small.to_vec();
        large.retain(&mut nodes, true);
        NodeSet::from(nodes)
    }

    /// The number of members of both. O(containers + changes) for two stored bitmaps, and without a
    /// set of them; else as [`NodeSet::and`].
    pub(crate) fn and_len(&self, other: &NodeSet) -> usize {
        let none = RoaringBitmap::new();
        match self.stored(&none).zip(other.stored(&none)) {
            Some((mine, theirs)) => mine.and_len(&theirs) as usize,
            None => self.and(other).len(),
        }
    }

    /// The members of either: a bitmap, or a stored set with changes where both are nearly that.
    pub fn or(&self, other: &NodeSet) -> NodeSet {
        if self.is_empty() {
            return other.clone();
        }
        if other.is_empty() {
            return self.clone();
        }
        let (small, large) = if self.len() <= other.len() { (self, other) } else { (other, self) };
        if let Some(near) = large.or_near(small) {
            return near;
        }
        let mut all = self.to_bitmap();
        other.or_into(&mut all);
        NodeSet::from(all)
    }

    /// The members of either as a stored set with changes, where both are stored and nearly the
    /// same: so what is stored as one of them is still read as that.
    fn or_near(&self, other: &NodeSet) -> Option<NodeSet> {
        let none = RoaringBitmap::new();
        let (mine, theirs) = self.stored(&none).zip(other.stored(&none))?;
        Some(near(mine.bits, mine.or_near(&theirs)?))
    }

    /// Adds the members to `all`. O(containers + changes) for a bitmap, a stored one with changes
    /// among them.
    pub fn or_into(&self, all: &mut RoaringBitmap) {
        match (self, self.stored(&RoaringBitmap::new())) {
            (_, Some(stored)) => stored.or_into(all),
            (NodeSet::Bitmap(bitmap), _) => *all |= &**bitmap,
            _ => *all |= self.to_bitmap(),
        }
    }

    /// The positions of the members in an ascending list, for a set without gaps: those between its
    /// bounds.
    fn within_run(&self, nodes: &[u32]) -> Option<Range<usize>> {
        let members = match self {
            NodeSet::Sorted(members) => members.as_slice(),
            NodeSet::Slice(array, range) => array.slice(range.clone()),
            NodeSet::Frozen(members) => {
                return Some(positions_between(nodes, &members.bounds_of_run()?));
            }
            _ => return None,
        };
        is_run(members).then(|| positions_between(nodes, members))
    }

    /// The members from `least` on, as a set that is read in place if this one is a list;
    /// O(changes) for a changed list, else O(members).
    pub fn tail(&self, least: u32) -> NodeSet {
        if least == 0 {
            return self.clone();
        }
        match self {
            NodeSet::Slice(array, range) => {
                let start = array.partition_point(range.clone(), |node| node < least);
                NodeSet::Slice(array.clone(), start..range.end)
            }
            NodeSet::Overlay { base, gained, lost } if matches!(**base, NodeSet::Slice(..)) => {
                let rest = |changes: &RoaringBitmap| {
                    let mut rest = changes.clone();
                    rest.remove_range(..least);
                    Arc::new(rest)
                };
                NodeSet::overlay(base.tail(least), &rest(gained), &rest(lost))
            }
            _ => NodeSet::from(self.iter_from(least).collect::<Vec<u32>>()),
        }
    }

    /// The members that `other` does not have.
    pub fn and_not(&self, other: &NodeSet) -> NodeSet {
        if other.is_empty() {
            return self.clone();
        }
        match self {
            NodeSet::Sorted(_) | NodeSet::Slice(..) => {
                let mut nodes = self.to_vec();
                other.retain(&mut nodes, false);
                NodeSet::from(nodes)
            }
            _ => {
                let mut all = self.to_bitmap();
                match (other, other.stored(&RoaringBitmap::new())) {
                    (_, Some(stored)) => stored.remove_from(&mut all),
                    (NodeSet::Bitmap(bitmap), _) => all -= &**bitmap,
                    _ => all -= other.to_bitmap(),
                }
                NodeSet::from(all)
            }
        }
    }
}

/// The member after `row` others in a set with changes, if it is stored and a few steps reach it:
/// each step goes to the stored row that the changes before the previous member give for `row`.
fn select_stored(
    row: usize,
    base: &NodeSet,
    gained: &RoaringBitmap,
    lost: &RoaringBitmap,
) -> Option<u32> {
    /// Changes lie evenly mostly, so that the second step is already there.
    const STEPS: usize = 4;
    let mut stored = row;
    for _ in 0..STEPS {
        let node = base.plain_at(stored)?;
        let (more, less) = (rank_below(gained, node), rank_below(lost, node));
        if stored + more == row + less {
            return (!lost.contains(node)).then_some(node);
        }
        stored = (row + less).checked_sub(more)?;
    }
    None
}

/// Whether an ascending part of an array has a node. Each member is greater than the one before by
/// 1 at least, which says where the node lies at the latest: in a list without gaps it lies there.
fn slice_has(array: &Array<u32>, range: &Range<usize>, node: u32) -> bool {
    if range.is_empty() {
        return false;
    }
    let Some(latest) = node.checked_sub(array.get(range.start)) else { return false };
    let latest = range.start.saturating_add(latest as usize);
    if latest < range.end && array.get(latest) == node {
        return true;
    }
    let result = array.partition_point(range.start..latest.min(range.end), |other| other < node);
    result < range.end && array.get(result) == node
}

/// A stored set with other changes than its own: what it gained, and what it lost.
fn near(bits: &FrozenBitmap, (gained, lost): (RoaringBitmap, RoaringBitmap)) -> NodeSet {
    NodeSet::overlay(bits.clone().into(), &Arc::new(gained), &Arc::new(lost))
}

/// The first members of a set with changes, at most `count` of them: as many stored ones are
/// listed, and what changed is moved between them. `None` when so many of these were lost that it
/// takes more.
fn merged_page(
    base: &NodeSet,
    gained: &RoaringBitmap,
    lost: &RoaringBitmap,
    count: usize,
) -> Option<Vec<u32>> {
    let stored = count.saturating_add(MERGED_PAGE);
    let mut nodes = base.page(0, stored);
    let last = nodes.last().copied().filter(|_| nodes.len() == stored);
    remove_sorted(&mut nodes, lost);
    // Those after the last stored one that was listed are not next, unless nothing is stored
    // after it.
    let new = gained.range(..=last.unwrap_or(u32::MAX)).take(count).collect::<Vec<u32>>();
    insert_sorted(&mut nodes, &new);
    if nodes.len() < count && last.is_some() {
        return None;
    }
    nodes.truncate(count);
    Some(nodes)
}

/// A bitmap of a sorted list.
fn bitmap_of(nodes: &[u32]) -> RoaringBitmap {
    /// One bit for each id of the span costs less than a step for each node where they are one in
    /// so many ids at least.
    const CLOSE: usize = 16;
    if let (Some(&least), Some(&greatest)) = (nodes.first(), nodes.last())
        && ((greatest - least) as usize) < CLOSE * nodes.len()
    {
        return SpanBits::of(least, greatest, nodes.iter().copied()).to_bitmap();
    }
    RoaringBitmap::from_sorted_iter(nodes.iter().copied()).expect("node lists are sorted")
}
