//! What the numbers of the members of groups come to: arrays by group, to which each batch of members adds.
//!
//! Floats are added up in the order of the members, as they are in a list: see [`CountedSums`]. Group 0 is that of members that lack a key.

use super::dense::Dense;
use crate::exec::control::group_cells::ResultCells;
use crate::exec::math::float_sums::CountedSums;
use crate::exec::math::sums::{Sum, clamp};
use crate::exec::select::batches::BATCH;
use crate::exec::select::number_columns::{NumberColumn, NumberSlice};
use hexgraph_base::plan::Aggregate;
use hexgraph_base::types::{Result, Value};
use std::ops::Range;

/// The numbers of a predicate, and what is made of them.
pub(super) struct NumberFolds<'a> {
    pub(super) name: &'a str,
    pub(super) numbers: NumberColumn<'a>,
    pub(super) folded: Folded,
    /// The groups of a batch, with those of members without a number taken out.
    counted: Vec<u32>,
    /// In a part of the members, the floats of all of them.
    pub(super) retained: Option<RetainedFloats>,
    /// In a part of the members, whether floats are only asked whether they are there.
    leaves_floats: bool,
}

/// Numbers as they lie in their column.
#[derive(Clone, Copy)]
pub(super) enum PlainNumbers<'a> {
    /// Ints of 32 bits.
    Ints(&'a [i32]),
    Floats(&'a [f64]),
    /// Floats that are left to another pass.
    Left,
}

/// What the numbers of groups come to.
pub(super) struct Folded {
    /// The number of members of each group that have no number.
    lacking: Vec<u32>,
    folds: Vec<Fold>,
}

/// The floats of some members in their order, and their groups.
#[derive(Default)]
pub(super) struct RetainedFloats {
    groups: Vec<u32>,
    floats: Vec<f64>,
}

/// One number for each group.
enum Fold {
    IntSum(Vec<i128>),
    IntMin(Vec<i64>),
    IntMax(Vec<i64>),
    FloatSum(CountedSums),
    FloatMin(Vec<f64>),
    FloatMax(Vec<f64>),
}

impl Fold {
    fn new(op: Aggregate, is_int: bool) -> Fold {
        match (op, is_int) {
            (Aggregate::Sum | Aggregate::Avg, true) => Fold::IntSum(Vec::new()),
            (Aggregate::Min, true) => Fold::IntMin(Vec::new()),
            (Aggregate::Max, true) => Fold::IntMax(Vec::new()),
            (Aggregate::Sum | Aggregate::Avg, false) => Fold::FloatSum(CountedSums::default()),
            (Aggregate::Min, false) => Fold::FloatMin(Vec::new()),
            (Aggregate::Max, false) => Fold::FloatMax(Vec::new()),
        }
    }

    /// A fold of the same kind of no numbers.
    fn emptied(&self) -> Fold {
        match self {
            Fold::IntSum(_) => Fold::IntSum(Vec::new()),
            Fold::IntMin(_) => Fold::IntMin(Vec::new()),
            Fold::IntMax(_) => Fold::IntMax(Vec::new()),
            Fold::FloatSum(_) => Fold::FloatSum(CountedSums::default()),
            Fold::FloatMin(_) => Fold::FloatMin(Vec::new()),
            Fold::FloatMax(_) => Fold::FloatMax(Vec::new()),
        }
    }

    /// Adds what the ints of a part of the members come to, whose groups are at these positions of the `count` groups.
    fn absorb(&mut self, part: &Fold, positions: &[u32], count: usize) {
        match (self, part) {
            (Fold::IntSum(sums), Fold::IntSum(part)) => {
                each(sums, 0, positions, count, part, |sum, it| sum + it);
            }
            (Fold::IntMin(least), Fold::IntMin(part)) => {
                each(least, i64::MAX, positions, count, part, i64::min);
            }
            (Fold::IntMax(greatest), Fold::IntMax(part)) => {
                each(greatest, i64::MIN, positions, count, part, i64::max);
            }
            // Where the floats of a part are retained, they are added one by one.
            (Fold::FloatSum(sums), Fold::FloatSum(part)) => sums.absorb(part),
            _ => {}
        }
    }

    /// Puts the groups of a fold of the same kind, but for the one before the first, behind these.
    fn append(&mut self, more: &Fold) {
        fn all<T: Copy>(folded: &mut Vec<T>, more: &[T]) {
            folded.extend_from_slice(&more[more.len().min(usize::from(!folded.is_empty()))..]);
        }
        match (self, more) {
            (Fold::IntSum(sums), Fold::IntSum(more)) => all(sums, more),
            (Fold::IntMin(ints) | Fold::IntMax(ints), Fold::IntMin(more) | Fold::IntMax(more)) => {
                all(ints, more);
            }
            (Fold::FloatSum(sums), Fold::FloatSum(more)) => {
                sums.append(more, more.len().min(usize::from(sums.len() != 0)));
            }
            (
                Fold::FloatMin(floats) | Fold::FloatMax(floats),
                Fold::FloatMin(more) | Fold::FloatMax(more),
            ) => all(floats, more),
            _ => {}
        }
    }

    /// The same groups in another order.
    fn in_order(&self, order: &[u32]) -> Fold {
        match self {
            Fold::IntSum(sums) => Fold::IntSum(at(sums, order)),
            Fold::IntMin(ints) => Fold::IntMin(at(ints, order)),
            Fold::IntMax(ints) => Fold::IntMax(at(ints, order)),
            Fold::FloatSum(sums) => Fold::FloatSum(sums.at(order)),
            Fold::FloatMin(floats) => Fold::FloatMin(at(floats, order)),
            Fold::FloatMax(floats) => Fold::FloatMax(at(floats, order)),
        }
    }

    /// Has a number for each of `count` groups.
    fn make_space(&mut self, count: usize) {
        match self {
            Fold::IntSum(sums) => sums.resize(count, 0),
            Fold::IntMin(least) => least.resize(count, i64::MAX),
            Fold::IntMax(greatest) => greatest.resize(count, i64::MIN),
            Fold::FloatSum(sums) => sums.resize(count),
            Fold::FloatMin(least) => least.resize(count, f64::INFINITY),
            Fold::FloatMax(greatest) => greatest.resize(count, f64::NEG_INFINITY),
        }
    }

    fn is_like(&self, other: &Fold) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Adds the ints of a batch, each to its group.
    fn add_ints(&mut self, groups: &[u32], count: usize, ints: &[i64]) {
        match self {
            Fold::IntSum(sums) => {
                each(sums, 0, groups, count, ints, |sum, int| sum + i128::from(int))
            }
            Fold::IntMin(least) => each(least, i64::MAX, groups, count, ints, i64::min),
            Fold::IntMax(greatest) => each(greatest, i64::MIN, groups, count, ints, i64::max),
            _ => {}
        }
    }

    /// The least and the greatest of the ints of a batch, each of its group; sums are those of the caller.
    fn add_narrow(&mut self, groups: &[u32], count: usize, ints: &[i32]) {
        match self {
            Fold::IntMin(least) => {
                each(least, i64::MAX, groups, count, ints, |least, int| least.min(int.into()));
            }
            Fold::IntMax(greatest) => {
                each(greatest, i64::MIN, groups, count, ints, |most, int| most.max(int.into()));
            }
            _ => {}
        }
    }

    /// Adds the floats of a batch, each to its group.
    fn add_floats(&mut self, groups: &[u32], count: usize, floats: &[f64]) {
        match self {
            Fold::FloatSum(sums) => {
                sums.resize(count);
                sums.add(groups, |group| group as usize, floats);
            }
            Fold::FloatMin(least) => {
                each(least, f64::INFINITY, groups, count, floats, f64::min);
            }
            Fold::FloatMax(greatest) => {
                each(greatest, f64::NEG_INFINITY, groups, count, floats, f64::max);
            }
            _ => {}
        }
    }

    /// The aggregates of some groups, all of which have a number, where they are ints; `None` also where a sum is refused.
    fn ints(&self, op: Aggregate, groups: Range<usize>) -> Option<Vec<i64>> {
        match self {
            Fold::IntSum(sums) if op == Aggregate::Sum => {
                sums[groups].iter().map(|sum| i64::try_from(*sum).ok()).collect()
            }
            Fold::IntMin(ints) | Fold::IntMax(ints) => Some(ints[groups].to_vec()),
            _ => None,
        }
    }

    /// The aggregate of a group of which `count` members, one at least, have a number.
    fn result(&self, op: Aggregate, group: usize, count: usize) -> Result<Option<Value>> {
        let sum = match self {
            Fold::IntMin(ints) | Fold::IntMax(ints) => return Ok(Some(Value::Int(ints[group]))),
            Fold::FloatMin(floats) | Fold::FloatMax(floats) => {
                return Ok(Some(Value::Float(clamp(floats[group]))));
            }
            Fold::IntSum(sums) => Sum::of_int_total(sums[group], count),
            Fold::FloatSum(sums) => Sum::of_float_total(sums.total(group), count),
        };
        if op == Aggregate::Avg { Ok(sum.mean()) } else { sum.value().map(Some) }
    }
}

/// The bytes that the numbers of a group take, in lists that double.
pub(super) fn folded_bytes(columns: &[NumberFolds<'_>]) -> usize {
    let of_column = |column: &NumberFolds<'_>| 2 * (4 + 16 * column.folded.folds.len());
    columns.iter().map(of_column).sum()
}

/// Combines each item of a batch with the number of its group. There are `count` groups now; new ones begin with `start`.
pub(super) fn each<T: Copy, N: Copy>(
    folded: &mut Vec<T>,
    start: T,
    groups: &[u32],
    count: usize,
    items: &[N],
    combine: impl Fn(T, N) -> T,
) {
    folded.resize(count, start);
    for (group, item) in groups.iter().zip(items) {
        let folded = &mut folded[*group as usize];
        *folded = combine(*folded, *item);
    }
}

impl Folded {
    /// The place of a fold among the folds, which is made where there is none like it.
    fn position_of(&mut self, op: Aggregate, is_int: bool) -> usize {
        let fold = Fold::new(op, is_int);
        let existing = self.folds.iter().position(|other| other.is_like(&fold));
        existing.unwrap_or_else(|| {
            self.folds.push(fold);
            self.folds.len() - 1
        })
    }

    /// The same of no members.
    fn emptied(&self) -> Folded {
        Folded { lacking: Vec::new(), folds: self.folds.iter().map(Fold::emptied).collect() }
    }

    /// Puts the groups of others, but for the one before the first, behind these.
    pub(super) fn append(&mut self, more: &Folded) {
        // Of no members there are no numbers yet, not even of the group before the first.
        let first = usize::from(!self.lacking.is_empty()).min(more.lacking.len());
        self.lacking.extend_from_slice(&more.lacking[first..]);
        self.folds.iter_mut().zip(&more.folds).for_each(|(fold, more)| fold.append(more));
    }

    /// The same groups in another order: those at the given positions.
    pub(super) fn in_order(&self, order: &[u32]) -> Folded {
        let folds = self.folds.iter().map(|fold| fold.in_order(order)).collect();
        Folded { lacking: at(&self.lacking, order), folds }
    }

    /// The results of some groups, of which `counts` are the numbers of members; `None` where one is refused.
    pub(super) fn results(
        &self,
        fold: usize,
        op: Aggregate,
        groups: Range<usize>,
        counts: &[u32],
    ) -> Option<ResultCells> {
        if self.lacking[groups.clone()].iter().all(|lacking| *lacking == 0)
            && let Some(ints) = self.folds[fold].ints(op, groups.clone())
        {
            return Some(ResultCells::of_ints(ints));
        }
        let mut cells = ResultCells::default();
        for group in groups {
            let result = self.result(fold, op, group, counts[group] as usize).ok()?;
            if !cells.push(result) {
                return None;
            }
        }
        Some(cells)
    }

    /// The result of a group with so many members; `None` where none of them has a number.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Query`] for a sum of ints that is no 64-bit int.
    pub(super) fn result(
        &self,
        fold: usize,
        op: Aggregate,
        group: usize,
        count: usize,
    ) -> Result<Option<Value>> {
        match count - self.lacking[group] as usize {
            0 => Ok(None),
            count => self.folds[fold].result(op, group, count),
        }
    }
}

impl<'a> NumberFolds<'a> {
    /// The numbers of a predicate, of which nothing is made yet.
    pub(super) fn new(name: &'a str, numbers: NumberColumn<'a>) -> NumberFolds<'a> {
        let folded = Folded { lacking: Vec::new(), folds: Vec::new() };
        NumberFolds {
            name,
            numbers,
            folded,
            counted: Vec::new(),
            retained: None,
            leaves_floats: false,
        }
    }

    /// The place of a fold among the folds, which is made where there is none like it.
    pub(super) fn position_of(&mut self, op: Aggregate) -> usize {
        self.folded.position_of(op, matches!(self.numbers, NumberColumn::Int(_)))
    }

    /// The same for batches of nodes from `first` on, which has seen none. With `retains`, floats are retained and not added up.
    pub(super) fn fork(&self, first: u32, retains: bool) -> NumberFolds<'a> {
        let retains = retains && matches!(self.numbers, NumberColumn::Float(_));
        NumberFolds {
            name: self.name,
            numbers: self.numbers.fork(first),
            folded: self.folded.emptied(),
            counted: Vec::new(),
            retained: retains.then(RetainedFloats::default),
            leaves_floats: false,
        }
    }

    /// Adds the numbers of a batch to the groups of its nodes.
    pub(super) fn add(&mut self, nodes: &[u32], groups: &[u32], count: usize) {
        let NumberFolds { numbers, folded, counted, retained, leaves_floats, .. } = self;
        let (numbers, has) = numbers.read(nodes);
        folded.lacking.resize(count, 0);
        let groups = counted_groups(groups, has, &mut folded.lacking, counted);
        match (numbers, retained) {
            (NumberSlice::Floats(floats), Some(retained)) => {
                retained.groups.extend_from_slice(groups);
                retained.floats.extend_from_slice(floats);
            }
            (NumberSlice::Floats(_), None) if *leaves_floats => {}
            (numbers, _) => folded.add(groups, count, numbers),
        }
    }

    /// Whether the numbers are floats.
    pub(super) fn are_floats(&self) -> bool {
        matches!(self.numbers, NumberColumn::Float(_))
    }

    /// Whether nothing but sums is made of the numbers.
    pub(super) fn has_only_sums(&self) -> bool {
        self.folded.folds.iter().all(|fold| matches!(fold, Fold::IntSum(_) | Fold::FloatSum(_)))
    }

    /// Leaves the floats of a part to another pass; those who have none are told apart.
    pub(super) fn leave_floats(&mut self) {
        (self.retained, self.leaves_floats) = (None, true);
    }

    /// Adds up the floats of a part behind so many floats of each group.
    pub(super) fn begin_behind(&mut self, counts: &[u32]) {
        self.retained = None;
        for fold in &mut self.folded.folds {
            if let Fold::FloatSum(sums) = fold {
                *sums = CountedSums::behind(counts);
            }
        }
    }

    /// Adds the numbers of members of groups that have a float, of those that were counted.
    pub(super) fn add_float_counts(&self, members: &[u32], counts: &mut [u32]) {
        counts.iter_mut().zip(members).for_each(|(count, members)| *count += members);
        let lacking = &self.folded.lacking;
        counts.iter_mut().zip(lacking).for_each(|(count, lacking)| *count -= lacking);
        // Those who have none are put into the first group.
        counts[0] += lacking.iter().sum::<u32>();
    }

    /// Has numbers for `count` groups.
    pub(super) fn make_space(&mut self, count: usize) {
        self.folded.lacking.resize(count, 0);
        self.folded.folds.iter_mut().for_each(|fold| fold.make_space(count));
    }

    /// The sums of the ints of `count` groups, which have to be asked.
    pub(super) fn int_sums(&mut self, count: usize) -> &mut [i128] {
        let sums = self.folded.folds.iter_mut().find_map(|fold| match fold {
            Fold::IntSum(sums) => Some(sums),
            _ => None,
        });
        let sums = sums.expect("sums of ints are asked");
        sums.resize(count, 0);
        sums
    }

    /// Whether floats are added up here, which counts the members that have one.
    pub(super) fn counts_floats(&self) -> bool {
        let is_sum = |fold: &Fold| matches!(fold, Fold::FloatSum(_));
        self.retained.is_none() && !self.leaves_floats && self.folded.folds.iter().any(is_sum)
    }

    /// The sums of the floats of `count` groups, which have to be asked.
    pub(super) fn float_sums(&mut self, count: usize) -> &mut CountedSums {
        let sums = self.folded.folds.iter_mut().find_map(|fold| match fold {
            Fold::FloatSum(sums) => Some(sums),
            _ => None,
        });
        let sums = sums.expect("sums of floats are asked");
        sums.resize(count);
        sums
    }

    /// Tells the numbers of members of groups, where the sums of their floats [count](NumberFolds::counts_floats) those who have one.
    pub(super) fn tell_counts(&mut self, counts: &mut [u32]) {
        let sums = self.float_sums(counts.len());
        counts.iter_mut().zip(sums.counts()).for_each(|(count, floats)| *count = floats);
        let lacking = &self.folded.lacking;
        counts.iter_mut().zip(lacking).for_each(|(count, lacking)| *count += lacking);
    }

    /// The numbers of a batch where nothing but their sum is asked, all nodes have one, and they lie contiguously as they are.
    pub(super) fn plain_to_sum(&mut self, nodes: &[u32]) -> Option<PlainNumbers<'a>> {
        let [Fold::IntSum(_) | Fold::FloatSum(_)] = self.folded.folds.as_slice() else {
            return None;
        };
        match &mut self.numbers {
            NumberColumn::Int(ints) => ints.narrow(nodes).map(PlainNumbers::Ints),
            NumberColumn::Float(floats) if self.retained.is_none() => {
                let floats = floats.plain(nodes)?;
                Some(if self.leaves_floats {
                    PlainNumbers::Left
                } else {
                    PlainNumbers::Floats(floats)
                })
            }
            NumberColumn::Float(_) => None,
        }
    }

    /// As [`NumberFolds::add`], where ints of 32 bits are added up: counts and sums of the cells lie together in words. Returns false, and adds
    /// nothing, where none are.
    pub(super) fn pack(&mut self, nodes: &[u32], cells: &[u32], dense: &mut Dense) -> bool {
        let NumberFolds { numbers, folded, counted, .. } = self;
        let is_sum = |fold: &Fold| matches!(fold, Fold::IntSum(_));
        let NumberColumn::Int(ints) = numbers else { return false };
        if !folded.folds.iter().any(is_sum) {
            return false;
        }
        let Some((ints, has)) = ints.read_narrow(nodes) else { return false };
        // Who has no number is counted, and adds nothing.
        dense.pack(cells, |cell| cell, ints);
        folded.lacking.resize(dense.len(), 0);
        let cells = counted_groups(cells, has, &mut folded.lacking, counted);
        let others = folded.folds.iter_mut().filter(|fold| !is_sum(fold));
        others.for_each(|fold| fold.add_narrow(cells, dense.len(), ints));
        true
    }

    /// As [`NumberFolds::add`], of nodes in any order.
    pub(super) fn add_scattered(&mut self, nodes: &[u32], groups: &[u32], count: usize) {
        let NumberFolds { numbers, folded, counted, .. } = self;
        let (numbers, has) = numbers.read_scattered(nodes);
        folded.lacking.resize(count, 0);
        let groups = counted_groups(groups, has, &mut folded.lacking, counted);
        folded.add(groups, count, numbers);
    }

    /// Adds the numbers of the next part of the members, whose groups are at these positions of the `count` groups.
    pub(super) fn absorb(&mut self, part: NumberFolds<'_>, positions: &[u32], count: usize) {
        let folded = &mut self.folded;
        each(&mut folded.lacking, 0, positions, count, &part.folded.lacking, |sum, it| sum + it);
        for (fold, part) in folded.folds.iter_mut().zip(&part.folded.folds) {
            fold.absorb(part, positions, count);
        }
        let Some(RetainedFloats { groups, floats }) = part.retained else { return };
        for (groups, floats) in groups.chunks(BATCH).zip(floats.chunks(BATCH)) {
            self.counted.clear();
            self.counted.extend(groups.iter().map(|group| positions[*group as usize]));
            folded.add(&self.counted, count, NumberSlice::Floats(floats));
        }
    }
}

impl Folded {
    /// Adds the numbers of a batch, each to its group.
    fn add(&mut self, groups: &[u32], count: usize, numbers: NumberSlice<'_>) {
        match numbers {
            NumberSlice::Ints(ints) => {
                self.folds.iter_mut().for_each(|fold| fold.add_ints(groups, count, ints));
            }
            NumberSlice::Floats(floats) => {
                self.folds.iter_mut().for_each(|fold| fold.add_floats(groups, count, floats));
            }
            NumberSlice::Narrow(_) => unreachable!("a batch is read in 64 bits"),
        }
    }
}

/// The groups of nodes with those that have no number in group 0; they are counted in `lacking`. An empty list `has` says that
/// all have one.
fn counted_groups<'g>(
    groups: &'g [u32],
    has: &[bool],
    lacking: &mut [u32],
    counted: &'g mut Vec<u32>,
) -> &'g [u32] {
    if has.is_empty() {
        return groups;
    }
    counted.clear();
    counted.extend(groups.iter().zip(has).map(|(&group, &has)| {
        lacking[group as usize] += u32::from(!has);
        if has { group } else { 0 }
    }));
    counted
}

/// The items at some positions.
fn at<T: Copy>(items: &[T], positions: &[u32]) -> Vec<T> {
    positions.iter().map(|&position| items[position as usize]).collect()
}
