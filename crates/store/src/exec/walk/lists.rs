//! Lists of targets, one for each node of a level, and the distinct nodes of all of them. Other
//! threads help with large levels.

use crate::exec::columns::batches::{BATCH, EdgeCounts, EdgeTargets};
use crate::exec::control::context::Context;
use crate::exec::control::morsels::{FEW_MORSELS, Spread, joined};
use crate::exec::cost::{self, Cost};
use crate::exec::select::page::cut;
use crate::graph::{Direction, distinct_of};
use crate::storage::{Edges, NodeLookup, SpanBits, is_dense};
use hexgraph_base::plan::Page;
use hexgraph_base::types::{Error, Result};
use std::mem;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The distinct nodes of a list, ascending.
pub(crate) fn distinct(targets: &[u32]) -> Vec<u32> {
    if targets.is_sorted_by(|one, other| one < other) {
        return targets.to_vec();
    }
    distinct_of_few(targets).unwrap_or_else(|| distinct_of(targets))
}

/// Lists of this many nodes are neither sorted quickly by comparing them nor so long that all words
/// of their span are worth a look.
const FEW: Range<usize> = BATCHED_MIN..BATCH;

/// The distinct nodes of a list of a few hundred, by a bit for each id of their span and one for
/// each word of these; `None` for lists of other lengths, and where the span is too wide.
fn distinct_of_few(nodes: &[u32]) -> Option<Vec<u32>> {
    if !FEW.contains(&nodes.len()) {
        return None;
    }
    let (least, greatest) = (*nodes.iter().min()?, *nodes.iter().max()?);
    let first = least & !63;
    let len = (greatest - first) as usize / 64 + 1;
    // Each word is cleared, and scanned.
    if !cost::is_dense(2 * len, nodes.len()) {
        return None;
    }
    let (mut words, mut used) = (vec![0_u64; len], vec![0_u64; len / 64 + 1]);
    for node in nodes {
        let position = node - first;
        words[position as usize / 64] |= 1 << (position % 64);
        // A bit for each word that has a node, so that long ranges of empty words are not looked
        // at.
        used[position as usize / (64 * 64)] |= 1 << (position / 64 % 64);
    }
    let mut distinct = Vec::with_capacity(nodes.len());
    for (block, mut used) in used.into_iter().enumerate() {
        while used != 0 {
            let position = 64 * block + used.trailing_zeros() as usize;
            used &= used - 1;
            let mut word = words[position];
            while word != 0 {
                distinct.push(first + 64 * position as u32 + word.trailing_zeros());
                word &= word - 1;
            }
        }
    }
    Some(distinct)
}

/// The lists of fewer nodes are copied one by one: checking how those of a batch are stored costs
/// as much.
const BATCHED_MIN: usize = cost::SETUP.per(cost::LOOKUP);

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
        let Some(spread) = self.control.spread(nodes.len(), cost::BIT.and(cost::ROW))? else {
            return Ok(distinct(nodes));
        };
        // The first node of the next range is part of the shape: so the result ascends when all
        // ranges do.
        let shape = |range: Range<usize>| {
            Ok(Shape::of(&nodes[range.start..nodes.len().min(range.end + 1)]))
        };
        let shapes = spread.collect(shape)?;
        if shapes.iter().all(|shape| shape.ascends) {
            return Ok(nodes.to_vec());
        }
        let least = shapes.iter().map(|shape| shape.least).min().unwrap_or(0);
        let greatest = shapes.iter().map(|shape| shape.greatest).max().unwrap_or(0);
        let Some(spread) = self.control.spread(nodes.len(), cost::BIT.and(cost::ROW))? else {
            return Ok(distinct(nodes));
        };
        let spread = spread.with_few(2);
        if !is_dense(least, greatest, nodes.len() / spread.count()) {
            let parts = spread.collect(|range| Ok(distinct(&nodes[range])))?;
            return Ok(distinct_of(&joined(parts)));
        }
        let bits =
            |range: Range<usize>| Ok(SpanBits::of(least, greatest, nodes[range].iter().copied()));
        let Some(all) = SpanBits::union(spread.collect(bits)?) else { return Ok(Vec::new()) };
        let mut members = Vec::with_capacity(all.count());
        all.append_to(&mut members);
        Ok(members)
    }

    /// One list for each position below `count`, which `add` extends for its position. One has
    /// about the cost `each`; other threads help with many.
    ///
    /// # Errors
    ///
    /// Those of `add`, and [`Error::Limit`] for more than 32 bits count, or when the request has to
    /// stop.
    pub(super) fn lists_of(
        &self,
        count: usize,
        each: Cost,
        add: impl Fn(usize, &mut Lists) -> Result<()> + Sync,
    ) -> Result<Lists> {
        let part = |positions: Range<usize>| {
            let mut lists = Lists::new(self, positions.len())?;
            for position in positions {
                add(position, &mut lists)?;
                lists.close(self)?;
            }
            Ok(lists)
        };
        let Some(spread) = self.control.spread(count, each)? else { return part(0..count) };
        let mut all = Lists::new(self, count)?;
        spread.each(part, |part| all.append(self, part))?;
        Ok(all)
    }

    /// All targets of some nodes. Those of many that ascend are copied batch by batch: of nodes
    /// that lie contiguously in one chunk. They are counted before, so that each thread has space
    /// of its own for what it copies.
    ///
    /// # Errors
    ///
    /// As [`Context::lists_of`].
    pub(super) fn all_lists(&self, nodes: &[u32], edges: &Direction, each: Cost) -> Result<Lists> {
        if nodes.len() < BATCHED_MIN || !nodes.is_sorted_by(|one, other| one < other) {
            let add = |position: usize, lists: &mut Lists| {
                if position.is_multiple_of(Edges::PREFETCH) {
                    edges
                        .stored()
                        .touch(&nodes[position..nodes.len().min(position + Edges::PREFETCH)]);
                }
                lists.extend(self, &edges.targets(nodes[position]))
            };
            return self.lists_of(nodes.len(), each, add);
        }
        let spread = self.control.spread(nodes.len(), each)?;
        let mut lists = Lists::new(self, nodes.len())?;
        lists.offsets.resize(nodes.len() + 1, 0);
        let count = self.read_ends(nodes, edges, spread, &mut lists.offsets[1..])?;
        self.control.charge(size_of::<u32>() * count)?;
        match spread {
            Some(spread) => {
                lists.targets = vec![0; count];
                self.copy_targets(nodes, edges, spread, &mut lists)?;
            }
            None => {
                lists.targets.reserve_exact(count);
                let add = |targets: &[u32], _| lists.targets.extend_from_slice(targets);
                self.for_each_target_of(nodes, edges, add)?;
            }
        }
        debug_assert_eq!(lists.targets.len(), count, "edges were counted as they are");
        Ok(lists)
    }

    /// Fills in where the list of each of some nodes ends, one after the other, and returns the
    /// last end.
    fn read_ends(
        &self,
        nodes: &[u32],
        edges: &Direction,
        spread: Option<Spread<'_>>,
        ends: &mut [u32],
    ) -> Result<usize> {
        // To count is so quick that a few chunks are enough.
        let spread = spread.map(|spread| spread.with_few(FEW_MORSELS).in_units_of(BATCH));
        let len = spread.map_or(nodes.len(), |spread| spread.len()).max(1);
        let parts: Vec<Mutex<&mut [u32]>> = ends.chunks_mut(len).map(Mutex::new).collect();
        let read = |positions: Range<usize>| {
            let ends = &mut *taken(&parts[positions.start / len]);
            let (mut counts, mut end) = (EdgeCounts::new(edges), 0);
            let batches = nodes[positions].chunks(BATCH).zip(ends.chunks_mut(BATCH));
            for (nodes, ends) in batches {
                self.check()?;
                for (slot, count) in ends.iter_mut().zip(counts.read(nodes)) {
                    end += *count as usize;
                    // The last end is the greatest one, and is looked at below.
                    *slot = end as u32;
                }
            }
            end_of(end)?;
            Ok(end)
        };
        let counts = match spread {
            Some(spread) => spread.collect(read)?,
            None => vec![read(0..nodes.len())?],
        };
        drop(parts);
        let mut before = 0;
        for (ends, count) in ends.chunks_mut(len).zip(counts) {
            if 0 < before {
                ends.iter_mut().for_each(|end| *end = end.wrapping_add(before as u32));
            }
            before += count;
        }
        end_of(before)?;
        Ok(before)
    }

    /// Calls `visit` as [`EdgeTargets::for_each`] does, until the request has to stop.
    pub(crate) fn for_each_target_of(
        &self,
        nodes: &[u32],
        edges: &Direction,
        mut visit: impl FnMut(&[u32], bool),
    ) -> Result<()> {
        let mut targets = EdgeTargets::new(edges);
        for batch in nodes.chunks(BATCH) {
            self.check()?;
            targets.for_each(batch, &mut visit);
        }
        Ok(())
    }

    /// Copies the targets of some nodes to lists that have space for them and know where each ends.
    fn copy_targets(
        &self,
        nodes: &[u32],
        edges: &Direction,
        spread: Spread<'_>,
        lists: &mut Lists,
    ) -> Result<()> {
        let len = spread.len();
        let parts = lists.parts(len);
        let copy = |positions: Range<usize>| {
            let mut part = taken(&parts[positions.start / len]);
            let mut rest = &mut *part.targets;
            self.for_each_target_of(&nodes[positions], edges, |targets, _| {
                let (capacity, behind) = mem::take(&mut rest).split_at_mut(targets.len());
                capacity.copy_from_slice(targets);
                rest = behind;
            })
        };
        spread.collect(copy)?;
        Ok(())
    }

    /// The lists with those targets alone that are among some nodes. A test has about the cost
    /// `each`; other threads help with many.
    ///
    /// # Errors
    ///
    /// As [`Context::lists_of`].
    pub(super) fn among(&self, lists: Lists, nodes: &NodeLookup, each: Cost) -> Result<Lists> {
        // The form of the nodes is looked at once for all targets.
        match nodes {
            NodeLookup::Bits(nodes) => self.chosen(lists, each, |target| nodes.contains(target)),
            NodeLookup::Set(nodes) => self.chosen(lists, each, |target| nodes.contains(target)),
        }
    }

    fn chosen(
        &self,
        mut lists: Lists,
        each: Cost,
        choose: impl Fn(u32) -> bool + Sync,
    ) -> Result<Lists> {
        let count = lists.offsets.len() - 1;
        let each = each.times(1 + lists.targets.len() / count.max(1));
        let Some(spread) = self.control.spread(count, each)? else {
            lists.choose(choose);
            return Ok(lists);
        };
        // Each morsel chooses in place; what remains is then moved together.
        let len = spread.len();
        let parts = lists.parts(len);
        let retained = spread.collect(|positions| {
            let part = &mut *taken(&parts[positions.start / len]);
            Ok((part.start, choose_in(part.ends, part.targets, part.start, &choose)))
        })?;
        drop(parts);
        lists.close_up(len, &retained);
        Ok(lists)
    }

    /// The lists without the targets for which `keep` is false; it is called with the node of the
    /// list. A test has about the cost `each`; other threads help with many.
    ///
    /// # Errors
    ///
    /// As [`Context::lists_of`].
    pub(super) fn retained(
        &self,
        mut lists: Lists,
        nodes: &[u32],
        each: Cost,
        keep: impl Fn(u32, u32) -> Result<bool> + Sync,
    ) -> Result<Lists> {
        let each = each.times(1 + lists.targets.len() / nodes.len().max(1));
        if self.control.spread(nodes.len(), each)?.is_none() {
            lists.retain(nodes, keep)?;
            return Ok(lists);
        }
        let retained = self.lists_of(nodes.len(), each, |position, retained| {
            let node = nodes[position];
            let list = lists.list(position);
            self.make_space(&mut retained.targets, list.len())?;
            for &target in list {
                if keep(node, target)? {
                    retained.targets.push(target);
                }
            }
            Ok(())
        })?;
        lists.free(self);
        Ok(retained)
    }
}

/// Some of the lists of a level, which one thread fills or changes.
struct Part<'l> {
    /// Where each list ends among the targets of all lists.
    ends: &'l mut [u32],
    /// Their targets, and the position of the first one.
    targets: &'l mut [u32],
    start: u32,
}

/// What only one morsel uses. Each is requested once, which a shared closure can only do through a
/// lock.
fn taken<T>(part: &Mutex<T>) -> MutexGuard<'_, T> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Retains the targets for which `choose` is true, in place, and returns their number. `ends` has
/// the ends of lists among all targets, of which these begin at `start`; afterwards where they end
/// among those that are retained. Each target is written, and overwritten by the next one if it is
/// not retained: a loop without branches, since nobody foresees them.
fn choose_in(
    ends: &mut [u32],
    targets: &mut [u32],
    start: u32,
    choose: impl Fn(u32) -> bool,
) -> usize {
    let (mut retained, mut slot) = (0, 0);
    for end in ends {
        let stop = (*end - start) as usize;
        for position in slot..stop {
            let target = targets[position];
            targets[retained] = target;
            retained += usize::from(choose(target));
        }
        slot = stop;
        *end = retained as u32;
    }
    retained
}

/// The targets of each node of a level, one list after the other.
pub(super) struct Lists {
    offsets: Vec<u32>,
    targets: Vec<u32>,
}

impl Lists {
    pub(super) fn new(context: &Context<'_>, nodes: usize) -> Result<Lists> {
        let mut offsets = Vec::new();
        context.make_space(&mut offsets, nodes + 1)?;
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

    /// Adds lists after those that there are.
    fn append(&mut self, context: &Context<'_>, part: Lists) -> Result<()> {
        let start = self.targets.len();
        // The last offset is the greatest one.
        end_of(start + part.targets.len())?;
        self.extend(context, &part.targets)?;
        self.offsets.extend(part.offsets[1..].iter().map(|offset| start as u32 + offset));
        part.free(context);
        Ok(())
    }

    /// Adds targets to the list of the node at hand.
    pub(super) fn extend(&mut self, context: &Context<'_>, targets: &[u32]) -> Result<()> {
        context.make_space(&mut self.targets, targets.len())?;
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

    pub(super) fn list(&self, position: usize) -> &[u32] {
        &self.targets[self.offsets[position] as usize..self.offsets[position + 1] as usize]
    }

    /// A single list with other targets instead of its own.
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
        // In position: lists only become shorter, so what is written never passes what is read.
        let mut retained = 0;
        let mut start = 0;
        for (slot, &node) in nodes.iter().enumerate() {
            let end = self.offsets[slot + 1] as usize;
            for position in start..end {
                let target = self.targets[position];
                if keep(node, target)? {
                    self.targets[retained] = target;
                    retained += 1;
                }
            }
            start = end;
            self.offsets[slot + 1] = retained as u32;
        }
        self.targets.truncate(retained);
        Ok(())
    }

    /// Retains the targets for which `choose` is true, in place.
    fn choose(&mut self, choose: impl Fn(u32) -> bool) {
        let retained = choose_in(&mut self.offsets[1..], &mut self.targets, 0, choose);
        self.targets.truncate(retained);
    }

    /// Parts of `len` lists each, for as many threads.
    fn parts(&mut self, len: usize) -> Vec<Mutex<Part<'_>>> {
        let last = self.offsets.len() - 1;
        let bounds: Vec<u32> =
            (0..last).step_by(len).chain([last]).map(|position| self.offsets[position]).collect();
        let mut rest = self.targets.as_mut_slice();
        let part = |(ends, bounds): (_, &[u32])| {
            let (start, count) = (bounds[0], (bounds[1] - bounds[0]) as usize);
            let (targets, behind) = mem::take(&mut rest).split_at_mut(count);
            rest = behind;
            Mutex::new(Part { ends, targets, start })
        };
        self.offsets[1..].chunks_mut(len).zip(bounds.windows(2)).map(part).collect()
    }

    /// Moves what was retained of parts of `len` lists each together: where the targets of a part
    /// began, and how many are left. The ends of lists are those in their part.
    fn close_up(&mut self, len: usize, retained: &[(u32, usize)]) {
        let mut end = 0;
        for (ends, (start, retained)) in self.offsets[1..].chunks_mut(len).zip(retained) {
            let start = *start as usize;
            self.targets.copy_within(start..start + retained, end);
            ends.iter_mut().for_each(|it| *it += end as u32);
            end += retained;
        }
        self.targets.truncate(end);
    }

    /// Each list's requested part.
    pub(super) fn cut(self, context: &Context<'_>, page: Page) -> Result<(Vec<u32>, Vec<u32>)> {
        let mut lists = Lists::new(context, self.offsets.len())?;
        for position in 0..self.offsets.len() - 1 {
            lists.extend(context, cut(self.list(position), page))?;
            // It fits: no list becomes longer than it was, and those before were checked.
            lists.offsets.push(lists.targets.len() as u32);
        }
        self.free(context);
        Ok(lists.finish())
    }

    /// Drops lists that are not part of the answer, and takes back what was charged for them.
    pub(super) fn free(self, context: &Context<'_>) {
        let capacity = self.offsets.capacity() + self.targets.capacity();
        context.control.uncharge(size_of::<u32>() * capacity);
    }

    pub(super) fn finish(self) -> (Vec<u32>, Vec<u32>) {
        (self.offsets, self.targets)
    }
}

/// The offset after so many targets. Offsets of levels are 32 bits wide.
fn end_of(targets: usize) -> Result<u32> {
    u32::try_from(targets).map_err(|_| Error::Limit {
        message: "a field reached more than 4294967295 edges, request fewer".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::control::morsels::tests::sharing;
    use crate::exec::control::stop::RequestContext;
    use crate::exec::tests::random_graph::graph;
    use crate::storage::NodeSet;
    use fastrand::Rng;
    use hexgraph_base::plan::Query;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Lists that threads copy and choose from, each in space of its own, are those of the nodes
    /// one by one.
    #[test]
    fn lists_of_parts_are_those_of_each_node() {
        let mut rng = Rng::with_seed(17);
        let mut shared = 0;
        for round in 0..40 {
            let count = if round % 8 == 0 { 9_000 } else { rng.u32(80..700) };
            let (version, query) = (graph(count.into(), &mut rng), Query::default());
            let nodes: Vec<u32> = (0..count * 5 / 4).filter(|_| rng.f64() < 0.8).collect();
            let chosen: NodeSet = (0..count).filter(|_| rng.bool()).collect::<Vec<u32>>().into();
            for name in ["knows", "likes"] {
                let Some(predicate) = version.predicate(name) else { continue };
                let Some(edges) = predicate.direction(false) else { continue };
                let each = |node: &u32| edges.targets(*node).to_vec();
                let all: Vec<Vec<u32>> = nodes.iter().map(each).collect();
                let among = |list: &Vec<u32>| {
                    list.iter().copied().filter(|target| chosen.contains(*target)).collect()
                };
                let some: Vec<Vec<u32>> = all.iter().map(among).collect();
                for control in [RequestContext::new(), sharing(2, 1), sharing(3, 20_000)] {
                    let vars = Vec::new();
                    let context =
                        Context { version: &version, query: &query, control: &control, vars };
                    let spread = control.spread(nodes.len(), cost::LIST).unwrap();
                    shared += usize::from(spread.is_some_and(|spread| 1 < spread.count()));
                    let lists = context.all_lists(&nodes, edges, cost::LIST).unwrap();
                    assert_eq!(listed(&lists), all, "{name} of {} nodes", nodes.len());
                    let lookup = NodeLookup::of(&chosen, lists.target_count());
                    let lists = context.among(lists, &lookup, cost::BIT).unwrap();
                    assert_eq!(listed(&lists), some, "{name} of {} nodes", nodes.len());
                }
            }
        }
        assert!(40 < shared, "{shared} were shared");
    }

    fn listed(lists: &Lists) -> Vec<Vec<u32>> {
        (0..lists.offsets.len() - 1).map(|position| lists.list(position).to_vec()).collect()
    }

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
