//! Lists of targets, one for each node of a level, and the distinct nodes of all of them. Other threads help with large levels.

use crate::exec::control::context::Context;
use crate::exec::control::morsels::joined;
use crate::exec::select::batches::{BATCH, EdgeCounts, EdgeTargets};
use crate::exec::select::page::cut;
use crate::graph::{Direction, distinct_of};
use crate::storage::{NodeLookup, SpanBits, is_dense};
use hexgraph_base::plan::Page;
use hexgraph_base::types::{Error, Result};
use std::ops::Range;

/// The distinct nodes of a list, ascending.
pub(crate) fn distinct(targets: &[u32]) -> Vec<u32> {
    if targets.is_sorted_by(|one, other| one < other) {
        return targets.to_vec();
    }
    distinct_of_few(targets).unwrap_or_else(|| distinct_of(targets))
}

/// Lists of this many nodes are neither sorted quickly by comparing them nor so long that all words of their span are worth a look.
const FEW: Range<usize> = 48..4096;

/// The words of 64 ids that a node of such a list may take.
const WORDS_SHARE: usize = 8;

/// The distinct nodes of a list of a few hundred, by a bit for each id of their span and one for each word of these; `None` for lists of other
/// lengths, and where the span is too wide.
fn distinct_of_few(nodes: &[u32]) -> Option<Vec<u32>> {
    if !FEW.contains(&nodes.len()) {
        return None;
    }
    let (least, greatest) = (*nodes.iter().min()?, *nodes.iter().max()?);
    let first = least & !63;
    let len = (greatest - first) as usize / 64 + 1;
    if WORDS_SHARE * nodes.len() < len {
        return None;
    }
    let (mut words, mut used) = (vec![0_u64; len], vec![0_u64; len / 64 + 1]);
    for node in nodes {
        let place = node - first;
        words[place as usize / 64] |= 1 << (place % 64);
        // A bit for each word that has a node, so that long stretches of empty words are not looked at.
        used[place as usize / (64 * 64)] |= 1 << (place / 64 % 64);
    }
    let mut distinct = Vec::with_capacity(nodes.len());
    for (block, mut used) in used.into_iter().enumerate() {
        while used != 0 {
            let place = 64 * block + used.trailing_zeros() as usize;
            used &= used - 1;
            let mut word = words[place];
            while word != 0 {
                distinct.push(first + 64 * place as u32 + word.trailing_zeros());
                word &= word - 1;
            }
        }
    }
    Some(distinct)
}

/// The lists of fewer nodes are copied one by one: that takes as long as to find out how those of a batch lie.
const BATCHED_MIN: usize = 64;

/// The nanoseconds that a node of a list takes, to find the distinct ones.
const DISTINCT_NANOS: usize = 3;

/// The least and the greatest node of some, and whether they ascend without repeats.
#[derive(Clone, Copy)]
struct Shape {
    least: u32,
    greatest: u32,
    ascends: bool,
}

impl Shape {
    fn of(nodes: &[u32]) -> Shape {
        Shape {
            least: nodes.iter().copied().min().unwrap_or(u32::MAX),
            greatest: nodes.iter().copied().max().unwrap_or(0),
            ascends: nodes.is_sorted_by(|one, other| one < other),
        }
    }
}

impl Context<'_> {
    /// As [`distinct`]; other threads help with a long list.
    ///
    /// # Errors
    ///
    /// Those of [`Context::check`].
    pub(super) fn distinct(&self, nodes: &[u32]) -> Result<Vec<u32>> {
        let Some(spread) = self.control.spread(nodes.len(), DISTINCT_NANOS)? else {
            return Ok(distinct(nodes));
        };
        // The first node of the next range is part of the shape: so the whole ascends when all ranges do.
        let shape = |range: Range<usize>| {
            Ok(Shape::of(&nodes[range.start..nodes.len().min(range.end + 1)]))
        };
        let shapes = spread.collect(shape)?;
        if shapes.iter().all(|shape| shape.ascends) {
            return Ok(nodes.to_vec());
        }
        let least = shapes.iter().map(|shape| shape.least).min().unwrap_or(0);
        let greatest = shapes.iter().map(|shape| shape.greatest).max().unwrap_or(0);
        let Some(spread) = self.control.spread(nodes.len(), DISTINCT_NANOS)? else {
            return Ok(distinct(nodes));
        };
        let spread = spread.with_few(2);
        if !is_dense(least, greatest, nodes.len() / spread.count()) {
            let parts = spread.collect(|range| Ok(distinct(&nodes[range])))?;
            return Ok(distinct_of(&joined(parts)));
        }
        let bits =
            |range: Range<usize>| Ok(SpanBits::of(least, greatest, nodes[range].iter().copied()));
        let mut parts = spread.collect(bits)?.into_iter();
        let mut all = parts.next().unwrap_or_else(|| SpanBits::of(least, greatest, [].into_iter()));
        parts.for_each(|part| all.add(&part));
        let mut members = Vec::with_capacity(all.count());
        all.append_to(&mut members);
        Ok(members)
    }

    /// One list for each place below `count`, which `add` extends for its place. It takes about `nanos` nanoseconds for one; other
    /// threads help with many.
    ///
    /// # Errors
    ///
    /// Those of `add`, and [`Error::Limit`] for more than 32 bits count, or when the request has to stop.
    pub(super) fn lists_of(
        &self,
        count: usize,
        nanos: usize,
        add: impl Fn(usize, &mut Lists) -> Result<()> + Sync,
    ) -> Result<Lists> {
        let part = |places: Range<usize>| {
            let mut lists = Lists::new(self, places.len())?;
            for place in places {
                add(place, &mut lists)?;
                lists.close(self)?;
            }
            Ok(lists)
        };
        let Some(spread) = self.control.spread(count, nanos)? else { return part(0..count) };
        let mut all = Lists::new(self, count)?;
        spread.each(part, |part| all.append(self, part))?;
        Ok(all)
    }

    /// All targets of some nodes. Those of many that ascend are copied batch by batch: of nodes that lie behind one another in one piece.
    ///
    /// # Errors
    ///
    /// As [`Context::lists_of`].
    pub(super) fn all_lists(
        &self,
        nodes: &[u32],
        edges: &Direction,
        nanos: usize,
    ) -> Result<Lists> {
        if nodes.len() < BATCHED_MIN || !nodes.is_sorted_by(|one, other| one < other) {
            let add =
                |place: usize, lists: &mut Lists| lists.extend(self, &edges.targets(nodes[place]));
            return self.lists_of(nodes.len(), nanos, add);
        }
        let part = |places: Range<usize>| {
            let mut lists = Lists::new(self, places.len())?;
            let (mut counts, mut targets) = (EdgeCounts::new(edges), EdgeTargets::new(edges));
            for batch in nodes[places].chunks(BATCH) {
                self.check()?;
                lists.add_batch(self, batch, &mut counts, &mut targets)?;
            }
            Ok(lists)
        };
        let Some(spread) = self.control.spread(nodes.len(), nanos)? else {
            return part(0..nodes.len());
        };
        let mut all = Lists::new(self, nodes.len())?;
        spread.each(part, |part| all.append(self, part))?;
        Ok(all)
    }

    /// The lists with those targets alone that are among some nodes. To ask takes about `nanos` nanoseconds; other threads help with many.
    ///
    /// # Errors
    ///
    /// As [`Context::lists_of`].
    pub(super) fn among(&self, lists: Lists, nodes: &NodeLookup, nanos: usize) -> Result<Lists> {
        // The form of the nodes is looked at once for all targets.
        match nodes {
            NodeLookup::Bits(nodes) => self.chosen(lists, nanos, |target| nodes.contains(target)),
            NodeLookup::Set(nodes) => self.chosen(lists, nanos, |target| nodes.contains(target)),
        }
    }

    fn chosen(
        &self,
        mut lists: Lists,
        nanos: usize,
        choose: impl Fn(u32) -> bool + Sync,
    ) -> Result<Lists> {
        let count = lists.offsets.len() - 1;
        let each = nanos.saturating_mul(1 + lists.targets.len() / count.max(1));
        let Some(spread) = self.control.spread(count, each)? else {
            lists.choose(choose);
            return Ok(lists);
        };
        let part = |places: Range<usize>| {
            let mut part = Lists::new(self, places.len())?;
            let (start, end) = (lists.offsets[places.start], lists.offsets[places.end]);
            part.extend(self, &lists.targets[start as usize..end as usize])?;
            let offsets = lists.offsets[places.start + 1..=places.end].iter();
            part.offsets.extend(offsets.map(|offset| offset - start));
            part.choose(&choose);
            Ok(part)
        };
        let mut all = Lists::new(self, count)?;
        spread.each(part, |part| all.append(self, part))?;
        lists.free(self);
        Ok(all)
    }

    /// The lists without the targets that `keep` says no to, which is asked with the node of the list. To ask takes about `nanos`
    /// nanoseconds; other threads help with many.
    ///
    /// # Errors
    ///
    /// As [`Context::lists_of`].
    pub(super) fn kept(
        &self,
        mut lists: Lists,
        nodes: &[u32],
        nanos: usize,
        keep: impl Fn(u32, u32) -> Result<bool> + Sync,
    ) -> Result<Lists> {
        let each = nanos.saturating_mul(1 + lists.targets.len() / nodes.len().max(1));
        if self.control.spread(nodes.len(), each)?.is_none() {
            lists.retain(nodes, keep)?;
            return Ok(lists);
        }
        let kept = self.lists_of(nodes.len(), each, |place, kept| {
            let node = nodes[place];
            let list = lists.list(place);
            self.make_room(&mut kept.targets, list.len())?;
            for &target in list {
                if keep(node, target)? {
                    kept.targets.push(target);
                }
            }
            Ok(())
        })?;
        lists.free(self);
        Ok(kept)
    }
}

/// The targets of each node of a level, one list behind the other.
pub(super) struct Lists {
    offsets: Vec<u32>,
    targets: Vec<u32>,
}

impl Lists {
    pub(super) fn new(context: &Context<'_>, nodes: usize) -> Result<Lists> {
        let mut offsets = Vec::new();
        context.make_room(&mut offsets, nodes + 1)?;
        offsets.push(0);
        Ok(Lists { offsets, targets: Vec::new() })
    }

    /// The lists that end at some offsets; the first offset is 0.
    pub(super) fn of(offsets: Vec<u32>, targets: Vec<u32>) -> Lists {
        Lists { offsets, targets }
    }

    /// The number of targets of all lists.
    pub(super) fn target_count(&self) -> usize {
        self.targets.len()
    }

    /// The targets of all lists.
    pub(super) fn all_targets(&self) -> &[u32] {
        &self.targets
    }

    /// The number of targets of each list.
    pub(super) fn counts(&self) -> impl Iterator<Item = u64> {
        self.offsets.windows(2).map(|pair| u64::from(pair[1] - pair[0]))
    }

    /// Adds lists behind those that there are.
    fn append(&mut self, context: &Context<'_>, part: Lists) -> Result<()> {
        let start = self.targets.len();
        // The last offset is the greatest one.
        end_of(start + part.targets.len())?;
        self.extend(context, &part.targets)?;
        self.offsets.extend(part.offsets[1..].iter().map(|offset| start as u32 + offset));
        part.free(context);
        Ok(())
    }

    /// Adds the list of each node of a batch.
    fn add_batch(
        &mut self,
        context: &Context<'_>,
        nodes: &[u32],
        counts: &mut EdgeCounts<'_>,
        targets: &mut EdgeTargets<'_>,
    ) -> Result<()> {
        let mut end = self.targets.len();
        for count in counts.read(nodes) {
            end += *count as usize;
            // The last offset is the greatest one, and is looked at below.
            self.offsets.push(end as u32);
        }
        end_of(end)?;
        let more = end - self.targets.len();
        context.make_room(&mut self.targets, more)?;
        targets.for_each(nodes, |targets| self.targets.extend_from_slice(targets));
        debug_assert_eq!(self.targets.len(), end, "edges were counted as they are");
        Ok(())
    }

    /// Adds targets to the list of the node at hand.
    pub(super) fn extend(&mut self, context: &Context<'_>, targets: &[u32]) -> Result<()> {
        context.make_room(&mut self.targets, targets.len())?;
        self.targets.extend_from_slice(targets);
        Ok(())
    }

    /// Ends the list of a node.
    pub(super) fn close(&mut self, context: &Context<'_>) -> Result<()> {
        if self.offsets.len().is_multiple_of(8192) {
            context.check()?;
        }
        self.offsets.push(end_of(self.targets.len())?);
        Ok(())
    }

    pub(super) fn list(&self, place: usize) -> &[u32] {
        &self.targets[self.offsets[place] as usize..self.offsets[place + 1] as usize]
    }

    /// A single list with other targets in the place of its own.
    pub(super) fn replaced(self, context: &Context<'_>, targets: &[u32]) -> Result<Lists> {
        debug_assert_eq!(self.offsets.len(), 2, "one list");
        let mut list = Lists::new(context, 1)?;
        list.extend(context, targets)?;
        list.close(context)?;
        self.free(context);
        Ok(list)
    }

    fn retain(
        &mut self,
        nodes: &[u32],
        mut keep: impl FnMut(u32, u32) -> Result<bool>,
    ) -> Result<()> {
        // In place: lists only become shorter, so what is written never passes what is read.
        let mut kept = 0;
        let mut start = 0;
        for (place, &node) in nodes.iter().enumerate() {
            let end = self.offsets[place + 1] as usize;
            for position in start..end {
                let target = self.targets[position];
                if keep(node, target)? {
                    self.targets[kept] = target;
                    kept += 1;
                }
            }
            start = end;
            self.offsets[place + 1] = kept as u32;
        }
        self.targets.truncate(kept);
        Ok(())
    }

    /// Keeps the targets that `choose` says yes to, in place. Each is written, and the next one over it where it is not kept: a loop without
    /// branches, since nobody foresees them.
    fn choose(&mut self, choose: impl Fn(u32) -> bool) {
        let (mut kept, mut start) = (0, 0);
        for offset in &mut self.offsets[1..] {
            let end = *offset as usize;
            for position in start..end {
                let target = self.targets[position];
                self.targets[kept] = target;
                kept += usize::from(choose(target));
            }
            start = end;
            *offset = kept as u32;
        }
        self.targets.truncate(kept);
    }

    /// Each list's wanted part.
    pub(super) fn cut(self, context: &Context<'_>, page: Page) -> Result<(Vec<u32>, Vec<u32>)> {
        let mut lists = Lists::new(context, self.offsets.len())?;
        for place in 0..self.offsets.len() - 1 {
            lists.extend(context, cut(self.list(place), page))?;
            // It fits: no list becomes longer than it was, and those before were checked.
            lists.offsets.push(lists.targets.len() as u32);
        }
        self.free(context);
        Ok(lists.finish())
    }

    /// Drops lists that are not part of the answer, and takes back what was charged for them.
    pub(super) fn free(self, context: &Context<'_>) {
        let room = self.offsets.capacity() + self.targets.capacity();
        context.control.uncharge(size_of::<u32>() * room);
    }

    pub(super) fn finish(self) -> (Vec<u32>, Vec<u32>) {
        (self.offsets, self.targets)
    }
}

/// The offset behind so many targets. Offsets of levels are 32 bits wide.
fn end_of(targets: usize) -> Result<u32> {
    u32::try_from(targets).map_err(|_| Error::Limit {
        message: "a field reached more than 4294967295 edges, ask for fewer".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn distinct_nodes_ascend(
            nodes in prop::collection::vec(any::<u32>(), 0..600),
            width in 1u32..1 << 21,
            start in prop_oneof![Just(0), Just(u32::MAX - (1 << 21)), any::<u32>()],
        ) {
            let start = start.min(u32::MAX - width);
            let nodes: Vec<u32> = nodes.iter().map(|node| start + node % width).collect();
            let expected: BTreeSet<u32> = nodes.iter().copied().collect();
            prop_assert_eq!(distinct(&nodes), expected.into_iter().collect::<Vec<u32>>());
        }
    }
}
