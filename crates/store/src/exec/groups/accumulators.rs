//! The accumulators of groups: arrays by group, to which each batch of members adds. Aggregates of
//! all values of a group have lists of them.
//!
//! Floats are added up in the order of the members, as they are in a list: see [`CountedSums`].
//! Group 0 is that of members that lack a key.

use super::dense::Dense;
use crate::exec::columns::number_columns::{NumberColumn, NumberSlice};
use crate::exec::control::group_cells::{ResultCells, at};
use crate::exec::math::float_sums::CountedSums;
use crate::exec::math::holistic;
use crate::exec::math::holistic::grouped_values::GroupedValues;
use crate::exec::math::sums::{Sum, clamp};
use hexgraph_base::plan::{Aggregate, Algebraic, Holistic};
use hexgraph_base::types::{Result, Value};
use std::ops::Range;

/// The numbers of a predicate, and what is made of them.
pub(super) struct NumberAccumulators<'a> {
    pub(super) name: &'a str,
    pub(super) numbers: NumberColumn<'a>,
    pub(super) accumulators: Accumulators,
    /// The groups of a batch, with those of members without a number taken out.
    counted: Vec<u32>,
    /// In a part of the members, the floats of all of them.
    pub(super) retained: Option<GroupedValues<f64>>,
    /// In a partition of the members, whether only the presence of floats is tested.
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

/// The aggregates of the numbers of groups.
pub(super) struct Accumulators {
    /// The number of members of each group that have no number.
    lacking: Vec<u32>,
    list: Vec<Accumulator>,
}

/// One number for each group, or a list of all.
enum Accumulator {
    IntSum(Vec<i128>),
    IntMin(Vec<i64>),
    IntMax(Vec<i64>),
    FloatSum(CountedSums),
    FloatMin(Vec<f64>),
    FloatMax(Vec<f64>),
    IntValues(GroupedValues<i64>),
    FloatValues(GroupedValues<f64>),
}

impl Accumulator {
    fn new(op: Aggregate, is_int: bool) -> Accumulator {
        let op = match op {
            Aggregate::Algebraic(op) => op,
            Aggregate::Holistic(_) if is_int => {
                return Accumulator::IntValues(GroupedValues::default());
            }
            Aggregate::Holistic(_) => return Accumulator::FloatValues(GroupedValues::default()),
        };
        match (op, is_int) {
            (Algebraic::Sum | Algebraic::Avg, true) => Accumulator::IntSum(Vec::new()),
            (Algebraic::Min, true) => Accumulator::IntMin(Vec::new()),
            (Algebraic::Max, true) => Accumulator::IntMax(Vec::new()),
            (Algebraic::Sum | Algebraic::Avg, false) => {
                Accumulator::FloatSum(CountedSums::default())
            }
            (Algebraic::Min, false) => Accumulator::FloatMin(Vec::new()),
            (Algebraic::Max, false) => Accumulator::FloatMax(Vec::new()),
        }
    }

    /// An accumulator of the same kind of no numbers.
    fn emptied(&self) -> Accumulator {
        match self {
            Accumulator::IntSum(_) => Accumulator::IntSum(Vec::new()),
            Accumulator::IntMin(_) => Accumulator::IntMin(Vec::new()),
            Accumulator::IntMax(_) => Accumulator::IntMax(Vec::new()),
            Accumulator::FloatSum(_) => Accumulator::FloatSum(CountedSums::default()),
            Accumulator::FloatMin(_) => Accumulator::FloatMin(Vec::new()),
            Accumulator::FloatMax(_) => Accumulator::FloatMax(Vec::new()),
            Accumulator::IntValues(_) => Accumulator::IntValues(GroupedValues::default()),
            Accumulator::FloatValues(_) => Accumulator::FloatValues(GroupedValues::default()),
        }
    }

    /// Adds the aggregates of the ints of a partition of the members, whose groups are at these
    /// positions of the `count` groups.
    fn absorb(&mut self, part: &Accumulator, positions: &[u32], count: usize) {
        match (self, part) {
            (Accumulator::IntSum(sums), Accumulator::IntSum(part)) => {
                each(sums, 0, positions, count, part, |sum, it| sum + it);
            }
            (Accumulator::IntMin(least), Accumulator::IntMin(part)) => {
                each(least, i64::MAX, positions, count, part, i64::min);
            }
            (Accumulator::IntMax(greatest), Accumulator::IntMax(part)) => {
                each(greatest, i64::MIN, positions, count, part, i64::max);
            }
            // Where the floats of a part are retained, they are added one by one.
            (Accumulator::FloatSum(sums), Accumulator::FloatSum(part)) => sums.absorb(part),
            (Accumulator::IntValues(ints), Accumulator::IntValues(part)) => {
                ints.absorb(part, positions)
            }
            (Accumulator::FloatMin(_) | Accumulator::FloatMax(_), _)
            | (Accumulator::FloatValues(_), _) => {}
            (Accumulator::IntSum(_) | Accumulator::IntMin(_) | Accumulator::IntMax(_), _)
            | (Accumulator::FloatSum(_) | Accumulator::IntValues(_), _) => {
                unreachable!("a part has accumulators of the same kinds")
            }
        }
    }

    /// Puts the groups of an accumulator of the same kind, but for the one before the first, after
    /// these: their numbers are higher by `offset` here.
    fn append(&mut self, more: &Accumulator, offset: u32) {
        fn all<T: Copy>(accumulators: &mut Vec<T>, more: &[T]) {
            accumulators
                .extend_from_slice(&more[more.len().min(usize::from(!accumulators.is_empty()))..]);
        }
        match (self, more) {
            (Accumulator::IntSum(sums), Accumulator::IntSum(more)) => all(sums, more),
            (
                Accumulator::IntMin(ints) | Accumulator::IntMax(ints),
                Accumulator::IntMin(more) | Accumulator::IntMax(more),
            ) => {
                all(ints, more);
            }
            (Accumulator::FloatSum(sums), Accumulator::FloatSum(more)) => {
                sums.append(more, more.len().min(usize::from(sums.len() != 0)));
            }
            (
                Accumulator::FloatMin(floats) | Accumulator::FloatMax(floats),
                Accumulator::FloatMin(more) | Accumulator::FloatMax(more),
            ) => all(floats, more),
            (Accumulator::IntValues(ints), Accumulator::IntValues(more)) => {
                ints.append(more, offset)
            }
            (Accumulator::FloatValues(floats), Accumulator::FloatValues(more)) => {
                floats.append(more, offset)
            }
            (Accumulator::IntSum(_) | Accumulator::IntMin(_) | Accumulator::IntMax(_), _)
            | (Accumulator::FloatSum(_) | Accumulator::FloatMin(_), _)
            | (Accumulator::FloatMax(_) | Accumulator::IntValues(_), _)
            | (Accumulator::FloatValues(_), _) => {
                unreachable!("accumulators of the same kind are appended")
            }
        }
    }

    /// Puts the groups into another order.
    fn reorder(&mut self, order: &[u32]) {
        match self {
            Accumulator::IntSum(sums) => *sums = at(sums, order),
            Accumulator::IntMin(ints) | Accumulator::IntMax(ints) => *ints = at(ints, order),
            Accumulator::FloatSum(sums) => *sums = sums.at(order),
            Accumulator::FloatMin(floats) | Accumulator::FloatMax(floats) => {
                *floats = at(floats, order);
            }
            Accumulator::IntValues(ints) => ints.reorder(order),
            Accumulator::FloatValues(floats) => floats.reorder(order),
        }
    }

    /// Has a number for each of `count` groups.
    fn make_space(&mut self, count: usize) {
        match self {
            Accumulator::IntSum(sums) => sums.resize(count, 0),
            Accumulator::IntMin(least) => least.resize(count, i64::MAX),
            Accumulator::IntMax(greatest) => greatest.resize(count, i64::MIN),
            Accumulator::FloatSum(sums) => sums.resize(count),
            Accumulator::FloatMin(least) => least.resize(count, f64::INFINITY),
            Accumulator::FloatMax(greatest) => greatest.resize(count, f64::NEG_INFINITY),
            Accumulator::IntValues(_) | Accumulator::FloatValues(_) => {}
        }
    }

    fn is_like(&self, other: &Accumulator) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Adds the ints of a batch, each to its group.
    fn add_ints(&mut self, groups: &[u32], count: usize, ints: &[i64]) {
        match self {
            Accumulator::IntSum(sums) => {
                each(sums, 0, groups, count, ints, |sum, int| sum + i128::from(int))
            }
            Accumulator::IntMin(least) => each(least, i64::MAX, groups, count, ints, i64::min),
            Accumulator::IntMax(greatest) => {
                each(greatest, i64::MIN, groups, count, ints, i64::max)
            }
            Accumulator::IntValues(values) => values.add(groups, ints),
            Accumulator::FloatSum(_)
            | Accumulator::FloatMin(_)
            | Accumulator::FloatMax(_)
            | Accumulator::FloatValues(_) => {}
        }
    }

    /// Adds the ints of a batch, each to its group; sums are those of the caller.
    fn add_narrow(&mut self, groups: &[u32], count: usize, ints: &[i32]) {
        match self {
            Accumulator::IntMin(least) => {
                each(least, i64::MAX, groups, count, ints, |least, int| least.min(int.into()));
            }
            Accumulator::IntMax(greatest) => {
                each(greatest, i64::MIN, groups, count, ints, |most, int| most.max(int.into()));
            }
            Accumulator::IntValues(values) => values.add(groups, ints),
            Accumulator::IntSum(_)
            | Accumulator::FloatSum(_)
            | Accumulator::FloatMin(_)
            | Accumulator::FloatMax(_)
            | Accumulator::FloatValues(_) => {}
        }
    }

    /// Adds the floats of a batch, each to its group.
    fn add_floats(&mut self, groups: &[u32], count: usize, floats: &[f64]) {
        match self {
            Accumulator::FloatSum(sums) => {
                sums.resize(count);
                sums.add(groups, |group| group as usize, floats);
            }
            Accumulator::FloatMin(least) => {
                each(least, f64::INFINITY, groups, count, floats, f64::min);
            }
            Accumulator::FloatMax(greatest) => {
                each(greatest, f64::NEG_INFINITY, groups, count, floats, f64::max);
            }
            Accumulator::FloatValues(values) => values.add(groups, floats),
            Accumulator::IntSum(_)
            | Accumulator::IntMin(_)
            | Accumulator::IntMax(_)
            | Accumulator::IntValues(_) => {}
        }
    }

    /// The aggregates of some groups, each of so many numbers, at least one; `None` for aggregates
    /// of all values, for means of ints, and where a sum is refused.
    fn column(&self, op: Aggregate, groups: Range<usize>, counts: &[u32]) -> Option<ResultCells> {
        let is_sum = op == Aggregate::Algebraic(Algebraic::Sum);
        match self {
            Accumulator::IntSum(sums) if is_sum => {
                let ints: Option<_> =
                    sums[groups].iter().map(|sum| i64::try_from(*sum).ok()).collect();
                ints.map(ResultCells::of_ints)
            }
            Accumulator::IntMin(ints) | Accumulator::IntMax(ints) => {
                Some(ResultCells::of_ints(ints[groups].to_vec()))
            }
            Accumulator::FloatSum(_) | Accumulator::FloatMin(_) | Accumulator::FloatMax(_) => {
                let floats = groups.map(|group| self.float(op, group, counts[group] as usize));
                floats.collect::<Option<_>>().map(ResultCells::of_floats)
            }
            Accumulator::IntSum(_) | Accumulator::IntValues(_) | Accumulator::FloatValues(_) => {
                None
            }
        }
    }

    /// The aggregate of a group with `count` floats, at least one; `None` for ints and aggregates
    /// of all values.
    fn float(&self, op: Aggregate, group: usize, count: usize) -> Option<f64> {
        let is_mean = op == Aggregate::Algebraic(Algebraic::Avg);
        Some(clamp(match self {
            Accumulator::FloatMin(floats) | Accumulator::FloatMax(floats) => floats[group],
            Accumulator::FloatSum(sums) if is_mean => sums.total(group) / count as f64,
            Accumulator::FloatSum(sums) => sums.total(group),
            Accumulator::IntSum(_) | Accumulator::IntMin(_) | Accumulator::IntMax(_) => {
                return None;
            }
            Accumulator::IntValues(_) | Accumulator::FloatValues(_) => return None,
        }))
    }

    /// The aggregate of a group with `count` members, at least one, that have a number.
    fn result(&self, op: Aggregate, group: usize, count: usize) -> Result<Option<Value>> {
        let op = match op {
            Aggregate::Algebraic(op) => op,
            Aggregate::Holistic(op) => return Ok(self.of_values(op, group)),
        };
        match self {
            Accumulator::IntMin(ints) | Accumulator::IntMax(ints) => {
                Ok(Some(Value::Int(ints[group])))
            }
            Accumulator::IntSum(sums) => {
                let sum = Sum::of_int_total(sums[group], count);
                if op == Algebraic::Avg { Ok(sum.mean()) } else { sum.value().map(Some) }
            }
            Accumulator::FloatSum(_) | Accumulator::FloatMin(_) | Accumulator::FloatMax(_) => {
                Ok(self.float(Aggregate::Algebraic(op), group, count).map(Value::Float))
            }
            Accumulator::IntValues(_) | Accumulator::FloatValues(_) => Ok(None),
        }
    }

    /// The aggregate of all values of a group, where it has a list of them.
    fn of_values(&self, op: Holistic, group: usize) -> Option<Value> {
        if let Accumulator::IntValues(ints) = self {
            return holistic::of_ints(op, ints.of(group).into());
        }
        let Accumulator::FloatValues(floats) = self else { return None };
        holistic::of_floats(op, floats.of(group).into())
    }

    /// Sorts the values of `count` groups, where there is a list of them.
    fn sort_values(&mut self, count: usize) {
        if let Accumulator::IntValues(ints) = self {
            ints.sort(count);
        } else if let Accumulator::FloatValues(floats) = self {
            floats.sort(count);
        }
    }

    /// The number of values in a list.
    fn values(&self) -> usize {
        if let Accumulator::IntValues(ints) = self {
            return ints.len();
        }
        if let Accumulator::FloatValues(floats) = self { floats.len() } else { 0 }
    }
}

/// The bytes that the numbers of a group take, in lists that double.
pub(super) fn accumulator_bytes(columns: &[NumberAccumulators<'_>]) -> usize {
    let of_column = |column: &NumberAccumulators<'_>| 2 * (4 + 16 * column.accumulators.list.len());
    columns.iter().map(of_column).sum()
}

/// Combines each item of a batch with the number of its group. There are `count` groups now; new
/// ones begin with `start`.
pub(super) fn each<T: Copy, N: Copy>(
    accumulators: &mut Vec<T>,
    start: T,
    groups: &[u32],
    count: usize,
    items: &[N],
    combine: impl Fn(T, N) -> T,
) {
    accumulators.resize(count, start);
    for (group, item) in groups.iter().zip(items) {
        let accumulators = &mut accumulators[*group as usize];
        *accumulators = combine(*accumulators, *item);
    }
}

impl Accumulators {
    /// The position of an accumulator in the list, to which it is added where there is none like
    /// it.
    fn position_of(&mut self, op: Aggregate, is_int: bool) -> usize {
        let accumulator = Accumulator::new(op, is_int);
        let existing = self.list.iter().position(|other| other.is_like(&accumulator));
        existing.unwrap_or_else(|| {
            self.list.push(accumulator);
            self.list.len() - 1
        })
    }

    /// The same of no members.
    fn emptied(&self) -> Accumulators {
        Accumulators {
            lacking: Vec::new(),
            list: self.list.iter().map(Accumulator::emptied).collect(),
        }
    }

    /// Puts the groups of others, but for the one before the first, after these.
    pub(super) fn append(&mut self, more: &Accumulators) {
        // Of no members there are no numbers yet, not even of the group before the first.
        let first = usize::from(!self.lacking.is_empty()).min(more.lacking.len());
        let offset = self.lacking.len().saturating_sub(first) as u32;
        self.lacking.extend_from_slice(&more.lacking[first..]);
        self.list
            .iter_mut()
            .zip(&more.list)
            .for_each(|(accumulator, more)| accumulator.append(more, offset));
    }

    /// Puts the groups into another order: those at the given positions.
    pub(super) fn reorder(&mut self, order: &[u32]) {
        self.lacking = at(&self.lacking, order);
        self.list.iter_mut().for_each(|accumulator| accumulator.reorder(order));
    }

    /// Sorts lists of values by their groups: when the groups are complete, and before their
    /// results.
    pub(super) fn sort_values(&mut self, count: usize) {
        self.list.iter_mut().for_each(|accumulator| accumulator.sort_values(count));
    }

    /// The mean number of values that are read for the result of one of `count` groups.
    pub(super) fn values_of_each(&self, accumulator: usize, count: usize) -> usize {
        self.list[accumulator].values() / count.max(1)
    }

    /// The results of some groups, with these `counts` of members; `None` where one is refused.
    pub(super) fn results(
        &self,
        accumulator: usize,
        op: Aggregate,
        groups: Range<usize>,
        counts: &[u32],
    ) -> Option<ResultCells> {
        if self.lacking[groups.clone()].iter().all(|lacking| *lacking == 0)
            && let Some(cells) = self.list[accumulator].column(op, groups.clone(), counts)
        {
            return Some(cells);
        }
        let mut cells = ResultCells::default();
        for group in groups {
            let result = self.result(accumulator, op, group, counts[group] as usize).ok()?;
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
        accumulator: usize,
        op: Aggregate,
        group: usize,
        count: usize,
    ) -> Result<Option<Value>> {
        match count - self.lacking[group] as usize {
            0 => Ok(holistic::of_none(op)),
            count => self.list[accumulator].result(op, group, count),
        }
    }
}

impl<'a> NumberAccumulators<'a> {
    /// The numbers of a predicate, before any aggregation.
    pub(super) fn new(name: &'a str, numbers: NumberColumn<'a>) -> NumberAccumulators<'a> {
        let accumulators = Accumulators { lacking: Vec::new(), list: Vec::new() };
        NumberAccumulators {
            name,
            numbers,
            accumulators,
            counted: Vec::new(),
            retained: None,
            leaves_floats: false,
        }
    }

    /// The position of an accumulator in the list, to which it is added where there is none like
    /// it.
    pub(super) fn position_of(&mut self, op: Aggregate) -> usize {
        self.accumulators.position_of(op, matches!(self.numbers, NumberColumn::Int(_)))
    }

    /// The same for batches of nodes from `first` on, which has seen none. With `retains`, floats
    /// are retained and not added up.
    pub(super) fn fork(&self, first: u32, retains: bool) -> NumberAccumulators<'a> {
        let retains = retains && matches!(self.numbers, NumberColumn::Float(_));
        NumberAccumulators {
            name: self.name,
            numbers: self.numbers.fork(first),
            accumulators: self.accumulators.emptied(),
            counted: Vec::new(),
            retained: retains.then(GroupedValues::default),
            leaves_floats: false,
        }
    }

    /// Adds the numbers of a batch to the groups of its nodes.
    pub(super) fn add(&mut self, nodes: &[u32], groups: &[u32], count: usize) {
        let NumberAccumulators { numbers, accumulators, counted, retained, leaves_floats, .. } =
            self;
        let (numbers, has) = numbers.read(nodes);
        accumulators.lacking.resize(count, 0);
        let groups = counted_groups(groups, has, &mut accumulators.lacking, counted);
        match (numbers, retained) {
            (NumberSlice::Floats(floats), Some(retained)) => {
                retained.add(groups, floats);
            }
            (NumberSlice::Floats(_), None) if *leaves_floats => {}
            (numbers, _) => accumulators.add(groups, count, numbers),
        }
    }

    /// The bytes of lists of the values of so many members.
    pub(super) fn value_bytes(&self, members: usize) -> usize {
        let is_list = |accumulator: &&Accumulator| {
            matches!(accumulator, Accumulator::IntValues(_) | Accumulator::FloatValues(_))
        };
        self.accumulators.list.iter().filter(is_list).count()
            * GroupedValues::<f64>::BYTES
            * members
    }

    /// Whether the numbers are floats.
    pub(super) fn are_floats(&self) -> bool {
        matches!(self.numbers, NumberColumn::Float(_))
    }

    /// Whether nothing but sums is made of the numbers.
    pub(super) fn has_only_sums(&self) -> bool {
        self.accumulators.list.iter().all(|accumulator| {
            matches!(accumulator, Accumulator::IntSum(_) | Accumulator::FloatSum(_))
        })
    }

    /// Leaves the floats of a part to another pass; members without one are marked.
    pub(super) fn leave_floats(&mut self) {
        (self.retained, self.leaves_floats) = (None, true);
    }

    /// Adds up the floats of a part after so many floats of each group.
    pub(super) fn begin_behind(&mut self, counts: &[u32]) {
        self.retained = None;
        for accumulator in &mut self.accumulators.list {
            if let Accumulator::FloatSum(sums) = accumulator {
                *sums = CountedSums::behind(counts);
            }
        }
    }

    /// Adds the numbers of members of groups that have a float, of those that were counted.
    pub(super) fn add_float_counts(&self, members: &[u32], counts: &mut [u32]) {
        counts.iter_mut().zip(members).for_each(|(count, members)| *count += members);
        let lacking = &self.accumulators.lacking;
        counts.iter_mut().zip(lacking).for_each(|(count, lacking)| *count -= lacking);
        // Those who have none are put into the first group.
        counts[0] += lacking.iter().sum::<u32>();
    }

    /// Has numbers for `count` groups.
    pub(super) fn make_space(&mut self, count: usize) {
        self.accumulators.lacking.resize(count, 0);
        self.accumulators.list.iter_mut().for_each(|accumulator| accumulator.make_space(count));
    }

    /// The sums of the ints of `count` groups, if the sums are requested.
    pub(super) fn int_sums(&mut self, count: usize) -> &mut [i128] {
        let sums = self.accumulators.list.iter_mut().find_map(|accumulator| {
            if let Accumulator::IntSum(sums) = accumulator { Some(sums) } else { None }
        });
        let sums = sums.expect("sums of ints are asked");
        sums.resize(count, 0);
        sums
    }

    /// Whether floats are added up here, which counts the members that have one.
    pub(super) fn counts_floats(&self) -> bool {
        let is_sum = |accumulator: &Accumulator| matches!(accumulator, Accumulator::FloatSum(_));
        self.retained.is_none() && !self.leaves_floats && self.accumulators.list.iter().any(is_sum)
    }

    /// The sums of the floats of `count` groups, if the sums are requested.
    pub(super) fn float_sums(&mut self, count: usize) -> &mut CountedSums {
        let sums = self.accumulators.list.iter_mut().find_map(|accumulator| {
            if let Accumulator::FloatSum(sums) = accumulator { Some(sums) } else { None }
        });
        let sums = sums.expect("sums of floats are asked");
        sums.resize(count);
        sums
    }

    /// Returns the numbers of members of groups, where the sums of their floats
    /// [count](NumberAccumulators::counts_floats) those who have one.
    pub(super) fn tell_counts(&mut self, counts: &mut [u32]) {
        let sums = self.float_sums(counts.len());
        counts.iter_mut().zip(sums.counts()).for_each(|(count, floats)| *count = floats);
        let lacking = &self.accumulators.lacking;
        counts.iter_mut().zip(lacking).for_each(|(count, lacking)| *count += lacking);
    }

    /// The numbers of a batch if only their sum is requested, all nodes have one, and they lie
    /// contiguously as they are.
    pub(super) fn plain_to_sum(&mut self, nodes: &[u32]) -> Option<PlainNumbers<'a>> {
        let [Accumulator::IntSum(_) | Accumulator::FloatSum(_)] = self.accumulators.list.as_slice()
        else {
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

    /// As [`NumberAccumulators::add`], where ints of 32 bits are added up: counts and sums of the
    /// cells lie together in words. Returns false, and adds nothing, where none are.
    pub(super) fn pack(&mut self, nodes: &[u32], cells: &[u32], dense: &mut Dense) -> bool {
        let NumberAccumulators { numbers, accumulators, counted, .. } = self;
        let is_sum = |accumulator: &Accumulator| matches!(accumulator, Accumulator::IntSum(_));
        let NumberColumn::Int(ints) = numbers else { return false };
        if !accumulators.list.iter().any(is_sum) {
            return false;
        }
        let Some((ints, has)) = ints.read_narrow(nodes) else { return false };
        // Who has no number is counted, and adds nothing.
        dense.pack(cells, |cell| cell, ints);
        accumulators.lacking.resize(dense.len(), 0);
        let cells = counted_groups(cells, has, &mut accumulators.lacking, counted);
        let others = accumulators.list.iter_mut().filter(|accumulator| !is_sum(accumulator));
        others.for_each(|accumulator| accumulator.add_narrow(cells, dense.len(), ints));
        true
    }

    /// As [`NumberAccumulators::add`], of nodes in any order.
    pub(super) fn add_scattered(&mut self, nodes: &[u32], groups: &[u32], count: usize) {
        let NumberAccumulators { numbers, accumulators, counted, .. } = self;
        let (numbers, has) = numbers.read_scattered(nodes);
        accumulators.lacking.resize(count, 0);
        let groups = counted_groups(groups, has, &mut accumulators.lacking, counted);
        accumulators.add(groups, count, numbers);
    }

    /// Adds the numbers of the next part of the members, whose groups are at these positions of the
    /// `count` groups.
    pub(super) fn absorb(&mut self, part: NumberAccumulators<'_>, positions: &[u32], count: usize) {
        let accumulators = &mut self.accumulators;
        each(
            &mut accumulators.lacking,
            0,
            positions,
            count,
            &part.accumulators.lacking,
            |sum, it| sum + it,
        );
        for (accumulator, part) in accumulators.list.iter_mut().zip(&part.accumulators.list) {
            accumulator.absorb(part, positions, count);
        }
        let Some(retained) = part.retained else { return };
        for (groups, floats) in retained.batches() {
            self.counted.clear();
            self.counted.extend(groups.iter().map(|group| positions[*group as usize]));
            accumulators.add(&self.counted, count, NumberSlice::Floats(floats));
        }
    }
}

impl Accumulators {
    /// Adds the numbers of a batch, each to its group.
    fn add(&mut self, groups: &[u32], count: usize, numbers: NumberSlice<'_>) {
        match numbers {
            NumberSlice::Ints(ints) => {
                self.list
                    .iter_mut()
                    .for_each(|accumulator| accumulator.add_ints(groups, count, ints));
            }
            NumberSlice::Floats(floats) => {
                self.list
                    .iter_mut()
                    .for_each(|accumulator| accumulator.add_floats(groups, count, floats));
            }
            NumberSlice::Narrow(_) => unreachable!("a batch is read in 64 bits"),
        }
    }
}

/// The groups of nodes with those that have no number in group 0; they are counted in `lacking`. An
/// empty list `has` says that all have one.
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
