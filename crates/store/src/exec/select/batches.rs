//! Reads whole columns a batch of nodes at a time, with what changed since they were built.
//!
//! The nodes of a batch ascend, and so do the batches. Their rows are mostly one range of the column, which is then read as a
//! slice, in loops that the compiler turns into vector instructions. The changes are taken from the version once, as an
//! ascending list, and put in place beside the batches: each costs a step of the walk over them and not a search.

use crate::graph::{ChangedNumbers, Direction, LangValues, Row};
use crate::storage::{Array, FrozenBitmap, NO_ROW, NodeSet, Values, gallop};
use bytemuck::Pod;
use hexgraph_base::types::{Result, ValueRef, ValueType};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The number of nodes that are read at a time: few enough that what is read of them stays in the nearest cache.
pub(crate) const BATCH: usize = 4096;

/// The number of rows of a whole column that are read between two questions whether to go on, and the number of changes.
const PIECE: usize = 1 << 16;

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
    /// The row of each node, ascending, or [`NO_ROW`].
    Each(&'r [u32]),
}

impl Rows<'_> {
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
            Rows::Each(rows) => {
                // Only what lies between the first and the last row is touched of a mapped column.
                let has_row = |row: &&u32| **row != NO_ROW;
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
            Rows::Each(rows) => rows.iter().for_each(|&row| match row {
                NO_ROW => visit(None),
                row => visit(Some(row as usize)),
            }),
        }
    }
}

/// Finds the rows of batches.
#[derive(Default)]
pub(crate) struct RowFinder {
    rows: Vec<u32>,
}

impl RowFinder {
    /// The rows of nodes, which ascend. O(log subjects) where neither they nor the subjects have gaps, else as
    /// [`FrozenBitmap::rows_of`].
    pub(crate) fn find(&mut self, subjects: &FrozenBitmap, nodes: &[u32]) -> Rows<'_> {
        if let Some(run) = subjects.rows_of_run(nodes) {
            return Rows::Run(run);
        }
        self.rows.resize(nodes.len(), NO_ROW);
        subjects.rows_of(nodes, &mut self.rows);
        Rows::Each(&self.rows)
    }
}

/// The rows of a column from that of the first of some nodes to that of the last; the ends need not have one.
pub(crate) fn rows_between(subjects: &FrozenBitmap, nodes: Members<'_>) -> Range<usize> {
    let Some((first, last)) = nodes.ends() else { return 0..0 };
    subjects.rank(first)..subjects.rank(last) + usize::from(subjects.contains(last))
}

/// What nodes have that changed since their column was built, ascending by node.
pub(crate) struct Overlay<T> {
    changes: Arc<Vec<(u32, T)>>,
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

    /// The bytes that the changes take.
    pub(crate) fn byte_len(&self) -> usize {
        size_of::<(u32, T)>() * self.changes.len()
    }

    /// Whether no node from the first to the last of a batch changed.
    pub(crate) fn is_settled(&mut self, nodes: &[u32]) -> bool {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return true };
        while self.changes.get(self.done).is_some_and(|(node, _)| *node < first) {
            self.done += 1;
        }
        self.changes.get(self.done).is_none_or(|(node, _)| last < *node)
    }

    /// Calls `visit` with the place of each node of a batch that changed, and what it has now. Changes of other nodes up to
    /// the last of the batch are passed over.
    pub(crate) fn for_each(&mut self, nodes: &[u32], mut visit: impl FnMut(usize, T)) {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return };
        let mut place = 0;
        while let Some(&(node, change)) = self.changes.get(self.done).filter(|it| it.0 <= last) {
            self.done += 1;
            // The place is known where the nodes have no gaps; the next change is mostly near otherwise.
            let guess = node.wrapping_sub(first) as usize;
            place = match nodes.get(guess) == Some(&node) {
                true => guess,
                false => place + gallop(&nodes[place..], |&other| other < node),
            };
            if nodes.get(place) == Some(&node) {
                visit(place, change);
            }
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
        EdgeCounts { edges, finder: RowFinder::default(), counts: Vec::new() }
    }

    /// The number of edges of each node of a list, which ascends: 0 for one that has none. O(nodes + changes between the first and the
    /// last node), without a look at an edge.
    pub(crate) fn read(&mut self, nodes: &[u32]) -> &[i64] {
        let EdgeCounts { edges, finder, counts } = self;
        counts.clear();
        let base = &edges.base;
        match finder.find(&base.subjects, nodes) {
            Rows::Run(rows) => base.offsets.push_lens(rows, counts),
            Rows::Each(rows) => counts.extend(rows.iter().map(|&row| match row {
                NO_ROW => 0,
                row => base.offsets.range(row as usize).len() as i64,
            })),
        }
        let mut place = 0;
        edges.changed_near(nodes, |node, row| {
            place += gallop(&nodes[place..], |&other| other < node);
            if nodes.get(place) == Some(&node) {
                counts[place] = row.count(counts[place]);
            }
        });
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
        self.finder.find(&base.subjects, nodes).for_each(|row| {
            if let Some(row) = row {
                visit(place, base.targets.slice(base.offsets.range(row)));
            }
            place += 1;
        });
    }

    fn stored(&mut self, nodes: &[u32], visit: &mut impl FnMut(&[u32])) {
        let base = &self.edges.base;
        match self.finder.find(&base.subjects, nodes) {
            Rows::Run(rows) if rows.is_empty() => {}
            Rows::Run(rows) => {
                let first = base.offsets.range(rows.start).start;
                let last = base.offsets.range(rows.end - 1).end;
                visit(base.targets.slice(first..last));
            }
            Rows::Each(rows) => {
                for &row in rows.iter().filter(|row| **row != NO_ROW) {
                    visit(base.targets.slice(base.offsets.range(row as usize)));
                }
            }
        }
    }
}

/// Numbers of one type behind one another.
#[derive(Clone, Copy)]
pub(crate) enum NumberSlice<'s> {
    /// Ints that are stored in 32 bits.
    Narrow(&'s [i32]),
    /// Ints.
    Ints(&'s [i64]),
    /// Floats.
    Floats(&'s [f64]),
}

impl NumberSlice<'_> {
    /// The number of numbers.
    pub(crate) fn len(&self) -> usize {
        match self {
            NumberSlice::Narrow(ints) => ints.len(),
            NumberSlice::Ints(ints) => ints.len(),
            NumberSlice::Floats(floats) => floats.len(),
        }
    }
}

impl<'s> NumberSlice<'s> {
    /// The numbers from the first place to before the second one, of those that there are.
    pub(crate) fn part(self, start: usize, end: usize) -> NumberSlice<'s> {
        let end = end.min(self.len());
        match self {
            NumberSlice::Narrow(ints) => NumberSlice::Narrow(&ints[start..end]),
            NumberSlice::Ints(ints) => NumberSlice::Ints(&ints[start..end]),
            NumberSlice::Floats(floats) => NumberSlice::Floats(&floats[start..end]),
        }
    }
}

/// A number of 64 bits.
pub(crate) trait Number: Pod {
    /// The number that is stored in 32 bits. A function of the type, not of the column: so loops over it become vector
    /// instructions.
    fn of_narrow(stored: i32) -> Self;

    /// Some of them as a slice that says what they are.
    fn slice(numbers: &[Self]) -> NumberSlice<'_>;

    /// The number that a value is, where it is one of this type.
    fn of(value: ValueRef<'_>) -> Option<Self>;
}

impl Number for i64 {
    fn of_narrow(stored: i32) -> i64 {
        stored.into()
    }

    fn slice(numbers: &[i64]) -> NumberSlice<'_> {
        NumberSlice::Ints(numbers)
    }

    fn of(value: ValueRef<'_>) -> Option<i64> {
        if let ValueRef::Int(int) = value { Some(int) } else { None }
    }
}

impl Number for f64 {
    fn of_narrow(stored: i32) -> f64 {
        stored.into()
    }

    fn slice(numbers: &[f64]) -> NumberSlice<'_> {
        NumberSlice::Floats(numbers)
    }

    fn of(value: ValueRef<'_>) -> Option<f64> {
        if let ValueRef::Float(float) = value { Some(float) } else { None }
    }
}

/// What changed in a column of numbers.
#[derive(Clone)]
pub(crate) enum NumberChanges {
    /// Ints.
    Int(ChangedNumbers<i64>),
    /// Floats.
    Float(ChangedNumbers<f64>),
}

impl NumberChanges {
    /// All changes; `None` when the values, stored and changed, are no numbers of the wanted type. O(1), or a copy of the changes.
    pub(crate) fn of_all(part: &LangValues, wanted: ValueType) -> Option<NumberChanges> {
        let column = &part.base.column;
        if column.rows.is_some() {
            return None;
        }
        match (&column.values, wanted) {
            (Values::SmallInt(_) | Values::Int(_), ValueType::Int) => {
                part.changed_ints().map(NumberChanges::Int)
            }
            (Values::Float(_), ValueType::Float) => part.changed_floats().map(NumberChanges::Float),
            _ => None,
        }
    }

    /// As [`NumberChanges::of_all`], of some nodes and perhaps of others.
    fn near(part: &LangValues, wanted: ValueType, nodes: Members<'_>) -> Option<NumberChanges> {
        if part.changes_len() < nodes.len() {
            return NumberChanges::of_all(part, wanted);
        }
        let column = &part.base.column;
        if column.rows.is_some() {
            return None;
        }
        match (&column.values, wanted) {
            (Values::SmallInt(_) | Values::Int(_), ValueType::Int) => {
                collected(part, nodes).map(NumberChanges::Int)
            }
            (Values::Float(_), ValueType::Float) => {
                collected(part, nodes).map(NumberChanges::Float)
            }
            _ => None,
        }
    }

    /// The least and the greatest int of the changes; `None` where there are none, and for floats.
    pub(crate) fn int_ends(&self) -> Option<(i64, i64)> {
        let NumberChanges::Int(changes) = self else { return None };
        let ints = changes.iter().filter_map(|(_, number)| *number);
        ints.fold(None, |ends: Option<(i64, i64)>, int| {
            let (least, greatest) = ends.unwrap_or((int, int));
            Some((least.min(int), greatest.max(int)))
        })
    }

    /// The bytes that the changes take.
    pub(crate) fn byte_len(&self) -> usize {
        match self {
            NumberChanges::Int(changes) => size_of_val(changes.as_slice()),
            NumberChanges::Float(changes) => size_of_val(changes.as_slice()),
        }
    }
}

/// The changes of some nodes and perhaps of others between them; `None` when one of them is no such number.
fn collected<T: Number>(part: &LangValues, nodes: Members<'_>) -> Option<ChangedNumbers<T>> {
    let (mut changes, mut are_numbers) = (Vec::new(), true);
    nodes.changes(part, |node, row| {
        let number = row.map(|row| T::of(row.first()));
        are_numbers &= !matches!(number, Some(None));
        changes.push((node, number.flatten()));
    });
    are_numbers.then(|| Arc::new(changes))
}

/// Numbers as they are stored.
#[derive(Clone, Copy)]
enum Stored<'a, T: Pod> {
    /// In 32 bits.
    Narrow(&'a Array<i32>),
    /// As they are read.
    Plain(&'a Array<T>),
}

/// Reads the numbers of one type of a column.
pub(crate) struct Numbers<'a, T: Number> {
    subjects: &'a FrozenBitmap,
    stored: Stored<'a, T>,
    changes: Overlay<Option<T>>,
    finder: RowFinder,
    numbers: Vec<T>,
    has: Vec<bool>,
}

impl<'a, T: Number> Numbers<'a, T> {
    fn new(
        part: &'a LangValues,
        stored: Stored<'a, T>,
        changes: &ChangedNumbers<T>,
    ) -> Numbers<'a, T> {
        Numbers {
            subjects: &part.base.column.subjects,
            stored,
            changes: Overlay::new(Arc::clone(changes)),
            finder: RowFinder::default(),
            numbers: Vec::new(),
            has: Vec::new(),
        }
    }

    /// The same column for batches from a node on.
    pub(crate) fn fork(&self, first: u32) -> Numbers<'a, T> {
        Numbers {
            subjects: self.subjects,
            stored: self.stored,
            changes: self.changes.fork(first),
            finder: RowFinder::default(),
            numbers: Vec::new(),
            has: Vec::new(),
        }
    }

    /// The numbers of a batch, one for each node, and whether each node has one, an empty list where all do. The entry of a
    /// node without a number has no meaning.
    pub(crate) fn read(&mut self, nodes: &[u32]) -> (&[T], &[bool]) {
        let Numbers { subjects, stored, changes, finder, numbers, has } = self;
        numbers.clear();
        has.clear();
        let rows = finder.find(subjects, nodes);
        match stored {
            Stored::Narrow(stored) => rows.read(stored, T::zeroed(), T::of_narrow, numbers),
            Stored::Plain(stored) => rows.read(stored, T::zeroed(), |number| number, numbers),
        }
        if let Rows::Each(_) = rows {
            rows.for_each(|row| has.push(row.is_some()));
        }
        changes.for_each(nodes, |place, change| {
            if let Some(number) = change {
                numbers[place] = number;
            } else if has.is_empty() {
                has.resize(nodes.len(), true);
            }
            if let Some(has) = has.get_mut(place) {
                *has = change.is_some();
            }
        });
        (numbers, has)
    }

    /// Calls `take` with the numbers of those nodes of a batch that have one, in their order.
    fn read_some(&mut self, nodes: &[u32], take: &mut impl FnMut(NumberSlice<'_>)) {
        self.read(nodes);
        if !self.has.is_empty() {
            let mut has = self.has.iter();
            self.numbers.retain(|_| has.next() == Some(&true));
        }
        take(T::slice(&self.numbers));
    }

    /// Calls `take` with all numbers of the column in the order of their nodes: stored ones from change to change, and changed
    /// ones.
    fn read_whole(
        &self,
        check: impl Fn() -> Result<()>,
        mut take: impl FnMut(NumberSlice<'_>),
    ) -> Result<()> {
        let mut done = 0;
        for (count, &(node, change)) in self.changes.changes.iter().enumerate() {
            if count.is_multiple_of(PIECE) {
                check()?;
            }
            let row = self.subjects.row_of(node);
            let place = row.unwrap_or_else(|| self.subjects.rank(node));
            self.read_rows(done..place, &check, &mut take)?;
            done = place + usize::from(row.is_some());
            if let Some(number) = change {
                take(T::slice(&[number]));
            }
        }
        self.read_rows(done..self.subjects.len(), &check, &mut take)
    }

    /// Calls `take` with all stored numbers of the column, changed or not.
    fn read_stored(
        &self,
        check: impl Fn() -> Result<()>,
        mut take: impl FnMut(NumberSlice<'_>),
    ) -> Result<()> {
        self.read_rows(0..self.subjects.len(), &check, &mut take)
    }

    /// Calls `visit` with the stored number and the present one of each node that changed, ascending by node.
    fn for_each_change(&self, mut visit: impl FnMut(Option<T>, Option<T>)) {
        for &(node, now) in self.changes.changes.iter() {
            let stored = self.subjects.row_of(node).map(|row| match &self.stored {
                Stored::Narrow(stored) => T::of_narrow(stored.get(row)),
                Stored::Plain(stored) => stored.get(row),
            });
            visit(stored, now);
        }
    }

    fn read_rows(
        &self,
        rows: Range<usize>,
        check: &impl Fn() -> Result<()>,
        take: &mut impl FnMut(NumberSlice<'_>),
    ) -> Result<()> {
        for start in rows.clone().step_by(PIECE) {
            let piece = start..rows.end.min(start + PIECE);
            if piece.len() == PIECE {
                check()?;
            }
            match &self.stored {
                Stored::Narrow(stored) => take(NumberSlice::Narrow(stored.slice(piece))),
                Stored::Plain(stored) => take(T::slice(stored.slice(piece))),
            }
        }
        Ok(())
    }
}

/// A column of numbers that is read batch by batch.
pub(crate) enum NumberColumn<'a> {
    /// Ints.
    Int(Numbers<'a, i64>),
    /// Floats.
    Float(Numbers<'a, f64>),
}

impl<'a> NumberColumn<'a> {
    /// The numbers of some nodes; `None` when the values are no numbers of the wanted type. O(changes between the first and
    /// the last node).
    pub(crate) fn new(
        part: &'a LangValues,
        wanted: ValueType,
        nodes: Members<'_>,
    ) -> Option<NumberColumn<'a>> {
        NumberColumn::with_changes(part, &NumberChanges::near(part, wanted, nodes)?)
    }

    /// The numbers of a column with what changed in it; `None` when they are not of one type.
    pub(crate) fn with_changes(
        part: &'a LangValues,
        changes: &NumberChanges,
    ) -> Option<NumberColumn<'a>> {
        Some(match (&part.base.column.values, changes) {
            (Values::SmallInt(ints), NumberChanges::Int(changes)) => {
                let stored = Stored::Narrow(ints);
                NumberColumn::Int(Numbers::new(part, stored, changes))
            }
            (Values::Int(ints), NumberChanges::Int(changes)) => {
                NumberColumn::Int(Numbers::new(part, Stored::Plain(ints), changes))
            }
            (Values::Float(floats), NumberChanges::Float(changes)) => {
                NumberColumn::Float(Numbers::new(part, Stored::Plain(floats), changes))
            }
            _ => return None,
        })
    }

    /// The same column for batches from a node on, which may be read beside those of others.
    pub(crate) fn fork(&self, first: u32) -> NumberColumn<'a> {
        match self {
            NumberColumn::Int(numbers) => NumberColumn::Int(numbers.fork(first)),
            NumberColumn::Float(numbers) => NumberColumn::Float(numbers.fork(first)),
        }
    }

    /// The bytes that the changes take.
    pub(crate) fn byte_len(&self) -> usize {
        match self {
            NumberColumn::Int(numbers) => numbers.changes.byte_len(),
            NumberColumn::Float(numbers) => numbers.changes.byte_len(),
        }
    }

    /// The numbers of a batch, one for each node, and whether each node has one: see [`Numbers::read`].
    pub(crate) fn read(&mut self, nodes: &[u32]) -> (NumberSlice<'_>, &[bool]) {
        match self {
            NumberColumn::Int(numbers) => {
                let (numbers, has) = numbers.read(nodes);
                (NumberSlice::Ints(numbers), has)
            }
            NumberColumn::Float(numbers) => {
                let (numbers, has) = numbers.read(nodes);
                (NumberSlice::Floats(numbers), has)
            }
        }
    }

    /// Calls `take` with the numbers of those nodes of a batch that have one, in their order.
    pub(crate) fn read_some(&mut self, nodes: &[u32], take: &mut impl FnMut(NumberSlice<'_>)) {
        match self {
            NumberColumn::Int(numbers) => numbers.read_some(nodes, take),
            NumberColumn::Float(numbers) => numbers.read_some(nodes, take),
        }
    }

    /// Adds up a column of ints: calls `take` with all stored ones, changed or not, and then `exchange` with the stored and the
    /// present int of each node that changed. False, without a call, for floats, whose sum depends on their order. The changes
    /// have to be all that there are.
    ///
    /// # Errors
    ///
    /// Those of `check`, which is called every few thousand rows.
    pub(crate) fn add_up<S>(
        &self,
        sum: &mut S,
        check: impl Fn() -> Result<()>,
        take: impl Fn(&mut S, NumberSlice<'_>),
        exchange: impl Fn(&mut S, Option<i64>, Option<i64>),
    ) -> Result<bool> {
        let NumberColumn::Int(ints) = self else { return Ok(false) };
        ints.read_stored(check, |stored| take(sum, stored))?;
        ints.for_each_change(|stored, now| exchange(sum, stored, now));
        Ok(true)
    }

    /// Calls `take` with all numbers of the column, in the order of their nodes. The changes have to be all that there are.
    ///
    /// # Errors
    ///
    /// Those of `check`, which is called every few thousand rows.
    pub(crate) fn read_whole(
        &self,
        check: impl Fn() -> Result<()>,
        take: impl FnMut(NumberSlice<'_>),
    ) -> Result<()> {
        match self {
            NumberColumn::Int(numbers) => numbers.read_whole(check, take),
            NumberColumn::Float(numbers) => numbers.read_whole(check, take),
        }
    }
}
