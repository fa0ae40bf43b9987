//! Numbers of a predicate as columns, with what changed in them: read batch by batch, from end to
//! end, or of nodes in any order.

use super::batches::{BATCH, Members, Overlay, RowFinder, Rows};
use crate::exec::cost;
use crate::graph::{ChangedNumbers, LangValues, PatchedFloats, Patches};
use crate::storage::{Array, FrozenBitmap, NO_ROW, Values};
use bytemuck::Pod;
use hexgraph_base::types::{Result, ValueRef, ValueType};
use std::ops::Range;
use std::sync::Arc;

/// The number of rows of an entire column that are read between two questions whether to go on, and
/// the number of changes.
const CHUNK: usize = 1 << 16;

/// The same of floats that are added up: what lies between two such questions is added apart from
/// what follows, up to a block.
const LONG_CHUNK: usize = 1 << 18;

/// The number of changes that are merged with the rows of floats at a time: few enough that they
/// fit into the second-level cache.
const PATCHES: usize = BATCH;

/// Between two changes so many rows of an entire column are few.
const SHORT: usize = cost::SETUP.per(cost::GATHER);

/// The list of all changes is read where there are fewer than so many for each node: to go over
/// that list costs less than a walk over the map, and less than to look up each node there.
pub(crate) const LIST_RATIO: usize = cost::TEST.per(cost::ENTRY);

/// Numbers of one type contiguous.
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
    /// The numbers from the first position to before the second one, of those that there are.
    pub(crate) fn part(self, start: usize, end: usize) -> NumberSlice<'s> {
        let end = end.min(self.len());
        match self {
            NumberSlice::Narrow(ints) => NumberSlice::Narrow(&ints[start..end]),
            NumberSlice::Ints(ints) => NumberSlice::Ints(&ints[start..end]),
            NumberSlice::Floats(floats) => NumberSlice::Floats(&floats[start..end]),
        }
    }
}

/// Numbers of one type.
pub(crate) enum NumberList {
    /// Ints.
    Ints(Vec<i64>),
    /// Floats.
    Floats(Vec<f64>),
}

impl<'s> From<&'s NumberList> for NumberSlice<'s> {
    fn from(list: &'s NumberList) -> NumberSlice<'s> {
        match list {
            NumberList::Ints(ints) => NumberSlice::Ints(ints),
            NumberList::Floats(floats) => NumberSlice::Floats(floats),
        }
    }
}

/// Bounds of the numbers of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum NumberKind {
    /// Ints between two, both included.
    Int {
        /// The least that there may be.
        least: i64,
        /// The greatest that there may be.
        greatest: i64,
    },
    /// Floats.
    Float,
}

/// A number of 64 bits.
pub(crate) trait Number: Pod {
    /// The number that is stored in 32 bits. A function of the type, not of the column: so loops
    /// over it become vector instructions.
    fn of_narrow(stored: i32) -> Self;

    /// The number in 32 bits; `None` for one that is not stored so.
    fn to_narrow(self) -> Option<i32>;

    /// Some of them as a slice that says what they are.
    fn slice(numbers: &[Self]) -> NumberSlice<'_>;

    /// The number that a value is, where it is one of this type.
    fn of(value: ValueRef<'_>) -> Option<Self>;
}

impl Number for i64 {
    fn of_narrow(stored: i32) -> i64 {
        stored.into()
    }

    fn to_narrow(self) -> Option<i32> {
        self.try_into().ok()
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

    fn to_narrow(self) -> Option<i32> {
        None
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
    /// All changes; `None` when the values, stored and changed, are no numbers of the requested
    /// type. O(1), or a copy of the changes.
    pub(crate) fn of_all(part: &LangValues, expected: ValueType) -> Option<NumberChanges> {
        let column = part.stored();
        if column.rows.is_some() {
            return None;
        }
        match (&column.values, expected) {
            (Values::SmallInt(_) | Values::Int(_), ValueType::Int) => {
                part.changed_ints().map(NumberChanges::Int)
            }
            (Values::Float(_), ValueType::Float) => part.changed_floats().map(NumberChanges::Float),
            _ => None,
        }
    }

    /// As [`NumberChanges::of_all`], of some nodes and perhaps of others.
    fn near(part: &LangValues, expected: ValueType, nodes: Members<'_>) -> Option<NumberChanges> {
        if part.changes_len() < nodes.len().saturating_mul(LIST_RATIO) {
            return NumberChanges::of_all(part, expected);
        }
        let column = part.stored();
        if column.rows.is_some() {
            return None;
        }
        match (&column.values, expected) {
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

/// The changes of some nodes and perhaps of others between them; `None` when one of them is no such
/// number.
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

impl<T: Number> Stored<'_, T> {
    /// Adds some of them to a list.
    fn append_to(self, rows: Range<usize>, out: &mut Vec<T>) {
        match self {
            Stored::Narrow(stored) => {
                out.extend(stored.slice(rows).iter().map(|int| T::of_narrow(*int)));
            }
            Stored::Plain(stored) => out.extend_from_slice(stored.slice(rows)),
        }
    }
}

/// Reads the numbers of one type of a column.
pub(crate) struct Numbers<'a, T: Number> {
    subjects: &'a FrozenBitmap,
    stored: Stored<'a, T>,
    changes: Overlay<Option<T>>,
    finder: RowFinder,
    numbers: Vec<T>,
    narrow: Vec<i32>,
    has: Vec<bool>,
}

impl<'a, T: Number> Numbers<'a, T> {
    fn new(
        part: &'a LangValues,
        stored: Stored<'a, T>,
        changes: &ChangedNumbers<T>,
    ) -> Numbers<'a, T> {
        Numbers {
            subjects: &part.stored().subjects,
            stored,
            changes: Overlay::new(Arc::clone(changes)),
            finder: RowFinder::default(),
            numbers: Vec::new(),
            narrow: Vec::new(),
            has: Vec::new(),
        }
    }

    /// The same column for batches from a node on.
    pub(crate) fn fork(&self, first: u32) -> Numbers<'a, T> {
        Numbers {
            subjects: self.subjects,
            stored: self.stored,
            changes: self.changes.fork(first),
            finder: self.finder.fork(),
            numbers: Vec::new(),
            narrow: Vec::new(),
            has: Vec::new(),
        }
    }

    /// The numbers of a batch, one for each node and 0 for a node that has none, and whether each
    /// has one, an empty list where all do.
    pub(crate) fn read(&mut self, nodes: &[u32]) -> (&[T], &[bool]) {
        let Numbers { subjects, stored, changes, finder, numbers, has, .. } = self;
        // What lies contiguously and has not changed is read in place.
        if let Stored::Plain(stored) = *stored
            && let Some(run) = finder.run(subjects, nodes)
            && changes.is_clean(nodes)
        {
            return (stored.slice(run), &[]);
        }
        match *stored {
            Stored::Narrow(stored) => {
                read_stored(
                    (*subjects, stored, finder),
                    nodes,
                    T::of_narrow,
                    (&mut *numbers, &mut *has),
                );
            }
            Stored::Plain(stored) => {
                read_stored(
                    (*subjects, stored, finder),
                    nodes,
                    |number| number,
                    (&mut *numbers, &mut *has),
                );
            }
        }
        changes.for_each(nodes, |position, change| put(position, change, numbers, has));
        (numbers, has)
    }

    /// The numbers of a batch as they lie in the column, where they do in 32 bits, contiguous, and
    /// none has changed.
    pub(crate) fn narrow(&mut self, nodes: &[u32]) -> Option<&'a [i32]> {
        let Stored::Narrow(stored) = self.stored else { return None };
        let run = self.finder.run(self.subjects, nodes)?;
        self.changes.is_clean(nodes).then(|| stored.slice(run))
    }

    /// As [`Numbers::read`], in 32 bits, and with 0 for a node that has no number: in place where
    /// the numbers lie contiguously and none has changed. `None`, and nothing is read, where they
    /// are stored in more bits, or one of the batch has changed to a wider one.
    pub(crate) fn read_narrow(&mut self, nodes: &[u32]) -> Option<(&[i32], &[bool])> {
        if let Some(ints) = self.narrow(nodes) {
            return Some((ints, &[]));
        }
        let Numbers { subjects, stored, changes, finder, narrow, has, .. } = self;
        let Stored::Narrow(stored) = *stored else { return None };
        read_stored((*subjects, stored, finder), nodes, |int| int, (&mut *narrow, &mut *has));
        let (before, mut fits) = (changes.position(), true);
        changes.for_each(nodes, |position, change| {
            let int = change.map(T::to_narrow);
            fits &= int != Some(None);
            put(position, int.map(|int| int.unwrap_or(0)), narrow, has);
        });
        if !fits {
            changes.go_back(before);
            return None;
        }
        Some((narrow, has))
    }

    /// The numbers of a batch in place, where they are stored as they are read, contiguous, and
    /// none has changed.
    pub(crate) fn plain(&mut self, nodes: &[u32]) -> Option<&'a [T]> {
        let Stored::Plain(stored) = self.stored else { return None };
        let run = self.finder.run(self.subjects, nodes)?;
        self.changes.is_clean(nodes).then(|| stored.slice(run))
    }

    /// As [`Numbers::read`], of nodes in any order. O(log) a node where the column has gaps or
    /// changes.
    pub(crate) fn read_scattered(&mut self, nodes: &[u32]) -> (&[T], &[bool]) {
        let Numbers { subjects, stored, changes, numbers, has, .. } = self;
        numbers.clear();
        has.clear();
        let changes = changes.changes.as_slice();
        let changed = |node: u32| {
            let position = changes.binary_search_by_key(&node, |(node, _)| *node).ok()?;
            Some(changes[position].1)
        };
        let mut add = |position: usize, number: Option<T>| {
            if number.is_none() && has.is_empty() {
                has.resize(position, true);
            }
            if number.is_none() || !has.is_empty() {
                has.push(number.is_some());
            }
            numbers.push(number.unwrap_or(T::zeroed()));
        };
        let rows = nodes.iter().map(|node| {
            let now = if changes.is_empty() { None } else { changed(*node) };
            (subjects.row_of(*node), now)
        });
        match stored {
            Stored::Narrow(stored) => {
                let stored = stored.as_slice();
                rows.enumerate().for_each(|(position, (row, now))| {
                    add(position, now.unwrap_or_else(|| row.map(|row| T::of_narrow(stored[row]))));
                });
            }
            Stored::Plain(stored) => {
                let stored = stored.as_slice();
                rows.enumerate().for_each(|(position, (row, now))| {
                    add(position, now.unwrap_or_else(|| row.map(|row| stored[row])));
                });
            }
        }
        (numbers, has)
    }

    /// Calls `take` with the numbers of those nodes of a batch that have one, in their order.
    fn read_some(&mut self, nodes: &[u32], take: &mut impl FnMut(NumberSlice<'_>)) {
        let (numbers, has) = self.read(nodes);
        if has.is_empty() {
            return take(T::slice(numbers));
        }
        let mut has = self.has.iter();
        self.numbers.retain(|_| has.next() == Some(&true));
        take(T::slice(&self.numbers));
    }

    /// Calls `take` with the numbers of some rows of the column in the order of their nodes: stored
    /// ones from change to change, and changed ones, those of new nodes with the row after them.
    fn read_part(
        &self,
        rows: Range<usize>,
        check: impl Fn() -> Result<()>,
        mut take: impl FnMut(NumberSlice<'_>),
    ) -> Result<()> {
        let start = if rows.start == 0 { 0 } else { self.changes_before(rows.start) };
        let changes = &self.changes.changes[start..self.changes_before(rows.end)];
        let (mut done, mut joined) = (rows.start, Vec::new());
        for (count, &(node, change)) in changes.iter().enumerate() {
            if count.is_multiple_of(CHUNK) {
                check()?;
            }
            let row = self.subjects.row_of(node);
            let position = row.unwrap_or_else(|| self.subjects.rank(node));
            let run = done..position;
            // Short ranges are put together: to hand each out alone takes longer than to copy it.
            if BATCH <= joined.len() || SHORT < run.len() {
                take(T::slice(&joined));
                joined.clear();
            }
            if SHORT < run.len() {
                self.read_rows(run, &check, &mut take)?;
            } else {
                self.stored.append_to(run, &mut joined);
            }
            done = position + usize::from(row.is_some());
            joined.extend(change);
        }
        take(T::slice(&joined));
        self.read_rows(done..rows.end, &check, &mut take)
    }

    /// The number of changes before a row.
    fn changes_before(&self, row: usize) -> usize {
        let changes = &self.changes.changes;
        match self.subjects.select(row) {
            Some(first) => changes.partition_point(|(node, _)| *node < first),
            None => changes.len(),
        }
    }

    fn read_rows(
        &self,
        rows: Range<usize>,
        check: &impl Fn() -> Result<()>,
        take: &mut impl FnMut(NumberSlice<'_>),
    ) -> Result<()> {
        for start in rows.clone().step_by(CHUNK) {
            let chunk = start..rows.end.min(start + CHUNK);
            if chunk.len() == CHUNK {
                check()?;
            }
            match &self.stored {
                Stored::Narrow(stored) => take(NumberSlice::Narrow(stored.slice(chunk))),
                Stored::Plain(stored) => take(T::slice(stored.slice(chunk))),
            }
        }
        Ok(())
    }
}

impl Numbers<'_, f64> {
    /// As [`Numbers::read_part`], with the changes merged into what is stored.
    fn read_patched(
        &self,
        rows: Range<usize>,
        check: impl Fn() -> Result<()>,
        mut take: impl FnMut(PatchedFloats<'_>),
    ) -> Result<()> {
        let Stored::Plain(stored) = self.stored else { unreachable!("floats have 64 bits") };
        let (mut patches, mut start) = (Patches::default(), rows.start);
        let mut done = if start == 0 { 0 } else { self.changes_before(start) };
        loop {
            check()?;
            let end = rows.end.min(start + LONG_CHUNK);
            let all = self.changes_before(end);
            let choice = done..all.min(done + PATCHES);
            done = choice.end;
            self.add_patches(&self.changes.changes[choice], start, &mut patches);
            let end = if done < all { start + patches.row() } else { end };
            take(patches.of(stored.slice(start..end)));
            if done == all && end == rows.end {
                return Ok(());
            }
            start = end;
        }
    }

    /// Makes patches of some changes, to what is stored from a row on.
    fn add_patches(&self, changes: &[(u32, Option<f64>)], start: usize, patches: &mut Patches) {
        patches.clear();
        let nodes: Vec<u32> = changes.iter().map(|(node, _)| *node).collect();
        let mut rows = vec![NO_ROW; nodes.len()];
        self.subjects.rows_of(&nodes, &mut rows);
        for ((node, float), row) in changes.iter().zip(rows) {
            let is_new = row == NO_ROW;
            let row = if is_new { self.subjects.rank(*node) } else { row as usize };
            patches.add(row - start, is_new, *float);
        }
    }
}

/// Reads what a column has for nodes into a list, with 0 for those that have none; and records in
/// another list whether each has something, which stays empty where all do.
fn read_stored<S: Pod, T: Pod>(
    (subjects, stored, finder): (&FrozenBitmap, &Array<S>, &mut RowFinder),
    nodes: &[u32],
    of: impl Fn(S) -> T,
    (numbers, has): (&mut Vec<T>, &mut Vec<bool>),
) {
    numbers.clear();
    has.clear();
    finder.for_each_chunk(subjects, nodes, |rows| {
        let before = numbers.len();
        rows.read(stored, T::zeroed(), &of, numbers);
        match rows {
            Rows::Missing(_) => {
                has.resize(before, true);
                has.resize(numbers.len(), false);
            }
            Rows::Each(rows) if !has.is_empty() || rows.contains(&NO_ROW) => {
                has.resize(before, true);
                has.extend(rows.iter().map(|row| *row != NO_ROW));
            }
            _ if has.is_empty() => {}
            _ => has.resize(numbers.len(), true),
        }
    });
}

/// Replaces the stored number by one that changed; `None` where the node has none any more, which
/// leaves 0.
fn put<T: Pod>(position: usize, change: Option<T>, numbers: &mut [T], has: &mut Vec<bool>) {
    if change.is_none() && has.is_empty() {
        has.resize(numbers.len(), true);
    }
    if let Some(has) = has.get_mut(position) {
        *has = change.is_some();
    }
    numbers[position] = change.unwrap_or(T::zeroed());
}

/// A column of numbers that is read batch by batch.
pub(crate) enum NumberColumn<'a> {
    /// Ints.
    Int(Numbers<'a, i64>),
    /// Floats.
    Float(Numbers<'a, f64>),
}

impl<'a> NumberColumn<'a> {
    /// The numbers of some nodes; `None` when the values are no numbers of the requested type.
    /// O(changes between the first and the last node).
    pub(crate) fn new(
        part: &'a LangValues,
        expected: ValueType,
        nodes: Members<'_>,
    ) -> Option<NumberColumn<'a>> {
        let column =
            NumberColumn::with_changes(part, &NumberChanges::near(part, expected, nodes)?)?;
        Some(column.with_finder(RowFinder::of(&part.stored().subjects, nodes)))
    }

    /// The same column for nodes that a finder was made for.
    pub(crate) fn with_finder(mut self, finder: RowFinder) -> NumberColumn<'a> {
        match &mut self {
            NumberColumn::Int(numbers) => numbers.finder = finder,
            NumberColumn::Float(numbers) => numbers.finder = finder,
        }
        self
    }

    /// The numbers of a column with what changed in it; `None` when they are not of one type.
    pub(crate) fn with_changes(
        part: &'a LangValues,
        changes: &NumberChanges,
    ) -> Option<NumberColumn<'a>> {
        Some(match (&part.stored().values, changes) {
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

    /// The same column for batches from a node on, which may be read concurrently with those of
    /// others.
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

    /// The numbers of a batch, one for each node, and whether each node has one: see
    /// [`Numbers::read`].
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

    /// As [`NumberColumn::read`], of nodes in any order: see [`Numbers::read_scattered`].
    pub(crate) fn read_scattered(&mut self, nodes: &[u32]) -> (NumberSlice<'_>, &[bool]) {
        match self {
            NumberColumn::Int(numbers) => {
                let (numbers, has) = numbers.read_scattered(nodes);
                (NumberSlice::Ints(numbers), has)
            }
            NumberColumn::Float(numbers) => {
                let (numbers, has) = numbers.read_scattered(nodes);
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

    /// The number of rows that are stored.
    pub(crate) fn rows(&self) -> usize {
        match self {
            NumberColumn::Int(numbers) => numbers.subjects.len(),
            NumberColumn::Float(numbers) => numbers.subjects.len(),
        }
    }

    /// Calls `take` with the numbers of some rows as they are stored, changed or not.
    ///
    /// # Errors
    ///
    /// Those of `check`, which is called every few thousand rows.
    pub(crate) fn read_stored(
        &self,
        rows: Range<usize>,
        check: impl Fn() -> Result<()>,
        mut take: impl FnMut(NumberSlice<'_>),
    ) -> Result<()> {
        match self {
            NumberColumn::Int(numbers) => numbers.read_rows(rows, &check, &mut take),
            NumberColumn::Float(numbers) => numbers.read_rows(rows, &check, &mut take),
        }
    }

    /// Calls `take` with the numbers of some rows, in the order of their nodes; those of new nodes
    /// come with the row after them, or the last one. The changes have to be all that there are.
    ///
    /// # Errors
    ///
    /// Those of `check`, which is called every few thousand rows.
    pub(crate) fn read_part(
        &self,
        rows: Range<usize>,
        check: impl Fn() -> Result<()>,
        take: impl FnMut(NumberSlice<'_>),
    ) -> Result<()> {
        match self {
            NumberColumn::Int(numbers) => numbers.read_part(rows, check, take),
            NumberColumn::Float(numbers) => numbers.read_part(rows, check, take),
        }
    }

    /// As [`NumberColumn::read_part`] with the changes merged into what is stored, for a column of
    /// floats that are summed; any other one is not read.
    ///
    /// # Errors
    ///
    /// Those of `check`, which is called every few hundred thousand rows.
    pub(crate) fn read_patched(
        &self,
        rows: Range<usize>,
        check: impl Fn() -> Result<()>,
        take: impl FnMut(PatchedFloats<'_>),
    ) -> Result<()> {
        match self {
            NumberColumn::Int(_) => Ok(()),
            NumberColumn::Float(numbers) => numbers.read_patched(rows, check, take),
        }
    }
}
