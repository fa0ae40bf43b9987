//! Answers of one scan: the columns of its projection are those of the answer, and no row is made
//! of the nodes behind the first batch.

use super::bits::Valid;
use super::cell::{Decided, Undecided};
use super::chunk::Chunk;
use super::compile::CellOperator;
use super::scan::{BYTES_MAX, CellProjection, batches, scan_only};
use super::vector::Vector;
use crate::execute::answer::{AnswerColumn, AnswerSink};
use crate::execute::join::CHECKED_NODES;
use crate::execute::plan::{BranchPlan, QueryPlan, SlotIndex, Stage};
use crate::execute::run::{DONE, Execution, Flow, MORE, Reservation, Row};
use hexgraph_base::answer::{Cells, Texts, Values};
use hexgraph_base::types::Result;
use hexgraph_scalar::Value;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Adds a row to an answer, from the slots of its columns.
pub(in crate::execute) fn answer_row(
    columns: &[SlotIndex],
    row: &Row,
    sink: &mut dyn AnswerSink,
    reserved: &mut Reservation<'_>,
) -> Result<Flow> {
    let mut values: Vec<Value> = columns.iter().map(|slot| row[*slot].clone()).collect();
    reserved.grow_by_row(&values)?;
    sink.row(&mut values)
}

/// Adds the columns of some chunks to an answer.
pub(super) fn answer_parts(
    parts: Vec<Vec<AnswerColumn>>,
    sink: &mut dyn AnswerSink,
    reserved: &mut Reservation<'_>,
) -> Result<Flow> {
    reserved.grow(parts.iter().flatten().map(AnswerColumn::byte_len).sum())?;
    for part in parts {
        if sink.rows(part)?.is_break() {
            return Ok(DONE);
        }
    }
    Ok(MORE)
}

impl Execution<'_> {
    /// Answers a query that is one projection of a scan; `None` for another query.
    pub(in crate::execute) fn answer_scan(
        &self,
        plan: &QueryPlan,
        row: &mut Row,
        (sink, reserved): (&mut dyn AnswerSink, &mut Reservation<'_>),
    ) -> Result<Option<Flow>> {
        let [BranchPlan { stages, columns }] = &plan.branches[..] else { return Ok(None) };
        let [Stage::Match { plan: scan, optional: false }, Stage::Project(items)] = &stages[..]
        else {
            return Ok(None);
        };
        if plan.distinct != 0 || self.profile.is_some() {
            return Ok(None);
        }
        let (Some(scan), Some(graph)) = (scan_only(scan), self.graph.adjacency()) else {
            return Ok(None);
        };
        let by_row = &mut |row: &mut Row| answer_row(columns, row, sink, reserved);
        let (nodes, projection) = match self.begun_scan((&scan, graph), items, row, by_row)? {
            ControlFlow::Break(flow) => return Ok(Some(flow)),
            ControlFlow::Continue(rest) => rest,
        };
        let filters = self.filters((scan.slot, nodes.label), scan.filters, graph, row);
        let order = projection.order(columns).filter(|_| filters.others.is_empty());
        for batch in batches(nodes.nodes()) {
            graph.check()?;
            let parts = match &order {
                Some(order) => match filters.conditions.passing(batch)? {
                    Some(passing) => projection.columns(&passing, order)?,
                    None => None,
                },
                None => None,
            };
            let Some(parts) = parts else {
                let by_row = &mut |row: &mut Row| answer_row(columns, row, sink, reserved);
                if self.project_batch(&filters, &projection, batch, row, by_row)?.is_break() {
                    return Ok(Some(DONE));
                }
                continue;
            };
            if answer_parts(parts, sink, reserved)?.is_break() {
                return Ok(Some(DONE));
            }
        }
        Ok(Some(MORE))
    }
}

impl CellProjection<'_, '_> {
    /// The index of the operator of each column of an answer; `None` where one has no cells.
    pub(super) fn order(&self, columns: &[SlotIndex]) -> Option<Vec<usize>> {
        let operator = |slot: &SlotIndex| self.operators.iter().position(|(to, ..)| to == slot);
        columns.iter().map(operator).collect()
    }

    /// The columns of each chunk of nodes; `None` where cells do not decide.
    fn columns(&self, nodes: &[u32], order: &[usize]) -> Result<Option<Vec<Vec<AnswerColumn>>>> {
        self.batch.each(nodes, (2 * order.len(), CHECKED_NODES), |chunk| {
            self.columns_of(chunk, order, &[])
        })
    }

    /// The columns of a chunk, whose rows are repeated as some ascending positions say, if there
    /// are any.
    pub(super) fn columns_of<'s>(
        &'s self,
        chunk: &Chunk<'_, 's>,
        order: &[usize],
        repeats: &[u32],
    ) -> Decided<Vec<AnswerColumn>> {
        let column = |at: &usize| column_of(&self.operators[*at].2, chunk, repeats);
        let columns = order.iter().map(column).collect::<Decided<Vec<_>>>()?;
        match columns.iter().map(AnswerColumn::byte_len).sum::<usize>() <= BYTES_MAX {
            true => Ok(columns),
            false => Err(Undecided::Rows),
        }
    }
}

fn column_of<'c>(
    operator: &'c CellOperator,
    chunk: &Chunk<'_, 'c>,
    repeats: &[u32],
) -> Decided<AnswerColumn> {
    let mut vector = operator.evaluate(chunk)?;
    if !repeats.is_empty() {
        vector = Rc::new(vector.gather(repeats));
    }
    Ok(AnswerColumn::Typed(match &*vector {
        Vector::Ints(ints) => Cells::Int(values_of(&ints.values, &ints.valid)),
        Vector::Floats(floats) => Cells::Float(values_of(&floats.values, &floats.valid)),
        Vector::Texts(texts) => {
            let mut cells = Texts::default();
            for at in 0..texts.values.len() {
                cells.push(texts.get(at).unwrap_or_default());
            }
            cells.valid = flags_of(&texts.valid, texts.values.len());
            Cells::Text(cells)
        }
        vector => {
            let mut column = AnswerColumn::default();
            for at in 0..vector.len() {
                column.push(vector.cell(at).value()?);
            }
            return Ok(column);
        }
    }))
}

/// Nulls are the default value.
fn values_of<T: Copy + Default>(values: &[T], valid: &Valid) -> Values<T> {
    let valid = flags_of(valid, values.len());
    let mut values = values.to_vec();
    values
        .iter_mut()
        .zip(&valid)
        .filter(|(_, valid)| !**valid)
        .for_each(|(it, _)| *it = T::default());
    Values { values, valid }
}

/// A flag for each of so many values; none where all have one.
fn flags_of(valid: &Valid, len: usize) -> Vec<bool> {
    match valid {
        Some(valid) if valid.count() < len => (0..len).map(|at| valid.get(at)).collect(),
        _ => Vec::new(),
    }
}
