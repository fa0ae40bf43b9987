//! Reads whole columns a batch of nodes at a time, with what changed since they were built.
//!
//! The nodes of a batch ascend, and so do the batches. Their rows are mostly one range of the column, which is then read as a
//! slice, in loops that the compiler turns into vector instructions. The changes are taken from the version once, as an
//! ascending list, and put in place beside the batches: each costs a step of the walk over them and not a search.

use crate::graph::{Direction, LangValues, Row};
use crate::storage::{Array, FrozenBitmap, NO_ROW, NodeSet, RowRun, SetChanges, gallop};
use bytemuck::Pod;
use hexgraph_base::types::Result;
use roaring::RoaringBitmap;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The number of nodes that are read at a time: few enough that what is read of them stays in the nearest cache.
pub(crate) const BATCH: usize = 4096;

/// The least number of members of a set that is compared with the subjects of a column.
const ALIKE_MIN: usize = 256;

/// The number of nodes of a set that are listed at a time, where some of its nodes are read.
const LISTED: usize = 16 * BATCH;

/// Nodes whose columns are read, ascending.
#[derive(Clone, Copy)]
pub(crate) enum Members<'m> {
    /// A list.
    List(&'m [u32]),
    /// A set, which is never listed as a whole: for many nodes.
    Set(&'m NodeSet),
}

impl<'m> Members<'m> {
    /// The number of nodes.
    pub(crate) fn len(self) -> usize {
        match self {
            Members::List(nodes) => nodes.len(),
            Members::Set(nodes) => nodes.len(),
        }
    }

    /// The first and the last node; `None` when there are none.
    pub(crate) fn ends(self) -> Option<(u32, u32)> {
        match self {
            Members::List(nodes) => Some((*nodes.first()?, *nodes.last()?)),
            Members::Set(nodes) => {
                let last = nodes.page(nodes.len().checked_sub(1)?, 1);
                Some((nodes.iter().next()?, *last.first()?))
            }
        }
    }

    /// All nodes as a list.
    pub(crate) fn as_list(self) -> Cow<'m, [u32]> {
        match self {
            Members::List(nodes) => Cow::Borrowed(nodes),
            Members::Set(nodes) => nodes.as_list(),
        }
    }

    /// The nodes of some places in the order. O(log nodes) and what is read.
    pub(crate) fn range(self, range: Range<usize>) -> Cow<'m, [u32]> {
        match self {
            Members::List(nodes) => Cow::Borrowed(&nodes[range]),
            Members::Set(nodes) => Cow::Owned(nodes.page(range.start, range.len())),
        }
    }

    /// Calls `visit` with the nodes, a batch at a time, until it fails.
    pub(crate) fn for_each_batch(self, mut visit: impl FnMut(&[u32]) -> Result<()>) -> Result<()> {
        match self {
            Members::List(nodes) => nodes.chunks(BATCH).try_for_each(visit),
            Members::Set(nodes) => {
                // A walk over a set has no early end: after a fault nothing more is read.
                let mut going_on = Ok(());
                nodes.for_each_chunk(BATCH, |nodes| {
                    if going_on.is_ok() {
                        going_on = visit(nodes);
                    }
                });
                going_on
            }
        }
    }

    /// As [`Members::for_each_batch`], of the nodes at some places in the order.
    pub(crate) fn for_each_batch_of(
        self,
        places: Range<usize>,
        mut visit: impl FnMut(&[u32]) -> Result<()>,
    ) -> Result<()> {
        for start in places.clone().step_by(LISTED) {
            let nodes = self.range(start..places.end.min(start + LISTED));
            nodes.chunks(BATCH).try_for_each(&mut visit)?;
        }
        Ok(())
    }

    /// Calls `visit` with nodes that changed since the base was built and their rows, ascending: with all members and perhaps
    /// with others between them. O(changes between the first and the last one); for a list that is O(nodes · log changes)
    /// where that is less.
    pub(crate) fn changes<'a>(
        self,
        part: &'a LangValues,
        mut visit: impl FnMut(u32, Option<&'a Row>),
    ) {
        match (self, self.ends()) {
            (Members::List(nodes), _) => part.changed_near(nodes, visit),
            (Members::Set(_), Some((first, last))) => {
                part.changed_between(first, last).for_each(|(node, row)| visit(node, row));
            }
            (Members::Set(_), None) => {}
        }
    }
}

/// The rows of the nodes of a batch.
pub(crate) enum Rows<'r> {
    /// All of them have one, and they lie behind one another.
    Run(Range<usize>),
    /// So many nodes, none of which has one.
    Missing(usize),
    /// The row of each node, ascending, or [`NO_ROW`].
    Each(&'r [u32]),
}

impl Rows<'_> {
    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Rows::Run(rows) => rows.len(),
            Rows::Missing(count) => *count,
            Rows::Each(rows) => rows.len(),
        }
    }

    /// Adds what is stored for each node to a list, and `missing` for a node without a row.
    pub(crate) fn read<S: Pod, T: Copy>(
        &self,
        stored: &Array<S>,
        missing: T,
        of: impl Fn(S) -> T,
        out: &mut Vec<T>,
    ) {
        match self {
            Rows::Run(rows) => out.extend(stored.slice(rows.clone()).iter().map(|item| of(*item))),
            Rows::Missing(count) => out.resize(out.len() + count, missing),
            Rows::Each(rows) => {
                // Only what lies between the first and the last row is touched of a mapped column.
                let has_row = |row: &&u32| **row != NO_ROW;
                // Without any row this is the empty range at 0, and each node gets `missing`.
                let first = rows.iter().find(has_row).map_or(0, |row| *row as usize);
                let end = rows.iter().rfind(has_row).map_or(0, |row| *row as usize + 1);
                let items = stored.slice(first..end);
                out.extend(rows.iter().map(|&row| match row {
                    NO_ROW => missing,
                    row => of(items[row as usize - first]),
                }));
            }
        }
    }

    /// The row of each node, or `None`, in the order of the nodes.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(Option<usize>)) {
        match self {
            Rows::Run(rows) => rows.clone().for_each(|row| visit(Some(row))),
            Rows::Missing(count) => (0..*count).for_each(|_| visit(None)),
            Rows::Each(rows) => rows.iter().for_each(|&row| match row {
                NO_ROW => visit(None),
                row => visit(Some(row as usize)),
            }),
        }
    }
}

/// Fewer nodes are searched for one by one.
const RUNS_MIN: usize = 32;

/// Nodes are compared with the subjects word by word where they have one in so many ids at least: so there are some in each word.
const SPAN_SHARE: usize = 16;

/// Where fewer than so many nodes are in a run they are searched for one by one, which costs less than to hand out each run.
const RUN_SHARE: usize = 12;

/// Finds the rows of batches.
#[derive(Default, Clone)]
pub(crate) struct RowFinder {
    /// Where all nodes are of a set that has the subjects, perhaps without some: what it has beside them, and which it lacks.
    beside: Option<SetChanges>,
    rows: Vec<u32>,
    runs: Vec<RowRun>,
}

impl RowFinder {
    /// A finder for nodes that are all members of a set. Where the set is that of the subjects, no node is searched for. O(bytes of the
    /// subjects), for many members.
    pub(crate) fn of(subjects: &FrozenBitmap, members: Members<'_>) -> RowFinder {
        let beside = match members {
            Members::Set(set) if ALIKE_MIN <= set.len() => set.changes_beside(subjects),
            _ => None,
        };
        RowFinder { beside, ..RowFinder::default() }
    }

    /// The same for another thread.
    pub(crate) fn fork(&self) -> RowFinder {
        RowFinder { beside: self.beside.clone(), ..RowFinder::default() }
    }

    /// The rows of nodes, which ascend, as a run or as a list. O(log subjects) where neither they nor the subjects have gaps, or they are all
    /// subjects between two; else as [`RowFinder::for_each_piece`].
    pub(crate) fn find(&mut self, subjects: &FrozenBitmap, nodes: &[u32]) -> Rows<'_> {
        if let Some(run) = self.run(subjects, nodes) {
            return Rows::Run(run);
        }
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        let done = self.find_runs(subjects, nodes);
        for run in &self.runs {
            match run.row {
                NO_ROW => rows.resize(rows.len() + run.len as usize, NO_ROW),
                row => rows.extend((0..run.len).map(|place| row.wrapping_add(place))),
            }
        }
        rows.resize(nodes.len(), NO_ROW);
        subjects.rows_of(&nodes[done..], &mut rows[done..]);
        self.rows = rows;
        Rows::Each(&self.rows)
    }

    /// Calls `visit` with the rows of nodes, which ascend: piece by piece, in their order. O(log subjects) where neither they nor the subjects
    /// have gaps; else a few instructions for 64 ids, and some for each in which they differ, where these are few; else as
    /// [`FrozenBitmap::rows_of`].
    pub(crate) fn for_each_piece(
        &mut self,
        subjects: &FrozenBitmap,
        nodes: &[u32],
        mut visit: impl FnMut(Rows<'_>),
    ) {
        if let Some(run) = self.run(subjects, nodes) {
            return visit(Rows::Run(run));
        }
        let done = self.find_runs(subjects, nodes);
        for run in &self.runs {
            let (row, len) = (run.row as usize, run.len as usize);
            visit(if run.row == NO_ROW { Rows::Missing(len) } else { Rows::Run(row..row + len) });
        }
        let rest = &nodes[done..];
        if !rest.is_empty() {
            self.rows.resize(rest.len(), NO_ROW);
            subjects.rows_of(rest, &mut self.rows);
            visit(Rows::Each(&self.rows));
        }
    }

    /// Finds the runs of the first of some nodes, and returns how many these are: none where they lie far apart.
    fn find_runs(&mut self, subjects: &FrozenBitmap, nodes: &[u32]) -> usize {
        self.runs.clear();
        if RUNS_MIN <= nodes.len() && self.find_known_runs(subjects, nodes).is_some() {
            return nodes.len();
        }
        let span = nodes.first().zip(nodes.last()).map_or(0, |(first, last)| last - first);
        let are_near = span as usize / SPAN_SHARE < nodes.len();
        if nodes.len() < RUNS_MIN || !are_near {
            return 0;
        }
        subjects.row_runs(nodes, nodes.len() / RUN_SHARE, &mut self.runs)
    }

    /// Finds the runs of nodes that are all members of a set between two, of which it is known how it differs from the subjects: so they go from change
    /// to change, without a look at what lies between. `None` where that is not so, or there are many changes. O(changes · log nodes).
    fn find_known_runs(&mut self, subjects: &FrozenBitmap, nodes: &[u32]) -> Option<()> {
        let (first, last) = (*nodes.first()?, *nodes.last()?);
        let SetChanges { gained, lost } = self.beside.as_ref()?;
        let len_of = |some: &RoaringBitmap| some.range_cardinality(first..=last) as usize;
        let (more, less) = (len_of(gained), len_of(lost));
        let (start, end) = (subjects.rank(first), subjects.rank(last));
        let stored = end - start + usize::from(subjects.contains(last));
        // As many nodes as the set has between its first and its last one: they are these.
        if nodes.len() / RUN_SHARE < more + less || stored + more != nodes.len() + less {
            return None;
        }
        let gained = gained.range(first..=last).map(|node| (node, true));
        let mut changes: Vec<(u32, bool)> =
            gained.chain(lost.range(first..=last).map(|node| (node, false))).collect();
        changes.sort_unstable();
        let (mut place, mut row) = (0, start as u32);
        let mut add = |row: u32, len: usize| {
            if 0 < len {
                self.runs.push(RowRun { row, len: len as u32 });
            }
        };
        for (node, is_new) in changes {
            let same = gallop(&nodes[place..], |other| *other < node);
            add(row, same);
            row += same as u32;
            place += same;
            if is_new {
                add(NO_ROW, 1);
                place += 1;
            } else {
                // A subject that is none of the nodes.
                row += 1;
            }
        }
        add(row, nodes.len() - place);
        Some(())
    }

    /// The rows of nodes that lie behind one another.
    pub(crate) fn run(&self, subjects: &FrozenBitmap, nodes: &[u32]) -> Option<Range<usize>> {
        subjects.rows_of_run(nodes).or_else(|| self.run_of_subjects(subjects, nodes))
    }

    /// The rows of nodes that are known to be subjects, where no other lies between them.
    fn run_of_subjects(&self, subjects: &FrozenBitmap, nodes: &[u32]) -> Option<Range<usize>> {
        let (first, last) = (*nodes.first()?, *nodes.last()?);
        let beside = &self.beside.as_ref()?.gained;
        if !beside.is_empty() && 0 < beside.range_cardinality(first..=last) {
            return None;
        }
        let (start, end) = (subjects.row_of(first)?, subjects.row_of(last)?);
        // All nodes are subjects, and as many subjects lie from the first to the last: they are these.
        (end - start == nodes.len() - 1).then_some(start..end + 1)
    }
}

/// The rows of a column from that of the first of some nodes to that of the last; the ends need not have one.
pub(crate) fn rows_between(subjects: &FrozenBitmap, nodes: Members<'_>) -> Range<usize> {
    let Some((first, last)) = nodes.ends() else { return 0..0 };
    subjects.rank(first)..subjects.rank(last) + usize::from(subjects.contains(last))
}

/// What nodes have that changed since their column was built, ascending by node.
pub(crate) struct Overlay<T> {
    pub(super) changes: Arc<Vec<(u32, T)>>,
    /// The number of changes before those of the next batch.
    done: usize,
}

impl<T: Copy> Overlay<T> {
    /// An overlay of changes, which ascend by node.
    pub(crate) fn new(changes: Arc<Vec<(u32, T)>>) -> Overlay<T> {
        Overlay { changes, done: 0 }
    }

    /// The same changes for batches from a node on.
    pub(crate) fn fork(&self, first: u32) -> Overlay<T> {
        let done = self.changes.partition_point(|(node, _)| *node < first);
        Overlay { changes: Arc::clone(&self.changes), done }
    }

    /// Whether there are no changes.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The bytes that the changes take.
    pub(crate) fn byte_len(&self) -> usize {
        size_of::<(u32, T)>() * self.changes.len()
    }

    /// The number of changes that were passed over.
    pub(super) fn place(&self) -> usize {
        self.done
    }

    /// Goes back to where so many changes were passed over.
    pub(super) fn go_back(&mut self, place: usize) {
        self.done = place;
    }

    /// Whether no node from the first to the last of a batch changed; the changes before it are passed over.
    pub(crate) fn is_settled(&mut self, nodes: &[u32]) -> bool {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return true };
        // Batches ascend, so what lies before this one is passed once in all of the walk.
        let rest = &self.changes[self.done..];
        self.done += rest.iter().take_while(|(node, _)| *node < first).count();
        self.changes.get(self.done).is_none_or(|(node, _)| last < *node)
    }

    /// Calls `visit` with the place of each node of a batch that changed, and what it has now. Changes of other nodes up to
    /// the last of the batch are passed over.
    pub(crate) fn for_each(&mut self, nodes: &[u32], visit: impl FnMut(usize, T)) {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return };
        let start = self.done + gallop(&self.changes[self.done..], |(node, _)| *node < first);
        let end = start + gallop(&self.changes[start..], |(node, _)| *node <= last);
        self.done = end;
        let changes = &self.changes[start..end];
        if nodes.len().saturating_mul(MERGE_SHARE) < changes.len() {
            look_up_nodes(nodes, changes, visit);
        } else if changes.len().saturating_mul(MERGE_SHARE) < nodes.len() {
            look_up_changes(nodes, changes, visit);
        } else {
            merge(nodes, changes, visit);
        }
    }
}

/// Nodes and changes are both walked over, unless there are so many times more of one than of the other: a search costs as much as so many steps.
const MERGE_SHARE: usize = 16;

/// Calls `visit` with the place of each node that changed, and what it has now: a step for each of both, without branches that are hard to foresee.
fn merge<T: Copy>(nodes: &[u32], changes: &[(u32, T)], mut visit: impl FnMut(usize, T)) {
    let (mut place, mut next) = (0, 0);
    while let (Some(&node), Some(&(changed, change))) = (nodes.get(place), changes.get(next)) {
        if node == changed {
            visit(place, change);
        }
        place += usize::from(node <= changed);
        next += usize::from(changed <= node);
    }
}

/// As [`merge`], by a search for each node.
fn look_up_nodes<T: Copy>(nodes: &[u32], changes: &[(u32, T)], mut visit: impl FnMut(usize, T)) {
    let mut rest = changes;
    for (place, node) in nodes.iter().enumerate() {
        rest = &rest[gallop(rest, |(changed, _)| changed < node)..];
        if let Some((_, change)) = rest.first().filter(|(changed, _)| changed == node) {
            visit(place, *change);
        }
    }
}

/// As [`merge`], by a search for each change, which begins where its node would be if the nodes lay evenly.
fn look_up_changes<T: Copy>(nodes: &[u32], changes: &[(u32, T)], mut visit: impl FnMut(usize, T)) {
    let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return };
    // The nodes for each id, as a fraction of 2^32.
    let share = ((nodes.len() as u64) << 32) / (u64::from(last - first) + 1);
    let mut place = 0;
    for &(node, change) in changes {
        // No change lies before the first node or behind the last one, and `place` is that of a node at most as great.
        let ahead = (u64::from(node - nodes[place]) * share) >> 32;
        let guess = place + ahead as usize;
        if nodes.get(guess) != Some(&node) {
            // Mostly a little before that.
            let near = place + (ahead - ahead / 8) as usize;
            let from =
                if nodes.get(near).is_some_and(|other| *other < node) { near } else { place };
            place = from + gallop(&nodes[from..], |other| *other < node);
        } else {
            place = guess;
        }
        if nodes[place] == node {
            visit(place, change);
        } else {
            // The node before is less than this change, and so than the next one.
            place -= 1;
        }
    }
}

/// Counts the edges of nodes batch by batch.
pub(crate) struct EdgeCounts<'a> {
    edges: &'a Direction,
    finder: RowFinder,
    counts: Vec<i64>,
}

impl<'a> EdgeCounts<'a> {
    /// The counts of edges in one direction.
    pub(crate) fn new(edges: &'a Direction) -> EdgeCounts<'a> {
        EdgeCounts::with_finder(edges, RowFinder::default())
    }

    /// The same for nodes that a finder was made for.
    pub(crate) fn with_finder(edges: &'a Direction, finder: RowFinder) -> EdgeCounts<'a> {
        EdgeCounts { edges, finder, counts: Vec::new() }
    }

    /// The number of edges of each node of a list, which ascends: 0 for one that has none. O(nodes + changes between the first and the
    /// last node), without a look at an edge.
    pub(crate) fn read(&mut self, nodes: &[u32]) -> &[i64] {
        let EdgeCounts { edges, finder, counts } = self;
        counts.clear();
        let base = &edges.base;
        finder.for_each_piece(&base.subjects, nodes, |rows| match rows {
            Rows::Run(rows) => base.offsets.push_lens(rows, counts),
            Rows::Missing(count) => counts.resize(counts.len() + count, 0),
            Rows::Each(rows) => counts.extend(rows.iter().map(|&row| match row {
                NO_ROW => 0,
                row => base.offsets.range(row as usize).len() as i64,
            })),
        });
        edges.changed_counts(nodes, |place, count| counts[place] = count);
        counts
    }
}

/// Reads where the edges of nodes lead, batch by batch.
pub(crate) struct EdgeTargets<'a> {
    edges: &'a Direction,
    finder: RowFinder,
}

impl<'a> EdgeTargets<'a> {
    /// The targets of edges in one direction.
    pub(crate) fn new(edges: &'a Direction) -> EdgeTargets<'a> {
        EdgeTargets { edges, finder: RowFinder::default() }
    }

    /// Calls `visit` with the targets of all nodes of a list, which ascends, in the order of the nodes: those of nodes that are stored
    /// behind one another as one slice. O(edges + changes between the first and the last node).
    pub(crate) fn for_each(&mut self, nodes: &[u32], mut visit: impl FnMut(&[u32])) {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return };
        let edges = self.edges;
        let mut rest = nodes;
        for (node, _) in edges.changed_between(first, last) {
            let (before, behind) = rest.split_at(gallop(rest, |&other| other < node));
            self.stored(before, &mut visit);
            rest = behind;
            if behind.first() == Some(&node) {
                rest = &behind[1..];
                visit(&edges.targets(node));
            }
        }
        self.stored(rest, &mut visit);
    }

    /// Calls `visit` with the place of each node of a list that has edges, and their targets. The list ascends. O(edges + changes
    /// between the first and the last node).
    pub(crate) fn for_each_list(&mut self, nodes: &[u32], mut visit: impl FnMut(usize, &[u32])) {
        let edges = self.edges;
        self.for_each_by_changes(nodes, |place, stored| match stored {
            Some(targets) => visit(place, targets),
            None => visit(place, &edges.targets(nodes[place])),
        });
    }

    /// As [`EdgeTargets::for_each_list`], with `None` for a node whose edges changed, which may have none: they are not put together.
    /// O(stored edges + changes between the first and the last node), or O(nodes · log changes) where that is less.
    pub(crate) fn for_each_by_changes(
        &mut self,
        nodes: &[u32],
        mut visit: impl FnMut(usize, Option<&[u32]>),
    ) {
        let mut changed = Vec::new();
        self.edges.changed_near(nodes, |node, _| changed.push(node));
        let mut done = 0;
        for node in changed {
            let place = done + gallop(&nodes[done..], |&other| other < node);
            self.stored_lists(&nodes[done..place], |row, targets| visit(done + row, Some(targets)));
            done = place;
            if nodes.get(place) == Some(&node) {
                visit(place, None);
                done += 1;
            }
        }
        self.stored_lists(&nodes[done..], |place, targets| visit(done + place, Some(targets)));
    }

    fn stored_lists(&mut self, nodes: &[u32], mut visit: impl FnMut(usize, &[u32])) {
        let base = &self.edges.base;
        let mut place = 0;
        self.finder.for_each_piece(&base.subjects, nodes, |rows| {
            rows.for_each(|row| {
                if let Some(row) = row {
                    visit(place, base.targets.slice(base.offsets.range(row)));
                }
                place += 1;
            });
        });
    }

    fn stored(&mut self, nodes: &[u32], visit: &mut impl FnMut(&[u32])) {
        let base = &self.edges.base;
        self.finder.for_each_piece(&base.subjects, nodes, |rows| match rows {
            Rows::Run(rows) if rows.is_empty() => {}
            Rows::Run(rows) => {
                let first = base.offsets.range(rows.start).start;
                let last = base.offsets.range(rows.end - 1).end;
                visit(base.targets.slice(first..last));
            }
            Rows::Missing(_) => {}
            Rows::Each(rows) => {
                for &row in rows.iter().filter(|row| **row != NO_ROW) {
                    visit(base.targets.slice(base.offsets.range(row as usize)));
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{BATCH, Members, Overlay, RUNS_MIN, RowFinder, Rows};
    use crate::storage::{FrozenBitmap, NO_ROW, NodeSet};
    use fastrand::Rng;
    use roaring::RoaringBitmap;
    use std::sync::Arc;

    /// The rows that a finder gives, whole and piece by piece.
    fn found(finder: &mut RowFinder, subjects: &FrozenBitmap, nodes: &[u32]) -> [Vec<u32>; 2] {
        let mut pieces = Vec::new();
        finder.for_each_piece(subjects, nodes, |rows| {
            rows.for_each(|row| pieces.push(row.map_or(NO_ROW, |row| row as u32)));
        });
        let whole = match finder.find(subjects, nodes) {
            Rows::Run(run) => run.map(|row| row as u32).collect(),
            Rows::Missing(count) => vec![NO_ROW; count],
            Rows::Each(rows) => rows.to_vec(),
        };
        [pieces, whole]
    }

    #[test]
    fn pieces_have_the_rows_of_a_search() {
        for seed in 0..200 {
            let rng = &mut Rng::with_seed(seed);
            let (first, step) = (rng.u32(..70_000), rng.u32(1..4));
            let stored: Vec<u32> =
                (0..rng.u32(1..20_000)).map(|place| first + place * step).collect();
            let subjects = FrozenBitmap::from_sorted(&stored);
            // From none to so many that no part of a batch is a run.
            let changes = [0, 1, 3, 20, 3_000][rng.usize(..5)];
            let (mut gained, mut lost) = (RoaringBitmap::new(), RoaringBitmap::new());
            for _ in 0..changes {
                let node = rng.u32(first.saturating_sub(10)..first + step * 20_000 + 10);
                match subjects.contains(node) {
                    true => lost.insert(node),
                    false => gained.insert(node),
                };
            }
            let base = Box::new(NodeSet::Frozen(subjects.clone()));
            let set = NodeSet::Overlay { base, gained: Arc::new(gained), lost: Arc::new(lost) };
            let mut nodes = set.to_vec();
            if rng.bool() {
                // Some of the members.
                nodes.retain(|_| rng.u8(..90) != 0);
            }
            let mut finders = [RowFinder::of(&subjects, Members::Set(&set)), RowFinder::default()];
            for batch in nodes.chunks([BATCH, RUNS_MIN * 2, 10][rng.usize(..3)]) {
                let mut wanted = vec![NO_ROW; batch.len()];
                subjects.rows_of(batch, &mut wanted);
                for finder in &mut finders {
                    let found = found(finder, &subjects, batch);
                    assert_eq!(found, [wanted.clone(), wanted.clone()], "seed {seed}");
                }
            }
        }
    }

    #[test]
    fn changes_meet_their_nodes() {
        let mut rng = Rng::with_seed(9);
        for round in 0..400 {
            let mut some = |most: u32| -> Vec<u32> {
                let step = [1, 2, 9, 300][rng.usize(..4)];
                let nodes = (0..rng.u32(..most)).map(|place| 40 + place * step + rng.u32(..step));
                nodes.filter(|node| node % 61 != 0).collect()
            };
            let (nodes, changed) = (some(9_000), some([9, 300, 9_000][round % 3]));
            let changes: Vec<(u32, u32)> = changed.iter().map(|node| (*node, node + 1)).collect();
            let mut overlay = Overlay::new(Arc::new(changes));
            for batch in nodes.chunks([3, 60, BATCH][round % 7 % 3]) {
                let mut found = Vec::new();
                overlay.for_each(batch, |place, change| found.push((place, change)));
                let is_changed = |(_, node): &(usize, &u32)| changed.binary_search(node).is_ok();
                let wanted = batch.iter().enumerate().filter(is_changed);
                let wanted: Vec<(usize, u32)> =
                    wanted.map(|(place, node)| (place, node + 1)).collect();
                assert_eq!(found, wanted, "round {round}");
            }
        }
    }

    #[test]
    fn behind_a_few_changes_most_of_a_batch_is_runs() {
        let stored: Vec<u32> = (0..2 * BATCH as u32).map(|place| 3 * place).collect();
        let subjects = FrozenBitmap::from_sorted(&stored);
        let (gained, lost) = (RoaringBitmap::from([4_000]), RoaringBitmap::from([9_000]));
        let base = Box::new(NodeSet::Frozen(subjects.clone()));
        let set = NodeSet::Overlay { base, gained: Arc::new(gained), lost: Arc::new(lost) };
        let mut finder = RowFinder::of(&subjects, Members::Set(&set));
        let mut searched = 0;
        finder.for_each_piece(&subjects, &set.to_vec()[..BATCH], |rows| {
            searched += if let Rows::Each(rows) = rows { rows.len() } else { 0 };
        });
        assert_eq!(searched, 0);
    }
}
