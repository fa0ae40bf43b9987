//! Groups of the bindings of a join: each thread groups chunks by cells, and the groups of the
//! chunks are merged in their order. Chunks have the same bindings with any number of threads, so
//! that sums of floats have the same bits.

use super::batch::CellBatch;
use super::cell::{Cell, Decided, Undecided};
use super::chunk::Chunk;
use super::compile::{CellOperator, Compiler};
use crate::execute::adjacency::Adjacency;
use crate::execute::plan::{Aggregate, Expression, JoinPlan, SlotIndex};
use crate::execute::run::{Execution, Reservation, Row};
use hexgraph_base::types::Result;
use hexgraph_scalar::{Accumulator, Context, Value};
use rustc_hash::FxHashMap;

/// The bindings of a chunk: their cells fit the caches.
const CHUNK: usize = 1 << 12;

/// With more groups than this of a chunk, merging costs about as much as grouping.
const GROUPS_MAX: usize = CHUNK / 4;

/// The groups so far, by keys and aggregates of cells.
pub(in crate::execute) struct CellGroups<'p, 'g> {
    batch: CellBatch<'g>,
    /// The number of variables.
    width: usize,
    keys: Vec<CellOperator>,
    aggregates: Vec<(&'p Aggregate, Option<CellOperator>)>,
    /// The kinds of each key, where equal values of several kinds have different representations.
    kinds: Vec<Option<KeyKind>>,
    groups: FxHashMap<Vec<Value>, usize>,
    accumulators: Vec<Vec<Accumulator>>,
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
struct Partial {
    kinds: Vec<Option<KeyKind>>,
    keys: Vec<Vec<Value>>,
    accumulators: Vec<Vec<Accumulator>>,
}

impl<'p, 'g> CellGroups<'p, 'g> {
    /// `None` where a key or an argument needs rows or has to be distinct, or values are retained.
    pub(in crate::execute) fn new(
        (execution, graph): (&Execution<'_>, &'g dyn Adjacency),
        plan: &JoinPlan,
        (keys, aggregates): (&'p [(SlotIndex, Expression)], &'p [Aggregate]),
        row: &mut Row,
    ) -> Option<CellGroups<'p, 'g>> {
        if plan.retained.is_empty() {
            return None;
        }
        let mut compiler = Compiler::new(execution, &plan.retained, row);
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
        let mut accumulators = Vec::new();
        if keys.is_empty() {
            accumulators.push(started(&columns));
        }
        let batch = CellBatch::new(&compiler.properties, graph);
        let width = plan.retained.len();
        Some(CellGroups {
            batch,
            width,
            keys: operators,
            aggregates: columns,
            kinds,
            groups,
            accumulators,
        })
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
        let forks = context.forks();
        let is_weighted = counts.iter().any(|it| *it != 1);
        let operators = self.keys.len() + 2 * self.aggregates.len();
        let (this, rows) = (&*self, (nodes, self.width));
        let partials = this.batch.each_row(rows, (operators, CHUNK), |number, chunk| {
            let weights = is_weighted.then(|| &counts[number * CHUNK..][..chunk.len()]);
            this.partial(chunk, weights, &forks())
        })?;
        let Some(partials) = partials else { return Ok(false) };
        for partial in partials {
            if !self.merge(partial, context, reserved)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The groups of a chunk.
    fn partial<'c>(
        &'c self,
        chunk: &Chunk<'_, 'c>,
        weights: Option<&[u64]>,
        context: &Context,
    ) -> Decided<Partial> {
        let vectors = |it: &'c CellOperator| it.evaluate(chunk);
        let of_keys = self.keys.iter().map(vectors).collect::<Decided<Vec<_>>>()?;
        let count = chunk.len();
        let mut kinds = vec![None; self.keys.len()];
        let mut groups = vec![0_u32; count];
        let mut firsts: Vec<usize> = if self.keys.is_empty() { vec![0] } else { Vec::new() };
        for (level, (key, kind)) in of_keys.iter().zip(&mut kinds).enumerate() {
            let mut numbers: FxHashMap<(u32, KeyCell<'c>), u32> = FxHashMap::default();
            firsts.clear();
            for (at, group) in groups.iter_mut().enumerate() {
                let cell = key_cell(key.cell(at), kind)?;
                let next = firsts.len() as u32;
                *group = *numbers.entry((*group, cell)).or_insert_with(|| {
                    firsts.push(at);
                    next
                });
                if GROUPS_MAX < firsts.len() && level + 1 == self.keys.len() {
                    return Err(Undecided::Rows);
                }
            }
        }
        let mut accumulators: Vec<Vec<Accumulator>> =
            firsts.iter().map(|_| started(&self.aggregates)).collect();
        for (index, (_, argument)) in self.aggregates.iter().enumerate() {
            let argument = argument.as_ref().map(vectors).transpose()?;
            for (at, group) in groups.iter().enumerate() {
                let times = weights.map_or(1, |it| it[at]);
                let accumulator = &mut accumulators[*group as usize][index];
                let result = match &argument {
                    None => accumulator.update_times(&[], times, context),
                    Some(argument) => {
                        let value = argument.cell(at).value()?;
                        accumulator.update_times(std::slice::from_ref(&value), times, context)
                    }
                };
                // Rows give the position of the error.
                result.map_err(|_| Undecided::Rows)?;
            }
        }
        let key_of = |at: &usize| -> Decided<Vec<Value>> {
            of_keys.iter().map(|key| key.cell(*at).value()).collect()
        };
        let keys = match self.keys.is_empty() {
            true => vec![Vec::new()],
            false => firsts.iter().map(key_of).collect::<Decided<_>>()?,
        };
        Ok(Partial { kinds, keys, accumulators })
    }

    /// Merges the groups of a chunk; false where a key has several kinds, or a sum is too large.
    fn merge(
        &mut self,
        partial: Partial,
        context: &Context,
        reserved: &mut Reservation<'_>,
    ) -> Result<bool> {
        for (kind, of_chunk) in self.kinds.iter_mut().zip(partial.kinds) {
            match (*kind, of_chunk) {
                (Some(one), Some(other)) if one != other => return Ok(false),
                (one, other) => *kind = one.or(other),
            }
        }
        for (key, accumulators) in partial.keys.into_iter().zip(partial.accumulators) {
            let existing = match self.keys.is_empty() {
                true => Some(0),
                false => self.groups.get(&key).copied(),
            };
            match existing {
                Some(group) => {
                    for (one, other) in self.accumulators[group].iter_mut().zip(accumulators) {
                        if one.merge(other, context).is_err() {
                            return Ok(false);
                        }
                    }
                }
                None => {
                    reserved.grow_by_row(&key)?;
                    reserved.grow(accumulators.len() * size_of::<Accumulator>())?;
                    self.groups.insert(key, self.accumulators.len());
                    self.accumulators.push(accumulators);
                }
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

fn started(aggregates: &[(&Aggregate, Option<CellOperator>)]) -> Vec<Accumulator> {
    aggregates.iter().map(|(it, _)| it.function.start(false)).collect()
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
