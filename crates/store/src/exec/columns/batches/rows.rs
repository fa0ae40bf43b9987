//! Nodes in batches, and their rows in a column.

use crate::exec::cost::{self, BATCH, is_dense};
use crate::graph::{LangValues, Row};
use crate::storage::{Array, FrozenBitmap, NO_ROW, NodeSet, RowRun, SetChanges, gallop};
use bytemuck::Pod;
use hexgraph_base::types::Result;
use roaring::RoaringBitmap;
use std::borrow::Cow;
use std::ops::Range;

/// The least number of members of a set that is compared with the subjects of a column.
const ALIKE_MIN: usize = cost::SETUP.per(cost::GATHER);

/// The number of nodes of a set that are listed at a time, where some of its nodes are read.
const LISTED: usize = 16 * BATCH;

/// Nodes whose columns are read, ascending.
#[derive(Clone, Copy)]
pub(crate) enum Members<'m> {
    /// A list.
    List(&'m [u32]),
    /// A set, which is never listed as one: for many nodes.
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

    /// The nodes of some positions in the order. O(log nodes) and what is read.
    pub(crate) fn range(self, range: Range<usize>) -> Cow<'m, [u32]> {
        match self {
            Members::List(nodes) => Cow::Borrowed(&nodes[range]),
            Members::Set(nodes) => Cow::Owned(nodes.page(range.start, range.len())),
        }
    }

    /// The node at a position in the order; 0 where there is none.
    pub(crate) fn at(self, position: usize) -> u32 {
        self.range(position..(position + 1).min(self.len())).first().copied().unwrap_or(0)
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

    /// As [`Members::for_each_batch`], of the nodes at some positions in the order.
    pub(crate) fn for_each_batch_of(
        self,
        positions: Range<usize>,
        mut visit: impl FnMut(&[u32]) -> Result<()>,
    ) -> Result<()> {
        for start in positions.clone().step_by(LISTED) {
            let nodes = self.range(start..positions.end.min(start + LISTED));
            nodes.chunks(BATCH).try_for_each(&mut visit)?;
        }
        Ok(())
    }

    /// Calls `visit` with nodes that changed since the base was built and their rows, ascending:
    /// with all members and perhaps with others between them. O(changes between the first and the
    /// last one); for a list that is O(nodes · log changes) where that is less.
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
    /// All of them have one, and they lie contiguously.
    Run(Range<usize>),
    /// So many nodes, all without one.
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
const RUNS_MIN: usize = cost::SETUP.per(cost::PROBE);

/// Where fewer than so many nodes are in a run they are searched for one by one, which costs less
/// than to hand out each run.
const RUN_RATIO: usize = cost::LIST.per(cost::GATHER);

/// Looks up the rows of batches.
#[derive(Default, Clone)]
pub(crate) struct RowFinder {
    /// Where all nodes are of a set that has the subjects, perhaps without some: what it has in
    /// addition to them, and which it lacks.
    beside: Option<SetChanges>,
    rows: Vec<u32>,
    runs: Vec<RowRun>,
}

impl RowFinder {
    /// A finder for nodes that are all members of a set. Where the set is that of the subjects, no
    /// node is searched for. O(bytes of the subjects), for many members.
    pub(crate) fn of(subjects: &FrozenBitmap, members: Members<'_>) -> RowFinder {
        let beside = match members {
            Members::Set(set) if ALIKE_MIN <= set.len() => set.changes_against(subjects),
            _ => None,
        };
        RowFinder { beside, ..RowFinder::default() }
    }

    /// The same for another thread.
    pub(crate) fn fork(&self) -> RowFinder {
        RowFinder { beside: self.beside.clone(), ..RowFinder::default() }
    }

    /// The rows of nodes, which ascend: as a run if that is detected, else as a list. O(log
    /// subjects) where neither they nor the subjects have gaps, or they are all subjects between
    /// two; else as [`RowFinder::for_each_chunk`].
    pub(crate) fn find(&mut self, subjects: &FrozenBitmap, nodes: &[u32]) -> Rows<'_> {
        if let Some(run) = self.run(subjects, nodes) {
            return Rows::Run(run);
        }
        let done = self.find_runs(subjects, nodes);
        if let ([run], true) = (&self.runs[..], done == nodes.len())
            && run.row != NO_ROW
        {
            return Rows::Run(run.row as usize..(run.row + run.len) as usize);
        }
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        for run in &self.runs {
            match run.row {
                NO_ROW => rows.resize(rows.len() + run.len as usize, NO_ROW),
                row => rows.extend((0..run.len).map(|position| row.wrapping_add(position))),
            }
        }
        rows.resize(nodes.len(), NO_ROW);
        subjects.rows_of(&nodes[done..], &mut rows[done..]);
        self.rows = rows;
        Rows::Each(&self.rows)
    }

    /// Calls `visit` with the rows of nodes, which ascend: chunk by chunk, in their order. O(log
    /// subjects) where neither they nor the subjects have gaps; else a few instructions for 64 ids,
    /// and some for each in which they differ, where these are few; else as
    /// [`FrozenBitmap::rows_of`].
    pub(crate) fn for_each_chunk(
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

    /// Returns the runs of the first of some nodes, and returns how many these are: none where they
    /// lie far apart.
    fn find_runs(&mut self, subjects: &FrozenBitmap, nodes: &[u32]) -> usize {
        self.runs.clear();
        if RUNS_MIN <= nodes.len() && self.find_known_runs(subjects, nodes).is_some() {
            return nodes.len();
        }
        let span = nodes.first().zip(nodes.last()).map_or(0, |(first, last)| last - first);
        let are_near = is_dense(span as usize, nodes.len());
        if nodes.len() < RUNS_MIN || !are_near {
            return 0;
        }
        subjects.row_runs(nodes, nodes.len() / RUN_RATIO, &mut self.runs)
    }

    /// Returns the runs of nodes that are all members of a set between two, whose difference from
    /// the subjects is given: so they go from change to change, without reading what lies between.
    /// `None` where that is not so, or there are many changes. O(changes · log nodes).
    fn find_known_runs(&mut self, subjects: &FrozenBitmap, nodes: &[u32]) -> Option<()> {
        let (first, last) = (*nodes.first()?, *nodes.last()?);
        let SetChanges { gained, lost } = self.beside.as_ref()?;
        let len_of = |some: &RoaringBitmap| some.range_cardinality(first..=last) as usize;
        let (more, less) = (len_of(gained), len_of(lost));
        let (start, end) = (subjects.rank(first), subjects.rank(last));
        let stored = end - start + usize::from(subjects.contains(last));
        // As many nodes as the set has between its first and its last one: they are these.
        if nodes.len() / RUN_RATIO < more + less || stored + more != nodes.len() + less {
            return None;
        }
        let gained = gained.range(first..=last).map(|node| (node, true));
        let mut changes: Vec<(u32, bool)> =
            gained.chain(lost.range(first..=last).map(|node| (node, false))).collect();
        changes.sort_unstable();
        let (mut position, mut row) = (0, start as u32);
        let mut add = |row: u32, len: usize| {
            if 0 < len {
                self.runs.push(RowRun { row, len: len as u32 });
            }
        };
        for (node, is_new) in changes {
            let same = gallop(&nodes[position..], |other| *other < node);
            add(row, same);
            row += same as u32;
            position += same;
            if is_new {
                add(NO_ROW, 1);
                position += 1;
            } else {
                // A subject that is none of the nodes.
                row += 1;
            }
        }
        add(row, nodes.len() - position);
        Some(())
    }

    /// The rows of nodes that lie contiguously.
    pub(crate) fn run(&self, subjects: &FrozenBitmap, nodes: &[u32]) -> Option<Range<usize>> {
        subjects.rows_of_run(nodes).or_else(|| self.run_of_subjects(subjects, nodes))
    }

    /// The rows of nodes that are certainly subjects, where no other lies between them.
    fn run_of_subjects(&self, subjects: &FrozenBitmap, nodes: &[u32]) -> Option<Range<usize>> {
        let (first, last) = (*nodes.first()?, *nodes.last()?);
        let beside = &self.beside.as_ref()?.gained;
        if !beside.is_empty() && 0 < beside.range_cardinality(first..=last) {
            return None;
        }
        let (start, end) = (subjects.row_of(first)?, subjects.row_of(last)?);
        // All nodes are subjects, and as many subjects lie from the first to the last: they are
        // these.
        (end - start == nodes.len() - 1).then_some(start..end + 1)
    }
}

/// The rows of a column from that of the first of some nodes to that of the last; the ends need not
/// have one.
pub(crate) fn rows_between(subjects: &FrozenBitmap, nodes: Members<'_>) -> Range<usize> {
    let Some((first, last)) = nodes.ends() else { return 0..0 };
    subjects.rank(first)..subjects.rank(last) + usize::from(subjects.contains(last))
}

#[cfg(test)]
mod tests {
    use super::{ALIKE_MIN, BATCH, Members, RUNS_MIN, RowFinder, Rows};
    use crate::storage::{FrozenBitmap, NO_ROW, NodeSet};
    use fastrand::Rng;
    use roaring::RoaringBitmap;
    use std::sync::Arc;

    /// The rows that a finder returns, at once and chunk by chunk.
    fn result(finder: &mut RowFinder, subjects: &FrozenBitmap, nodes: &[u32]) -> [Vec<u32>; 2] {
        let mut chunks = Vec::new();
        finder.for_each_chunk(subjects, nodes, |rows| {
            rows.for_each(|row| chunks.push(row.map_or(NO_ROW, |row| row as u32)));
        });
        let full = match finder.find(subjects, nodes) {
            Rows::Run(run) => run.map(|row| row as u32).collect(),
            Rows::Missing(count) => vec![NO_ROW; count],
            Rows::Each(rows) => rows.to_vec(),
        };
        [chunks, full]
    }

    #[test]
    fn pieces_have_the_rows_of_a_search() {
        let mut alike = 0;
        for seed in 0..200 {
            let rng = &mut Rng::with_seed(seed);
            let (first, step) = (rng.u32(..70_000), rng.u32(1..4));
            let stored: Vec<u32> =
                (0..rng.u32(1..20_000)).map(|position| first + position * step).collect();
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
            // The same members, which are not determined by their storage.
            let anew = NodeSet::from(FrozenBitmap::from_sorted(&set.to_vec()));
            let [existing, compared] =
                [&set, &anew].map(|it| RowFinder::of(&subjects, Members::Set(it)));
            if ALIKE_MIN <= set.len() {
                let reported = existing.beside.as_ref().map(|it| (&it.gained, &it.lost));
                let result = compared.beside.as_ref().map(|it| (&it.gained, &it.lost));
                assert!(result.is_none() || result == reported, "seed {seed}");
                alike += usize::from(result.is_some());
            }
            let mut finders = [existing, compared, RowFinder::default()];
            for batch in nodes.chunks([BATCH, RUNS_MIN * 2, 10][rng.usize(..3)]) {
                let mut expected = vec![NO_ROW; batch.len()];
                subjects.rows_of(batch, &mut expected);
                for finder in &mut finders {
                    let result = result(finder, &subjects, batch);
                    assert_eq!(result, [expected.clone(), expected.clone()], "seed {seed}");
                }
            }
        }
        assert!(100 < alike, "{alike} of 200 sets were seen to be nearly the subjects");
    }

    #[test]
    fn behind_a_few_changes_most_of_a_batch_is_runs() {
        let stored: Vec<u32> = (0..2 * BATCH as u32).map(|position| 3 * position).collect();
        let subjects = FrozenBitmap::from_sorted(&stored);
        let (gained, lost) = (RoaringBitmap::from([4_000]), RoaringBitmap::from([9_000]));
        let base = Box::new(NodeSet::Frozen(subjects.clone()));
        let set = NodeSet::Overlay { base, gained: Arc::new(gained), lost: Arc::new(lost) };
        let mut finder = RowFinder::of(&subjects, Members::Set(&set));
        let mut searched = 0;
        finder.for_each_chunk(&subjects, &set.to_vec()[..BATCH], |rows| {
            searched += if let Rows::Each(rows) = rows { rows.len() } else { 0 };
        });
        assert_eq!(searched, 0);
    }
}
