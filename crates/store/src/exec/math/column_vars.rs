//! Computes with variables that are columns: an expression over several, and aggregates of one,
//! without a list of their numbers.

use super::math_program::Program;
use super::totals::Totals;
use crate::exec::columns::batches::{BATCH, Members};
use crate::exec::columns::number_columns::NumberKind;
use crate::exec::control::column_var::{ColumnVar, Compute, Input};
use crate::exec::control::stop::RequestContext;
use crate::exec::cost::{self, Cost};
use crate::graph::LangValues;
use hexgraph_base::plan::{Algebraic, MathExpr, VarId};
use hexgraph_base::types::Result;
use std::ops::Range;
use std::sync::Arc;

impl ColumnVar {
    /// The variable of an expression over others; `None` where it is none that is
    /// [compiled](Program), or one of the others has no number for some node. `variable` looks up
    /// the variables. O(containers of the sets), or a walk over nodes that are no stored set.
    pub(crate) fn of_math(
        expr: &MathExpr,
        variable: impl Fn(VarId) -> Option<Arc<ColumnVar>>,
    ) -> Option<ColumnVar> {
        let mut inputs = Vec::<(VarId, Arc<_>)>::new();
        let mut input = |var: VarId| {
            let position = inputs.iter().position(|(existing, _)| *existing == var);
            let position = match position {
                Some(position) => position,
                None => {
                    inputs.push((var, variable(var).filter(|column| !column.may_fail())?));
                    inputs.len() - 1
                }
            };
            Some((position, inputs[position].1.kind()))
        };
        let program = Program::compile(expr, &mut input)?;
        let mut nodes = inputs.first()?.1.subjects();
        let mut lens = vec![nodes.len()];
        let mut are_alike = true;
        for (_, other) in &inputs[1..] {
            let more = other.subjects();
            lens.push(more.len());
            if !nodes.equals(&more) {
                are_alike = false;
                nodes = nodes.or(&more);
            }
        }
        let lacks: Vec<bool> = lens.iter().map(|len| *len < nodes.len()).collect();
        // A missing operand is the int 0, which makes ints of other ints, where floats were.
        let mut lacking = inputs.iter().zip(&lacks).filter(|(_, lacks)| **lacks);
        let is_exact = lacking.all(|((_, column), _)| !matches!(column.kind(), NumberKind::Float));
        let is_column = are_alike || is_exact && program.counts_missing_as_zero(&lacks);
        if !is_column {
            return None;
        }
        let inputs = inputs.into_iter().zip(lens);
        let inputs = inputs.map(|((var, column), len)| Input { var, len, column }).collect();
        let (kind, may_fail) = (program.kind(), program.may_fail());
        let compute: Box<Compute> = Box::new(move |inputs, len, has| {
            program.run(inputs, len, has).expect("no result of a compiled program is an error")
        });
        Some(Self::computed(compute, kind, may_fail, inputs, nodes))
    }

    /// Computes several aggregates of all numbers in one pass, which is divided among threads. Sums
    /// of ints are those of the column as it is stored, and their changes, if all nodes that have a
    /// number were requested and nothing but sums is. O(nodes + changes), without a list of them.
    ///
    /// # Errors
    ///
    /// Those of [`RequestContext::check`].
    pub(crate) fn aggregate(
        &self,
        ops: &[Algebraic],
        control: &RequestContext,
    ) -> Result<Vec<Totals>> {
        let mut totals: Vec<Totals> = ops.iter().map(|op| Totals::new(*op)).collect();
        let Some((part, column)) = self.stored() else {
            // Counts and results are there for each node.
            let finders = self.finders();
            let add = |positions, totals: &mut Vec<Totals>| {
                let check = || control.check();
                self.for_each_batch_of(positions, &finders, check, |_, numbers, _| {
                    Totals::add_to_all(totals, numbers);
                })
            };
            self.add_up(self.len(), cost::GATHER.times(2), control, &mut totals, Some, add)?;
            return Ok(totals);
        };
        let check = || control.check();
        if !self.is_complete {
            let add = |positions: Range<usize>, totals: &mut Vec<Totals>| {
                let first = self.nodes.page(positions.start, 1);
                let mut column = column.fork(first.first().copied().unwrap_or(0));
                Members::Set(&self.nodes).for_each_batch_of(positions, |nodes| {
                    check()?;
                    column.read_some(nodes, &mut |numbers| Totals::add_to_all(totals, numbers));
                    Ok(())
                })
            };
            // Some of the nodes before a part have no number, and their number is not available.
            self.add_up(self.len(), cost::GATHER, control, &mut totals, |_| None, add)?;
            return Ok(totals);
        }
        let each = cost::ROW.times(totals.len());
        let are_sums = totals.iter().all(Totals::is_sum);
        if matches!(self.kind(), NumberKind::Int { .. }) && are_sums {
            let add = |rows, totals: &mut Vec<Totals>| {
                column.read_stored(rows, check, |numbers| Totals::add_to_all(totals, numbers))
            };
            self.add_up(column.rows(), each, control, &mut totals, |_| None, add)?;
            let increase = part.int_increase();
            totals.iter_mut().for_each(|total| total.raise(increase));
            return Ok(totals);
        }
        let add = |rows, totals: &mut Vec<Totals>| match are_sums {
            true => column.read_patched(rows, check, |floats| {
                totals.iter_mut().for_each(|total| total.add_patched(floats));
            }),
            false => column.read_part(rows, check, |numbers| Totals::add_to_all(totals, numbers)),
        };
        let before = numbers_before(part);
        self.add_up(column.rows(), each, control, &mut totals, before, add)?;
        Ok(totals)
    }

    /// Has `add` add `len` items, each with about the cost `each`, to some aggregates: on this
    /// thread, or each morsel to aggregates of its own, which are merged in their order. `before`
    /// is the number of numbers before an item, if it is available.
    fn add_up(
        &self,
        len: usize,
        each: Cost,
        control: &RequestContext,
        totals: &mut Vec<Totals>,
        before: impl Fn(usize) -> Option<usize> + Sync,
        add: impl Fn(Range<usize>, &mut Vec<Totals>) -> Result<()> + Sync,
    ) -> Result<()> {
        let Some(spread) = control.spread(len, each)? else { return add(0..len, totals) };
        let are_floats = matches!(self.kind(), NumberKind::Float);
        let none = totals.clone();
        let part = |range: Range<usize>| {
            let before = before(range.start);
            let mut part: Vec<Totals> =
                none.iter().map(|full| full.part(are_floats, before)).collect();
            add(range, &mut part)?;
            part.iter_mut().for_each(Totals::settle);
            Ok(part)
        };
        spread.in_units_of(BATCH).each(part, |part| {
            totals.iter_mut().zip(&part).for_each(|(total, part)| total.absorb(part));
            Ok(())
        })
    }
}

/// The number of nodes that have a number before that of a row. O(containers) each time.
fn numbers_before(part: &LangValues) -> impl Fn(usize) -> Option<usize> {
    let subjects = part.subjects();
    move |row| match part.stored().subjects.select(row) {
        // New nodes before the first row come with it.
        _ if row == 0 => Some(0),
        Some(first) => Some(subjects.count_below(first)),
        None => Some(subjects.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::control::morsels::tests::sharing;
    use crate::exec::math::aggregate::algebraic;
    use crate::exec::tests::random_graph::{NAMES, graph};
    use crate::storage::NodeSet;
    use fastrand::Rng;

    /// The aggregate of a column equals that of the list of its numbers, for all nodes of the
    /// predicate and for others, with threads and without.
    #[test]
    fn columns_come_to_what_the_list_does() {
        let mut rng = Rng::with_seed(3);
        let (mut full, mut some) = (0, 0);
        let ops = [Algebraic::Min, Algebraic::Max, Algebraic::Sum, Algebraic::Avg];
        for round in 0..30 {
            // The greater graphs have sums of several blocks.
            let nodes = if round % 8 == 0 { 4000 } else { rng.u64(300..900) };
            let version = graph(nodes, &mut rng);
            let predicates = NAMES.iter().filter_map(|name| version.predicate(name));
            for predicate in predicates {
                let requested = match rng.u8(..3) {
                    0 => NodeSet::from((0..nodes as u32 * 2).collect::<Vec<u32>>()),
                    1 => {
                        NodeSet::from((0..nodes as u32).filter(|_| rng.bool()).collect::<Vec<_>>())
                    }
                    _ => predicate.subjects(),
                };
                let Some(column) = ColumnVar::of_values(predicate, &requested) else { continue };
                *(if column.is_complete { &mut full } else { &mut some }) += 1;
                let list = column.values(&RequestContext::new()).unwrap();
                assert_eq!(column.subjects().to_vec(), list.nodes, "{column:?}");
                for control in [RequestContext::new(), sharing(1, 9), sharing(2, 90), sharing(3, 1)]
                {
                    let requested: Vec<Algebraic> =
                        ops.iter().copied().filter(|_| rng.bool()).collect();
                    let made = column.aggregate(&requested, &control).unwrap();
                    for (op, totals) in requested.iter().zip(made) {
                        let values =
                            (0..list.values.len()).map(|position| list.values.get(position));
                        let expected = format!("{:?}", algebraic(*op, values));
                        assert_eq!(format!("{:?}", totals.finish()), expected, "{column:?} {op:?}");
                    }
                }
            }
        }
        assert!(30 < full && 30 < some, "{full} whole columns, {some} others");
    }
}
