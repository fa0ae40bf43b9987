//! Groups of the bindings of a join: each thread groups chunks by cells, and the groups of the
//! chunks are merged in their order. Chunks have the same bindings with any number of threads, so
//! that sums of floats have the same bits.

use super::batch::{CellBatch, passing_rows};
use super::bits::is_valid;
use super::cell::{Cell, Decided, Undecided};
use super::chunk::Chunk;
use super::compile::{BoundSlots, CellOperator, Compiler};
use super::vector::Vector;
use crate::execute::adjacency::Adjacency;
use crate::execute::plan::{Aggregate, Expression, JoinPlan, SlotIndex};
use crate::execute::run::{Execution, Reservation, Row};
use hexgraph_base::types::Result;
use hexgraph_scalar::{Accumulator, Context, Value};
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::slice;

/// The bindings of a chunk: their cells fit the caches.
const CHUNK: usize = 1 << 12;

/// With more groups than this of a chunk, merging costs about as much as grouping.
const GROUPS_MAX: usize = CHUNK / 4;

/// The groups so far, by keys and aggregates of cells.
pub(in crate::execute) struct CellGroups<'p, 'g> {
    operators: GroupOperators<'p, 'g>,
    /// The kinds of each key, where equal values of several kinds have different representations.
    kinds: Vec<Option<KeyKind>>,
    groups: FxHashMap<Vec<Value>, usize>,
    accumulators: Vec<Vec<Accumulator>>,
}

/// What groups are made of.
struct GroupOperators<'p, 'g> {
    batch: CellBatch<'g>,
    /// The number of variables.
    width: usize,
    /// What a binding has to pass.
    conditions: Vec<CellOperator>,
    keys: Vec<CellOperator>,
    aggregates: Vec<(&'p Aggregate, Option<CellOperator>)>,
}

/// A kind of a number, or the offset of an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyKind {
    Int,
    Float,
    Time(i16),
}

/// A key of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum KeyCell<'c> {
    Null,
    Bool(bool),
    Int(i64),
    /// The bits of a float.
    Float(u64),
    Text(&'c str),
    /// The seconds and nanoseconds of an instant.
    Time(i64, u32),
}

/// The groups of a chunk, in the order of their first bindings.
struct Partial<'c> {
    kinds: Vec<Option<KeyKind>>,
    /// The keys of all groups, one group behind the other.
    keys: Vec<KeyCell<'c>>,
    cells: Vec<Cell<'c>>,
    /// For each aggregate those of all groups.
    accumulators: Vec<Vec<Accumulator>>,
}

impl<'p, 'g> CellGroups<'p, 'g> {
    /// `None` where a key or an argument needs rows or has to be distinct, or values are retained.
    pub(in crate::execute) fn new(
        (execution, graph): (&Execution<'_>, &'g dyn Adjacency),
        (plan, conditions): (&JoinPlan, &[&Expression]),
        (keys, aggregates): (&'p [(SlotIndex, Expression)], &'p [Aggregate]),
        row: &mut Row,
    ) -> Option<CellGroups<'p, 'g>> {
        if plan.retained.is_empty() {
            return None;
        }
        let mut compiler = Compiler::new(execution, BoundSlots::of(plan), row);
        let conditions = conditions.iter().map(|it| compiler.compile(it)).collect::<Option<_>>()?;
        let mut operators = Vec::with_capacity(keys.len());
        for (_, key) in keys {
            operators.push(compiler.compile(key)?);
        }
        let mut columns = Vec::with_capacity(aggregates.len());
        for aggregate in aggregates {
            if aggregate.distinct || aggregate.retains_values() {
                return None;
            }
            columns.push((
                aggregate,
                match &aggregate.arguments[..] {
                    [] => None,
                    [argument] => Some(compiler.compile(argument)?),
                    _ => return None,
                },
            ));
        }
        let (kinds, groups) = (vec![None; keys.len()], FxHashMap::default());
        let batch = CellBatch::new(&compiler.properties, graph);
        let width = plan.retained.len();
        let (keys, aggregates) = (operators, columns);
        let operators = GroupOperators { batch, width, conditions, keys, aggregates };
        let accumulators = match operators.keys.is_empty() {
            true => vec![operators.aggregates.iter().map(started).collect()],
            false => Vec::new(),
        };
        Some(CellGroups { operators, kinds, groups, accumulators })
    }

    /// Adds bindings with their numbers of matches. False where cells do not decide; then the
    /// groups are of no use.
    pub(in crate::execute) fn add(
        &mut self,
        nodes: &[u32],
        counts: &[u64],
        context: &Context,
        reserved: &mut Reservation<'_>,
    ) -> Result<bool> {
        let CellGroups { operators, kinds, groups, accumulators } = self;
        let (operators, forks) = (&*operators, context.forks());
        let is_weighted = counts.iter().any(|it| *it != 1);
        let count = operators.conditions.len() + operators.keys.len();
        let about = (count + 2 * operators.aggregates.len(), CHUNK);
        let partials =
            operators.batch.each_row((nodes, operators.width), about, |number, chunk| {
                let weights = is_weighted.then(|| &counts[number * CHUNK..][..chunk.len()]);
                operators.partial(chunk, weights, &forks())
            })?;
        let Some(partials) = partials else { return Ok(false) };
        let (aggregates, numbers) = (operators.aggregates.len(), FxHashMap::default());
        let mut merged = Merged { aggregates, kinds, groups, accumulators, numbers };
        for partial in partials {
            if !merged.add(partial, operators.keys.len(), context, reserved)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The keys and the accumulators of each group, in the order of their first bindings.
    pub(in crate::execute) fn into_groups(self) -> Vec<(Vec<Value>, Vec<Accumulator>)> {
        let mut keys = vec![Vec::new(); self.accumulators.len()];
        for (key, group) in self.groups {
            keys[group] = key;
        }
        keys.into_iter().zip(self.accumulators).collect()
    }
}

impl GroupOperators<'_, '_> {
    /// The groups of the bindings of a chunk that pass.
    fn partial<'c>(
        &'c self,
        chunk: &Chunk<'_, 'c>,
        weights: Option<&[u64]>,
        context: &Context,
    ) -> Decided<Partial<'c>> {
        if !self.conditions.is_empty() {
            let positions = passing_rows(&self.conditions, chunk)?;
            let weights: Option<Vec<u64>> =
                weights.map(|it| positions.iter().map(|at| it[*at as usize]).collect());
            return self.groups_of(&chunk.narrowed(&positions), weights.as_deref(), context);
        }
        self.groups_of(chunk, weights, context)
    }

    fn groups_of<'c>(
        &'c self,
        chunk: &Chunk<'_, 'c>,
        weights: Option<&[u64]>,
        context: &Context,
    ) -> Decided<Partial<'c>> {
        let keys = self.keys.iter().map(|key| key.evaluate(chunk)).collect::<Decided<Vec<_>>>()?;
        let mut groups = vec![0_u32; chunk.len()];
        let (mut kinds, mut firsts) = (vec![None; keys.len()], Vec::new());
        for (level, (key, kind)) in keys.iter().zip(&mut kinds).enumerate() {
            let groups_max = if level + 1 == keys.len() { GROUPS_MAX } else { usize::MAX };
            firsts.clear();
            number(key, kind, &mut groups, (&mut firsts, groups_max))?;
        }
        let count = if keys.is_empty() { 1 } else { firsts.len() };
        let mut accumulators = Vec::with_capacity(self.aggregates.len());
        for aggregate in &self.aggregates {
            let mut of_groups: Vec<Accumulator> = (0..count).map(|_| started(aggregate)).collect();
            let argument = aggregate.1.as_ref().map(|it| it.evaluate(chunk)).transpose()?;
            accumulate(&mut of_groups, argument.as_deref(), (&groups, weights), context)?;
            accumulators.push(of_groups);
        }
        let (mut key_cells, mut cells) = (Vec::new(), Vec::new());
        for at in firsts {
            for (key, kind) in keys.iter().zip(&mut kinds) {
                cells.push(key.cell(at));
                key_cells.push(key_cell(key.cell(at), kind)?);
            }
        }
        Ok(Partial { kinds, keys: key_cells, cells, accumulators })
    }
}

fn started((aggregate, _): &(&Aggregate, Option<CellOperator>)) -> Accumulator {
    aggregate.function.start(false)
}

/// Numbers the pairs of a group and a key, in the order in which they come; `firsts` are their
/// first positions.
fn number(
    key: &Vector<'_>,
    kind: &mut Option<KeyKind>,
    groups: &mut [u32],
    firsts: (&mut Vec<usize>, usize),
) -> Decided<()> {
    match key {
        Vector::Texts(texts) => number_by(groups, firsts, |at| Ok(texts.get(at))),
        Vector::Ints(ints) => {
            let has_ints = ints.valid.as_ref().is_none_or(|it| 0 < it.count());
            *kind = has_ints.then_some(KeyKind::Int);
            number_by(groups, firsts, |at| Ok(ints.get(at)))
        }
        _ => number_by(groups, firsts, |at| key_cell(key.cell(at), kind)),
    }
}

fn number_by<K: Hash + Eq>(
    groups: &mut [u32],
    (firsts, groups_max): (&mut Vec<usize>, usize),
    mut key: impl FnMut(usize) -> Decided<K>,
) -> Decided<()> {
    let mut numbers: FxHashMap<(u32, K), u32> = FxHashMap::default();
    for (at, group) in groups.iter_mut().enumerate() {
        let next = firsts.len() as u32;
        *group = *numbers.entry((*group, key(at)?)).or_insert_with(|| {
            firsts.push(at);
            next
        });
        if groups_max < firsts.len() {
            return Err(Undecided::Rows);
        }
    }
    Ok(())
}

/// Adds the values of an argument to the accumulators of their groups, in their order. Rows give
/// the position of an error.
fn accumulate(
    accumulators: &mut [Accumulator],
    argument: Option<&Vector<'_>>,
    (groups, weights): (&[u32], Option<&[u64]>),
    context: &Context,
) -> Decided<()> {
    let Some(argument) = argument else {
        return count(accumulators, (groups, weights), context);
    };
    let rows = groups.iter().enumerate();
    match (argument, weights) {
        (Vector::Ints(ints), None) => {
            for (at, group) in rows.filter(|(at, _)| is_valid(&ints.valid, *at)) {
                let accumulator = &mut accumulators[*group as usize];
                accumulator.update_int(ints.values[at], context).map_err(|_| Undecided::Rows)?;
            }
        }
        (Vector::Floats(floats), None) => {
            for (at, group) in rows.filter(|(at, _)| is_valid(&floats.valid, *at)) {
                let accumulator = &mut accumulators[*group as usize];
                accumulator
                    .update_float(floats.values[at], context)
                    .map_err(|_| Undecided::Rows)?;
            }
        }
        (argument, weights) => {
            for (at, group) in rows {
                let value = argument.cell(at).value()?;
                let times = weights.map_or(1, |it| it[at]);
                let accumulator = &mut accumulators[*group as usize];
                let result = accumulator.update_times(slice::from_ref(&value), times, context);
                result.map_err(|_| Undecided::Rows)?;
            }
        }
    }
    Ok(())
}

/// Counts the matches of each group.
fn count(
    accumulators: &mut [Accumulator],
    (groups, weights): (&[u32], Option<&[u64]>),
    context: &Context,
) -> Decided<()> {
    let mut counts = vec![0_u64; accumulators.len()];
    for (at, group) in groups.iter().enumerate() {
        let count = &mut counts[*group as usize];
        *count = count.checked_add(weights.map_or(1, |it| it[at])).ok_or(Undecided::Rows)?;
    }
    for (accumulator, times) in accumulators.iter_mut().zip(counts) {
        accumulator.update_times(&[], times, context).map_err(|_| Undecided::Rows)?;
    }
    Ok(())
}

/// The groups of all chunks so far.
struct Merged<'m, 'c> {
    /// The number of aggregates.
    aggregates: usize,
    kinds: &'m mut Vec<Option<KeyKind>>,
    groups: &'m mut FxHashMap<Vec<Value>, usize>,
    accumulators: &'m mut Vec<Vec<Accumulator>>,
    /// The group of each key that a chunk had, without a value of it.
    numbers: FxHashMap<Box<[KeyCell<'c>]>, usize>,
}

impl<'c> Merged<'_, 'c> {
    /// Adds the groups of a chunk; false where a key has several kinds, or a sum is too large.
    fn add(
        &mut self,
        partial: Partial<'c>,
        width: usize,
        context: &Context,
        reserved: &mut Reservation<'_>,
    ) -> Result<bool> {
        for (kind, of_chunk) in self.kinds.iter_mut().zip(partial.kinds) {
            match (*kind, of_chunk) {
                (Some(one), Some(other)) if one != other => return Ok(false),
                (one, other) => *kind = one.or(other),
            }
        }
        let count = partial.keys.len().checked_div(width).unwrap_or(1);
        let mut of_chunk: Vec<_> = partial.accumulators.into_iter().map(Vec::into_iter).collect();
        for group in 0..count {
            let range = group * width..(group + 1) * width;
            let number = self.number(&partial.keys[range.clone()], &partial.cells[range], reserved);
            let next = of_chunk.iter_mut().filter_map(Iterator::next);
            match number? {
                Ok(Some(number)) => {
                    for (one, other) in self.accumulators[number].iter_mut().zip(next) {
                        if one.merge(other, context).is_err() {
                            return Ok(false);
                        }
                    }
                }
                Ok(None) => self.accumulators.push(next.collect()),
                Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The group of a key; `None` for a new one, which is the next.
    fn number(
        &mut self,
        key: &[KeyCell<'c>],
        cells: &[Cell<'c>],
        reserved: &mut Reservation<'_>,
    ) -> Result<Decided<Option<usize>>> {
        if key.is_empty() {
            return Ok(Ok(Some(0)));
        }
        if let Some(number) = self.numbers.get(key) {
            return Ok(Ok(Some(*number)));
        }
        let values: Decided<Vec<Value>> = cells.iter().map(|it| it.value()).collect();
        let Ok(values) = values else { return Ok(Err(Undecided::Rows)) };
        reserved.grow(size_of_val(key) + size_of::<usize>())?;
        let next = self.accumulators.len();
        let existing = self.groups.get(&values).copied();
        self.numbers.insert(key.into(), existing.unwrap_or(next));
        if existing.is_none() {
            reserved.grow_by_row(&values)?;
            reserved.grow(self.aggregates * size_of::<Accumulator>())?;
            self.groups.insert(values, next);
        }
        Ok(Ok(existing))
    }
}

/// A key, where equal keys have one representation.
fn key_cell<'c>(cell: Cell<'c>, kind: &mut Option<KeyKind>) -> Decided<KeyCell<'c>> {
    let (of_cell, key) = match cell {
        Cell::Null => return Ok(KeyCell::Null),
        Cell::Bool(truth) => return Ok(KeyCell::Bool(truth)),
        Cell::Text(text) => return Ok(KeyCell::Text(text)),
        Cell::Int(number) => (KeyKind::Int, KeyCell::Int(number)),
        Cell::Float(number) if number == 0.0 && number.is_sign_negative() => {
            return Err(Undecided::Rows);
        }
        Cell::Float(number) => {
            let number = if number.is_nan() { f64::NAN } else { number };
            (KeyKind::Float, KeyCell::Float(number.to_bits()))
        }
        Cell::Time(time) => {
            (KeyKind::Time(time.offset_minutes), KeyCell::Time(time.seconds, time.nanos))
        }
    };
    match kind.get_or_insert(of_cell) {
        kind if *kind == of_cell => Ok(key),
        _ => Err(Undecided::Rows),
    }
}
