//! Rows of a join: the conditions and the projection after it are evaluated over its bindings.

use super::batch::{CellBatch, passing_rows};
use super::chunk::Chunk;
use super::columns::{answer_parts, answer_row};
use super::compile::{BoundSlots, CellOperator, Compiler};
use super::scan::CellProjection;
use super::top::{TopPart, TopRows};
use super::vectors::cell::{Decided, Undecided};
use crate::execute::adjacency::Adjacency;
use crate::execute::answer::{AnswerColumn, AnswerSink};
use crate::execute::join::CHECKED_NODES;
use crate::execute::plan::{
    BranchPlan, Expression, JoinPlan, QueryPlan, SlotIndex, SortKey, Stage, filter_conditions,
};
use crate::execute::run::{DONE, Execution, Flow, MORE, Reservation, Row, Sink};
use hexgraph_base::types::Result;
use hexgraph_scalar::Value;

/// The most rows of the bindings of a chunk; more of them are pushed one by one.
const ROWS_MAX: u64 = 1 << 16;

/// A join whose rows are projected.
struct JoinedRows<'p> {
    plan: &'p JoinPlan,
    conditions: Vec<&'p Expression>,
    items: &'p [(SlotIndex, Expression)],
}

/// What cells compute of the bindings of a join.
struct JoinedCells<'p, 'g> {
    batch: CellBatch<'g>,
    /// Where only the first rows of an order are read.
    top: Option<TopRows<'p>>,
    conditions: Vec<CellOperator>,
    /// The conditions that have no cells.
    others: Vec<&'p Expression>,
    projection: CellProjection<'p, 'g>,
    width: usize,
}

/// The rows of a chunk that pass: their positions, and the values of their items.
type PassingRows = (Vec<u32>, Vec<Value>, usize);

impl<'p> JoinedRows<'p> {
    /// The join before a projection; `None` for other stages.
    fn of(before: &'p [Stage], items: &'p [(SlotIndex, Expression)]) -> Option<JoinedRows<'p>> {
        let [Stage::Join(plan), filters @ .., Stage::Repeat(_)] = before else { return None };
        let conditions = filter_conditions(filters)?;
        if plan.retained.is_empty() {
            return None;
        }
        Some(JoinedRows { plan, conditions, items })
    }
}

impl<'p, 'g> JoinedCells<'p, 'g> {
    fn new(
        execution: &Execution<'_>,
        graph: &'g dyn Adjacency,
        (joined, order): (&JoinedRows<'p>, Option<(&'p [SortKey], usize)>),
        row: &mut Row,
    ) -> JoinedCells<'p, 'g> {
        let bound = BoundSlots::of(joined.plan);
        let mut compiler = Compiler::new(execution, bound, row);
        let (mut conditions, mut others) = (Vec::new(), Vec::new());
        for condition in &joined.conditions {
            match compiler.compile(condition) {
                Some(operator) => conditions.push(operator),
                None => others.push(*condition),
            }
        }
        // What has no cells is tested behind the order.
        let top = order
            .filter(|_| others.is_empty())
            .and_then(|order| TopRows::new(order, joined.items, &mut compiler));
        let batch = CellBatch::new(&compiler.properties, graph);
        let projection = CellProjection::new(execution, graph, (bound, joined.items), row);
        JoinedCells {
            batch,
            top,
            conditions,
            others,
            projection,
            width: joined.plan.retained.len(),
        }
    }

    /// The positions of the rows that pass the conditions of cells, in each chunk of a part; `None`
    /// where cells do not decide.
    fn passing(&mut self, nodes: &[u32]) -> Result<Option<Vec<Vec<u32>>>> {
        if self.conditions.is_empty() && self.top.is_none() {
            let rows = nodes.len() / self.width;
            let chunk = |start: usize| (0..(rows - start).min(CHECKED_NODES) as u32).collect();
            return Ok(Some((0..rows).step_by(CHECKED_NODES).map(chunk).collect()));
        }
        let about = (self.conditions.len() + usize::from(self.top.is_some()), CHECKED_NODES);
        let parts = self.batch.each_row((nodes, self.width), about, |_, chunk| {
            let positions = passing_rows(&self.conditions, chunk)?;
            match &self.top {
                Some(top) => top.part(chunk, positions),
                None => Ok(TopPart::all(positions)),
            }
        })?;
        if let (Some(top), Some(parts)) = (&mut self.top, &parts) {
            top.add(parts);
        }
        Ok(parts.map(|it| it.into_iter().map(|it| it.positions).collect()))
    }

    /// Calls `work` with the rows of each chunk that pass, and with their positions in the chunk;
    /// `None` where cells do not decide.
    fn each<R: Send>(
        &mut self,
        nodes: &[u32],
        work: impl for<'s> Fn(&'s CellProjection<'p, 'g>, usize, &Chunk<'_, 's>, &[u32]) -> Decided<R>
        + Sync,
    ) -> Result<Option<Vec<R>>> {
        let Some(passing) = self.passing(nodes)? else { return Ok(None) };
        let projection = &self.projection;
        let about = (2 * self.projection.operators.len(), CHECKED_NODES);
        projection.batch.each_row((nodes, self.width), about, |number, chunk| {
            let positions = &passing[number];
            match positions.len() == chunk.len() {
                true => work(projection, number, chunk, positions),
                false => work(projection, number, &chunk.narrowed(positions), positions),
            }
        })
    }

    /// The columns of an answer for each chunk of a part.
    fn columns(
        &mut self,
        (nodes, counts): (&[u32], &[u64]),
        order: &[usize],
    ) -> Result<Option<Vec<Vec<AnswerColumn>>>> {
        self.each(nodes, |projection, number, chunk, positions| {
            let counts = &counts[number * CHECKED_NODES..];
            let count_of = |at: &u32| counts[*at as usize];
            let total = positions.iter().map(count_of).try_fold(0_u64, u64::checked_add);
            if total.is_none_or(|it| ROWS_MAX < it) {
                return Err(Undecided::Rows);
            }
            let repeats: Vec<u32> = match total == Some(positions.len() as u64) {
                true => Vec::new(),
                false => (0..)
                    .zip(positions)
                    .flat_map(|(at, it)| std::iter::repeat_n(at, count_of(it) as usize))
                    .collect(),
            };
            projection.columns_of(chunk, order, &repeats)
        })
    }

    /// The values of the rows that pass, in each chunk of a part.
    fn values(&mut self, nodes: &[u32]) -> Result<Option<Vec<PassingRows>>> {
        self.each(nodes, |projection, number, chunk, positions| {
            let (values, bytes) = projection.values_of(chunk)?;
            let start = (number * CHECKED_NODES) as u32;
            Ok((positions.iter().map(|at| start + at).collect(), values, bytes))
        })
    }
}

impl Execution<'_> {
    /// Answers a query that is one projection of a join; `None` for another query, or one whose
    /// columns need rows.
    pub(in crate::execute) fn answer_join(
        &self,
        plan: &QueryPlan,
        row: &mut Row,
        (sink, reserved): (&mut dyn AnswerSink, &mut Reservation<'_>),
    ) -> Result<Option<Flow>> {
        let [BranchPlan { stages, columns }] = &plan.branches[..] else { return Ok(None) };
        let [before @ .., Stage::Project(items)] = &stages[..] else { return Ok(None) };
        let Some(joined) = JoinedRows::of(before, items) else { return Ok(None) };
        let Some(graph) = self.graph.adjacency() else { return Ok(None) };
        if plan.distinct != 0 || self.profile.is_some() {
            return Ok(None);
        }
        let mut cells = JoinedCells::new(self, graph, (&joined, None), row);
        let Some(order) = cells.projection.order(columns) else { return Ok(None) };
        let mut flow = MORE;
        let is_joined = self.join_bindings(joined.plan, row, &mut |nodes, counts, row| {
            let parts = match cells.others.is_empty() {
                true => cells.columns((nodes, counts), &order)?,
                false => None,
            };
            flow = match parts {
                Some(parts) => answer_parts(parts, sink, reserved)?,
                None => {
                    let by_row = &mut |row: &mut Row| answer_row(columns, row, sink, reserved);
                    self.push_joined((&joined, &mut cells), (nodes, counts), row, by_row)?
                }
            };
            Ok(flow == MORE)
        })?;
        if !is_joined {
            let by_row = &mut |row: &mut Row| answer_row(columns, row, sink, reserved);
            flow = self.match_joined(&joined, row, by_row)?;
        }
        Ok(Some(flow))
    }

    /// Pushes the rows of a projection of a join; `None` where other stages are before it. With an
    /// order, only those that may be among the first so many.
    pub(in crate::execute) fn project_join(
        &self,
        (before, items): (&[Stage], &[(SlotIndex, Expression)]),
        order: Option<(&[SortKey], usize)>,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Option<Flow>> {
        let Some(joined) = JoinedRows::of(before, items) else { return Ok(None) };
        let Some(graph) = self.graph.adjacency() else { return Ok(None) };
        if self.profile.is_some() {
            return Ok(None);
        }
        let mut cells = JoinedCells::new(self, graph, (&joined, order), row);
        let mut flow = MORE;
        let is_joined = self.join_bindings(joined.plan, row, &mut |nodes, counts, row| {
            flow = self.push_joined((&joined, &mut cells), (nodes, counts), row, sink)?;
            Ok(flow == MORE)
        })?;
        if !is_joined {
            flow = self.match_joined(&joined, row, sink)?;
        }
        Ok(Some(flow))
    }

    /// Pushes the rows of a projection of a join, whose matches come one by one.
    fn match_joined(&self, joined: &JoinedRows<'_>, row: &mut Row, sink: Sink<'_>) -> Result<Flow> {
        self.produce(&joined.plan.rows, row, &mut |row| {
            if !self.all_hold(&joined.conditions, row)? {
                return Ok(MORE);
            }
            for (slot, item) in joined.items {
                row[*slot] = self.value(item, row)?;
            }
            sink(row)
        })
    }

    /// Pushes the rows of some bindings.
    fn push_joined(
        &self,
        (joined, cells): (&JoinedRows<'_>, &mut JoinedCells<'_, '_>),
        (nodes, counts): (&[u32], &[u64]),
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let parts = cells.values(nodes)?;
        let mut reserved = self.reservation();
        let Some(parts) = parts else {
            for at in 0..counts.len() {
                let flow = self.push_binding(
                    (joined, cells),
                    (nodes, counts, at),
                    (None, &joined.conditions),
                    (&mut *row, &mut *sink),
                )?;
                if flow.is_break() {
                    return Ok(DONE);
                }
            }
            return Ok(MORE);
        };
        reserved.grow(parts.iter().map(|(_, _, bytes)| *bytes).sum())?;
        for (positions, values, _) in parts {
            let mut values = values.into_iter();
            for at in positions {
                let of_row = values.by_ref().take(cells.projection.operators.len()).collect();
                let flow = self.push_binding(
                    (joined, cells),
                    (nodes, counts, at as usize),
                    (Some(of_row), &cells.others),
                    (&mut *row, &mut *sink),
                )?;
                if flow.is_break() {
                    return Ok(DONE);
                }
            }
        }
        Ok(MORE)
    }

    /// Pushes the rows of a binding that passes some conditions.
    fn push_binding(
        &self,
        (joined, cells): (&JoinedRows<'_>, &JoinedCells<'_, '_>),
        (nodes, counts, at): (&[u32], &[u64], usize),
        (values, conditions): (Option<Vec<Value>>, &[&Expression]),
        (row, sink): (&mut Row, Sink<'_>),
    ) -> Result<Flow> {
        self.tick()?;
        let graph = cells.batch.graph();
        joined.plan.bind(&nodes[at * cells.width..][..cells.width], graph, row);
        if !self.all_hold(conditions, row)? {
            return Ok(MORE);
        }
        cells.projection.set(self, values, row)?;
        for _ in 0..counts[at] {
            self.tick()?;
            if sink(row)?.is_break() {
                return Ok(DONE);
            }
        }
        Ok(MORE)
    }
}
