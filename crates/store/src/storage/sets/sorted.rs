//! Removes nodes from sorted lists and inserts them.

use roaring::RoaringBitmap;
use roaring::bitmap::Iter;
use std::ops::Range;

/// True when the nodes of an ascending list have no gap between them, as the nodes of a load have.
/// O(1).
pub(crate) fn is_run(nodes: &[u32]) -> bool {
    match (nodes.first(), nodes.last()) {
        (Some(first), Some(last)) => (last - first) as usize == nodes.len() - 1,
        _ => true,
    }
}

/// Retains the members of a bitmap in a sorted list. O(containers) if none is between the bounds of
/// the list, else a search for each of few members, or a merge of both container by container.
pub(super) fn retain_in(nodes: &mut Vec<u32>, members: &RoaringBitmap) {
    let count = members_between(nodes, members);
    if count == 0 {
        nodes.clear();
    } else if count < nodes.len() / SEARCH_RATIO {
        *nodes = positions_of(nodes, members).map(|position| nodes[position]).collect();
    } else {
        merge_with(nodes, members, true);
    }
}

/// The members of a bitmap between the bounds of a sorted list, inclusive.
fn between<'m>(nodes: &[u32], members: &'m RoaringBitmap) -> impl Iterator<Item = u32> + use<'m> {
    let bounds = nodes.first().zip(nodes.last());
    bounds.map(|(&first, &last)| members.range(first..=last)).into_iter().flatten()
}

/// The positions of those nodes of a sorted list that are members of a bitmap. O(log) of the nodes
/// between two members for each of them.
fn positions_of(nodes: &[u32], members: &RoaringBitmap) -> impl Iterator<Item = usize> {
    let mut position = 0;
    between(nodes, members).filter_map(move |member| {
        position += gallop(&nodes[position..], |node| *node < member);
        (nodes.get(position) == Some(&member)).then_some(position)
    })
}

/// The number of members of a bitmap between the bounds of a sorted list. O(containers).
fn members_between(nodes: &[u32], members: &RoaringBitmap) -> usize {
    let bounds = nodes.first().zip(nodes.last());
    bounds.map_or(0, |(&first, &last)| members.range_cardinality(first..=last) as usize)
}

/// So many members are listed at a time to be merged with a list.
const BATCH: usize = 256;

/// Retains the members of a bitmap in a sorted list (or, with `retain` false, the others): by a
/// merge, except for containers without members, or with many times more members than nodes. O(list
/// + members near it).
fn merge_with(nodes: &mut Vec<u32>, members: &RoaringBitmap, retain: bool) {
    let (mut read, mut retained) = (0, 0);
    while let Some(&first) = nodes.get(read) {
        let last = first | u32::from(u16::MAX);
        let end = read + gallop(&nodes[read..], |node| *node <= last);
        let count = members.range_cardinality(first..=last) as usize;
        if count == 0 {
            if retain {
                read = end;
                continue;
            }
            nodes.copy_within(read..end, retained);
            retained += end - read;
        } else if (end - read).saturating_mul(SEARCH_RATIO) < count {
            for position in read..end {
                let node = nodes[position];
                nodes[retained] = node;
                retained += usize::from(members.contains(node) == retain);
            }
        } else {
            retained =
                merge_part(nodes, read..end, retained, (members.range(first..=last), retain));
        }
        read = end;
    }
    nodes.truncate(retained);
}

/// As [`merge_with`], for the nodes at some positions, which are moved to the position `to` before
/// them. Returns the position after those that are retained.
fn merge_part(
    nodes: &mut [u32],
    part: Range<usize>,
    to: usize,
    (mut members, retain): (Iter<'_>, bool),
) -> usize {
    let (mut read, mut retained, mut batch) = (part.start, to, [0; BATCH]);
    while read < part.end {
        let batch = &*members.next_many(&mut batch);
        if batch.is_empty() {
            break;
        }
        let mut position = 0;
        // Without branches that are hard to foresee: which of both comes next is by chance.
        while read < part.end && position < batch.len() {
            let (node, member) = (nodes[read], batch[position]);
            nodes[retained] = node;
            retained += usize::from(if retain { node == member } else { node < member });
            read += usize::from(node <= member);
            position += usize::from(member <= node);
        }
    }
    if !retain {
        nodes.copy_within(read..part.end, retained);
        retained += part.end - read;
    }
    retained
}

/// The number of items at the front that have a property, which none has after the first that has
/// not. O(log) in that number, not in the length.
#[inline]
pub(crate) fn gallop<T>(items: &[T], holds: impl Fn(&T) -> bool) -> usize {
    let mut step = 1;
    let mut start = 0;
    // Steps double until one goes too far; the end of that step bounds a binary search.
    while items.get(start + step - 1).is_some_and(&holds) {
        start += step;
        step *= 2;
    }
    // The item at `start + step - 1` has not the property, or does not exist: the answer is not
    // after it.
    let end = (start + step - 1).min(items.len());
    start + items[start..end].partition_point(holds)
}

/// As [`gallop`], from a guess on in either direction: O(log) in how far it is from there.
#[inline]
fn gallop_from<T>(items: &[T], guess: usize, holds: impl Fn(&T) -> bool) -> usize {
    let mut end = guess.min(items.len());
    if items[..end].last().is_none_or(&holds) {
        return end + gallop(&items[end..], holds);
    }
    // The last item before `end` has not the property, whichever steps follow.
    let mut step = 1;
    while step < end && !holds(&items[end - 1 - step]) {
        end -= step;
        step *= 2;
    }
    // The last tested item has it, so those before it do; or there is no item so far back.
    let start = end.saturating_sub(step);
    start + items[start..end].partition_point(holds)
}

/// The positions of those nodes of an ascending list that are between the bounds of another.
pub(super) fn positions_between(nodes: &[u32], bounds: &[u32]) -> Range<usize> {
    let (Some(&first), Some(&last)) = (bounds.first(), bounds.last()) else { return 0..0 };
    let start = nodes.partition_point(|&node| node < first);
    start..start + nodes[start..].partition_point(|&node| node <= last)
}

/// If one list has this many times more nodes than the other, the nodes of the shorter one are
/// searched for.
const GALLOP_RATIO: usize = 8;

/// Retains the members of an ascending list in another (or, with `retain` false, the others): a
/// merge of both, or with many times more members a search for each node, O(log) in the distance
/// from the previous one. O(log) if the members have no gap between them.
pub(super) fn retain_sorted(nodes: &mut Vec<u32>, members: &[u32], retain: bool) {
    if is_run(members) {
        let both = positions_between(nodes, members);
        match retain {
            true => {
                nodes.truncate(both.end);
                nodes.drain(..both.start);
            }
            false => drop(nodes.drain(both)),
        }
        return;
    }
    // Decided once for all nodes: a search costs more than a step of a merge.
    if GALLOP_RATIO.saturating_mul(nodes.len()) < members.len() {
        let mut search = EvenSearch::of(members);
        nodes.retain(|node| search.find(*node).is_some() == retain);
        return;
    }
    let mut rest = members;
    nodes.retain(|&node| {
        rest = &rest[rest.iter().take_while(|&&member| member < node).count()..];
        (rest.first() == Some(&node)) == retain
    });
}

/// Looks up nodes, which ascend, in an ascending list: each search begins where the node would be
/// if the members lay evenly after the node before, which is near where there are few gaps.
pub(crate) struct EvenSearch<'m> {
    members: &'m [u32],
    /// The members of each id, as a fraction of 2^32.
    fraction: u64,
    /// The members that are less than all nodes to come.
    done: usize,
}

impl<'m> EvenSearch<'m> {
    /// A search in ascending members.
    pub(crate) fn of(members: &'m [u32]) -> EvenSearch<'m> {
        let span = members.first().zip(members.last()).map_or(0, |(first, last)| last - first);
        let fraction = ((members.len() as u64) << 32) / (u64::from(span) + 1);
        EvenSearch { members, fraction, done: 0 }
    }

    /// The position of a node if it is a member. Nodes ascend from call to call.
    #[inline]
    pub(crate) fn find(&mut self, node: u32) -> Option<usize> {
        let next = self.members.get(self.done)?;
        let estimate = (u64::from(node.saturating_sub(*next)) * self.fraction) >> 32;
        self.done += gallop_from(&self.members[self.done..], estimate as usize, |it| *it < node);
        (self.members.get(self.done) == Some(&node)).then_some(self.done)
    }
}

/// Where fewer than one in this many nodes of a list are retained or removed, each is searched for;
/// else one pass goes over the list.
const SEARCH_RATIO: usize = 16;

/// Removes the members of a bitmap from a sorted list. O(list) at most; O(members · log list) and a
/// move of the rest for few members, O(containers) if none is between the bounds of the list.
pub(super) fn remove_sorted(nodes: &mut Vec<u32>, gone: &RoaringBitmap) {
    let count = members_between(nodes, gone);
    if nodes.len() / SEARCH_RATIO < count {
        merge_with(nodes, gone, false);
        return;
    }
    let positions: Vec<usize> = positions_of(nodes, gone).collect();
    let Some(&first) = positions.first() else { return };
    let mut end = first;
    for (index, &position) in positions.iter().enumerate() {
        let until = positions.get(index + 1).copied().unwrap_or(nodes.len());
        // What lies between two that go moves down by as many as went before.
        nodes.copy_within(position + 1..until, end);
        end += until - position - 1;
    }
    nodes.truncate(end);
}

/// Inserts nodes into a sorted list that has none of them. Both ascend. O(list).
pub(super) fn insert_sorted(nodes: &mut Vec<u32>, new: &[u32]) {
    let mut stored = nodes.len();
    nodes.resize(stored + new.len(), 0);
    let mut end = nodes.len();
    // From the back, so that nothing is overwritten that is still to be moved.
    for &node in new.iter().rev() {
        let position = nodes[..stored].partition_point(|&other| other < node);
        let moved = stored - position;
        nodes.copy_within(position..stored, end - moved);
        end -= moved + 1;
        nodes[end] = node;
        stored = position;
    }
}

/// A sorted list without those of its nodes that were lost, and with new ones, which it does not
/// have: what lies between two changes is copied as it is. O(list + changes · log of what lies
/// between two of them).
pub(super) fn merged(stored: &[u32], gained: &[u32], lost: &[u32]) -> Vec<u32> {
    let mut nodes = Vec::with_capacity(stored.len() + gained.len());
    let (mut rest, mut gained, mut lost) = (stored, gained, lost);
    while let Some(&node) = gained.first().into_iter().chain(lost.first()).min() {
        let (retained, behind) = rest.split_at(position_of(rest, node));
        nodes.extend_from_slice(retained);
        if gained.first() == Some(&node) {
            gained = &gained[1..];
            nodes.push(node);
            rest = behind;
        } else {
            lost = &lost[1..];
            rest = &behind[usize::from(behind.first() == Some(&node))..];
        }
    }
    nodes.extend_from_slice(rest);
    nodes
}

/// The number of nodes of a sorted list that come before a node. O(1) where there is no gap before
/// it.
fn position_of(nodes: &[u32], node: u32) -> usize {
    let guess = nodes.first().map_or(0, |first| node.saturating_sub(*first) as usize);
    match nodes.get(guess) {
        Some(other) if *other == node => guess,
        _ => gallop(nodes, |other| *other < node),
    }
}

/// Appends the members of a sorted list without `lost` ones, in runs between them, and those of
/// `gained`.
pub(crate) fn append_changed(
    stored: &[u32],
    gained: &RoaringBitmap,
    lost: &RoaringBitmap,
    nodes: &mut Vec<u32>,
) {
    let mut rest = stored;
    for lost in lost {
        let (retained, later) = rest.split_at(gallop(rest, |&node| node < lost));
        nodes.extend_from_slice(retained);
        rest = &later[usize::from(later.first() == Some(&lost))..];
    }
    nodes.extend_from_slice(rest);
    nodes.extend(gained);
}

/// The number of members of a bitmap below a bound.
pub(super) fn rank_below(bitmap: &RoaringBitmap, bound: u32) -> usize {
    bound.checked_sub(1).map_or(0, |last| bitmap.rank(last) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Array, FrozenBitmap, NodeSet};
    use proptest::collection::btree_set;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    /// The set as a bitmap and as a slice, each with the same changes, and what it is.
    fn overlays(stored: &BTreeSet<u32>, changed: &BTreeSet<u32>) -> (Vec<NodeSet>, Vec<u32>) {
        let members: Vec<u32> = stored.iter().copied().collect();
        let bitmap =
            |nodes: &mut dyn Iterator<Item = u32>| Arc::new(nodes.collect::<RoaringBitmap>());
        let gained = bitmap(&mut changed.difference(stored).copied());
        let lost = bitmap(&mut changed.intersection(stored).copied());
        let frozen = NodeSet::Frozen(FrozenBitmap::from_sorted(&members));
        // With others around it, as a part of an array has.
        let padded: Vec<u32> =
            [7, 9].into_iter().chain(members.iter().copied()).chain([8]).collect();
        let slice = NodeSet::Slice(Array::from_vec(padded), 2..2 + members.len());
        let sets = [frozen, slice].map(|base| NodeSet::overlay(base, &gained, &lost)).to_vec();
        (sets, stored.symmetric_difference(changed).copied().collect())
    }

    proptest! {
        #[test]
        fn a_changed_set_is_what_it_was_and_what_changed(
            stored in btree_set(0u32..600, 0..300),
            changed in btree_set(0u32..600, 0..60),
            requested in btree_set(0u32..600, 0..200),
            from in 0u32..620,
        ) {
            let (sets, expected) = overlays(&stored, &changed);
            let requested: Vec<u32> = requested.into_iter().collect();
            let model: BTreeSet<u32> = expected.iter().copied().collect();
            for set in sets {
                prop_assert_eq!(set.len(), expected.len());
                prop_assert_eq!(set.iter().collect::<Vec<u32>>(), expected.clone());
                prop_assert_eq!(set.to_vec(), expected.clone());
                prop_assert_eq!(set.first(), expected.first().copied());
                for count in [1, 7, 1000] {
                    let mut chunks = Vec::new();
                    set.for_each_chunk(count, |chunk| chunks.push(chunk.to_vec()));
                    let requested: Vec<Vec<u32>> = expected.chunks(count).map(<[u32]>::to_vec).collect();
                    prop_assert_eq!(chunks, requested);
                }
                let rest: Vec<u32> = expected.iter().copied().filter(|node| from <= *node).collect();
                prop_assert_eq!(set.iter_from(from).collect::<Vec<u32>>(), rest.clone());
                let mut begun = set.iter_from(from);
                let first = begun.next();
                let collected = begun.fold(Vec::from_iter(first), |mut all, node| { all.push(node); all });
                prop_assert_eq!(collected, rest);
                prop_assert_eq!(set.count_below(from), expected.iter().filter(|node| **node < from).count());
                for node in (0..620).chain([u32::MAX]) {
                    prop_assert_eq!(set.contains(node), model.contains(&node));
                }
                for (row, node) in expected.iter().enumerate() {
                    prop_assert_eq!(set.page(row, 1), vec![*node]);
                }
                for count in [1, 3, 40, 1000] {
                    let (mut walked, mut next) = (Vec::new(), Some(from));
                    while let Some(least) = next {
                        let (batch, behind) = set.batch(least, count);
                        prop_assert!(batch.len() <= count);
                        prop_assert!(batch.iter().all(|node| least <= *node && behind.is_none_or(|it| *node < it)));
                        walked.extend(batch);
                        next = behind;
                    }
                    let rest: Vec<u32> = expected.iter().copied().filter(|node| from <= *node).collect();
                    prop_assert_eq!(walked, rest);
                }
                let skip = from as usize / 3;
                let page: Vec<u32> = expected.iter().skip(skip).take(5).copied().collect();
                prop_assert_eq!(set.page(skip, 5), page);
                let page: Vec<u32> = expected.iter().skip(skip).take(300).copied().collect();
                prop_assert_eq!(set.page(skip, 300), page);
                for count in [31, 32, 70] {
                    prop_assert_eq!(set.page(0, count), expected[..count.min(expected.len())].to_vec());
                }
                prop_assert!(set.is_exactly(&expected));
                prop_assert_eq!(set.is_exactly(&requested), requested == expected);
                prop_assert_eq!(set.to_bitmap().iter().collect::<Vec<u32>>(), expected.clone());
                for retain in [true, false] {
                    let mut retained = requested.clone();
                    set.retain(&mut retained, retain);
                    let requested: Vec<u32> = requested.iter().copied().filter(|node| model.contains(node) == retain).collect();
                    prop_assert_eq!(retained, requested);
                }
                let others = [NodeSet::from(requested.clone()), NodeSet::Frozen(FrozenBitmap::from_sorted(&requested)),
                    NodeSet::from(requested.iter().copied().collect::<RoaringBitmap>())];
                let both: Vec<u32> = requested.iter().copied().filter(|node| model.contains(node)).collect();
                for other in others {
                    prop_assert_eq!(set.and(&other).to_vec(), both.clone());
                    prop_assert_eq!(other.and(&set).to_vec(), both.clone());
                }
            }
        }

        /// A search from any start returns the same as one from the front, and lists of any length
        /// are reduced by each other and by bitmaps.
        #[test]
        fn searches_return_the_same_position(
            members in btree_set(0u32..200_000, 0..2000),
            nodes in btree_set(0u32..200_000, 0..100),
            guess in 0usize..2100,
            has_gaps in any::<bool>(),
        ) {
            let members: Vec<u32> = match has_gaps {
                true => members.into_iter().collect(),
                false => (3..members.len() as u32).filter(|node| node % 97 != 0).collect(),
            };
            for &node in nodes.iter().chain([&0, &200_000]) {
                let expected = members.partition_point(|other| *other < node);
                prop_assert_eq!(gallop_from(&members, guess, |other| *other < node), expected);
            }
            let nodes: Vec<u32> = nodes.into_iter().chain(members.iter().copied().step_by(301).map(|it| it + 300_000)).collect();
            for (few, many) in [(&nodes, &members), (&members, &nodes)] {
                for retain in [true, false] {
                    let expected: Vec<u32> =
                        few.iter().copied().filter(|it| many.binary_search(it).is_ok() == retain).collect();
                    let mut retained = few.clone();
                    retain_sorted(&mut retained, many, retain);
                    prop_assert_eq!(&retained, &expected);
                    let bits: RoaringBitmap = many.iter().copied().collect();
                    retained.clone_from(few);
                    match retain {
                        true => retain_in(&mut retained, &bits),
                        false => remove_sorted(&mut retained, &bits),
                    }
                    prop_assert_eq!(retained, expected);
                }
            }
        }

        /// Intersections, unions and differences of changed sets among themselves.
        #[test]
        fn changed_sets_are_combined(
            stored in btree_set(0u32..300, 0..200),
            changed in btree_set(0u32..300, 0..60),
            others in btree_set(0u32..300, 0..200),
            others_changed in btree_set(0u32..300, 0..60),
            // The members of one container, or of several with gaps between them.
            step in prop_oneof![Just(1), Just(700)],
        ) {
            let [stored, changed, others, others_changed] = [stored, changed, others, others_changed]
                .map(|nodes| nodes.into_iter().map(|node| step * node).collect::<BTreeSet<u32>>());
            let (ones, members) = overlays(&stored, &changed);
            let (twos, more) = overlays(&others, &others_changed);
            let (members, more) = (BTreeSet::from_iter(members), BTreeSet::from_iter(more));
            let list = |nodes: &mut dyn Iterator<Item = &u32>| nodes.copied().collect::<Vec<u32>>();
            let both = list(&mut members.intersection(&more));
            let either = list(&mut members.union(&more));
            let rest = list(&mut members.difference(&more));
            let plain = NodeSet::from(more.iter().copied().collect::<RoaringBitmap>());
            for one in &ones {
                for two in twos.iter().chain([&plain]) {
                    prop_assert_eq!(one.and(two).to_vec(), both.clone());
                    prop_assert_eq!(two.and(one).to_vec(), both.clone());
                    prop_assert_eq!(one.and_len(two), both.len());
                    prop_assert_eq!(two.and_len(one), both.len());
                    prop_assert_eq!(one.or(two).to_vec(), either.clone());
                    prop_assert_eq!(two.or(one).to_vec(), either.clone());
                    prop_assert_eq!(one.and_not(two).to_vec(), rest.clone());
                    let mut all = one.to_bitmap();
                    two.or_into(&mut all);
                    prop_assert_eq!(all.iter().collect::<Vec<u32>>(), either.clone());
                }
                let mut appended = vec![7];
                one.append_to(&mut appended);
                appended.remove(0);
                appended.sort_unstable();
                prop_assert_eq!(appended, list(&mut members.iter()));
            }
        }

        /// The union of two sets that are nearly the same is one of them with changes, and so is
        /// what they have in common.
        #[test]
        fn nearly_the_same_sets_stay_stored(
            others in btree_set(0u32..5000, 0..20),
            changed in btree_set(0u32..5000, 0..20),
            others_changed in btree_set(0u32..5000, 0..20),
        ) {
            let stored: BTreeSet<u32> = (7..4900).filter(|node| node % 5 != 0).collect();
            let other: BTreeSet<u32> = stored.symmetric_difference(&others).copied().collect();
            let (ones, members) = overlays(&stored, &changed);
            let (twos, more) = overlays(&other, &others_changed);
            let (members, more) = (BTreeSet::from_iter(members), BTreeSet::from_iter(more));
            let either: Vec<u32> = members.union(&more).copied().collect();
            let both: Vec<u32> = members.intersection(&more).copied().collect();
            for (one, two) in [(&ones[0], &twos[0]), (&twos[0], &ones[0]), (&ones[0], &ones[0])] {
                let is_same = std::ptr::eq(one, two);
                for (result, expected) in [(one.or(two), &either), (one.and(two), &both)] {
                    let is_stored = matches!(result, NodeSet::Frozen(_) | NodeSet::Overlay { .. });
                    prop_assert!(is_stored);
                    let expected = if is_same { one.to_vec() } else { expected.clone() };
                    prop_assert_eq!(result.to_vec(), expected.clone());
                    prop_assert_eq!(result.len(), expected.len());
                }
                prop_assert_eq!(one.and_len(two), one.and(two).len());
            }
        }

        #[test]
        fn changed_sets_have_all_of_others(
            stored in btree_set(0u32..300, 1..300),
            more in btree_set(0u32..300, 0..5),
            changed in btree_set(0u32..300, 0..6),
            others in btree_set(0u32..300, 0..6),
        ) {
            let united: BTreeSet<u32> = stored.union(&more).copied().collect();
            for (one, two) in [(&stored, &united), (&united, &stored), (&stored, &stored)] {
                let (sets, members) = overlays(one, &changed);
                let (requested, expected) = overlays(two, &others);
                let has_all = expected.iter().all(|node| members.binary_search(node).is_ok());
                // An overlay over nothing is a plain set, which is not looked at.
                let is_stored = |set: &NodeSet| matches!(set, NodeSet::Frozen(_) | NodeSet::Overlay { .. });
                let result = sets[0].is_sure_superset(&requested[0]);
                prop_assert_eq!(result, has_all && is_stored(&sets[0]) && is_stored(&requested[0]));
            }
        }

        #[test]
        fn lists_lose_and_gain(
            nodes in btree_set(0u32..2000, 0..500),
            changed in btree_set(0u32..2000, 0..40),
        ) {
            let mut list: Vec<u32> = nodes.iter().copied().collect();
            remove_sorted(&mut list, &changed.iter().copied().collect());
            prop_assert_eq!(&list, &nodes.difference(&changed).copied().collect::<Vec<u32>>());
            insert_sorted(&mut list, &changed.iter().copied().collect::<Vec<u32>>());
            prop_assert_eq!(list, nodes.union(&changed).copied().collect::<Vec<u32>>());
            let list: Vec<u32> = nodes.iter().copied().collect();
            let gained: Vec<u32> = changed.difference(&nodes).copied().collect();
            let lost: Vec<u32> = changed.intersection(&nodes).copied().collect();
            let both = merged(&list, &gained, &lost);
            prop_assert_eq!(both, nodes.symmetric_difference(&changed).copied().collect::<Vec<u32>>());
        }
    }

    #[test]
    fn changes_of_a_long_set() {
        let stored: BTreeSet<u32> = (10..20_000).step_by(3).collect();
        let many = (0..25_000).step_by(17).collect();
        for changed in
            [vec![0], vec![10, 11, 9_999], vec![19_999, 30_000], vec![10, 13, 16, 40_000], many]
        {
            let (sets, expected) = overlays(&stored, &changed.into_iter().collect());
            for set in sets {
                assert_eq!(set.to_vec(), expected);
                let mut chunks = Vec::new();
                set.for_each_chunk(4096, |chunk| chunks.push(chunk.to_vec()));
                assert_eq!(chunks.concat(), expected);
                assert!(set.is_exactly(&expected));
                assert_pages(&set, &expected);
            }
        }
    }

    fn assert_pages(set: &NodeSet, members: &[u32]) {
        let last = members.len();
        for skip in [0, 1, 300, 3_000, last / 2, last - 1, last, last + 9] {
            for count in [0, 1, 255, 256, 1_000, 3_000, usize::MAX] {
                let page: Vec<u32> = members.iter().copied().skip(skip).take(count).collect();
                assert_eq!(set.page(skip, count), page, "{skip} {count}");
            }
        }
    }

    /// Containers of all kinds, several of them contiguous.
    #[test]
    fn pages_of_stored_sets() {
        let kinds: [Vec<u32>; 5] = [
            (7..200_000).collect(),
            (7..200_000).step_by(2).collect(),
            (7..400_000).step_by(97).collect(),
            (0..200_000).filter(|node| node / 900 % 2 == 0).collect(),
            (0..300_000).filter(|node| node / 65_536 % 2 == 0 && node % 5 != 1).collect(),
        ];
        for members in kinds {
            assert_pages(&NodeSet::Frozen(FrozenBitmap::from_sorted(&members)), &members);
        }
    }
}
