//! Batches of nodes with the cells of their properties.

use super::cell::{Cell, Decided, Undecided};
use super::compile::{CellOperator, Compiler, VariableProperty};
use super::evaluate::Columns;
use crate::ast::LabelExpr;
use crate::execute::adjacency::{Adjacency, PropertyColumn};
use crate::execute::join::{CHECKED_NODES, collect};
use crate::execute::plan::{Expression, Operation, SlotIndex, ValueStep};
use crate::execute::run::{Execution, Row};
use hexgraph_base::types::Result;
use hexgraph_scalar::Value;

/// A property is read in about so many nanoseconds, and an operator evaluated. Estimates: rows of a
/// column are contiguous.
const READ_NANOS: usize = 8;
const OPERATOR_NANOS: usize = 4;

/// The columns of some properties.
pub(in crate::execute) struct CellBatch<'g> {
    graph: &'g dyn Adjacency,
    /// Each with the position of its variable.
    columns: Vec<(usize, Box<dyn PropertyColumn + 'g>)>,
}

/// The distinct nodes of a variable in a chunk, in ascending order, and the index of each row's.
struct Distinct {
    nodes: Vec<u32>,
    /// `None` where each row has the next node.
    indexes: Option<Vec<u32>>,
}

impl Distinct {
    fn new(rows: &[u32], variable: usize, width: usize) -> Distinct {
        let nodes: Vec<u32> = rows.iter().skip(variable).step_by(width).copied().collect();
        if nodes.is_sorted_by(|one, other| one < other) {
            return Distinct { nodes, indexes: None };
        }
        let mut order: Vec<(u32, u32)> = nodes.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let (mut distinct, mut indexes) = (Vec::new(), vec![0; nodes.len()]);
        for (node, at) in order {
            if distinct.last() != Some(&node) {
                distinct.push(node);
            }
            indexes[at as usize] = distinct.len() as u32 - 1;
        }
        Distinct { nodes: distinct, indexes: Some(indexes) }
    }
}

impl<'g> CellBatch<'g> {
    pub(super) fn new(properties: &[VariableProperty], graph: &'g dyn Adjacency) -> CellBatch<'g> {
        let columns = properties.iter().map(|(at, name)| (*at, graph.property(name, false)));
        let columns = columns.collect();
        CellBatch { graph, columns }
    }

    pub(super) fn graph(&self) -> &'g dyn Adjacency {
        self.graph
    }

    /// Calls `work` with the cells of each chunk of ascending nodes, as [`CellBatch::each_row`].
    pub(super) fn each<R: Send>(
        &self,
        nodes: &[u32],
        about: (usize, usize),
        work: impl Fn(&[u32], Columns<'_, '_>) -> Decided<R> + Sync,
    ) -> Result<Option<Vec<R>>> {
        self.each_row((nodes, 1), about, |_, nodes, columns| work(nodes, columns))
    }

    /// Calls `work` with the number, the nodes and the cells of each chunk of rows, on all threads,
    /// and returns the results in their order. A row has a node for each of `width` variables.
    /// Chunks begin at the same rows with any number of threads. `None` where a chunk has no cells,
    /// or `work` does not decide.
    pub(super) fn each_row<R: Send>(
        &self,
        (nodes, width): (&[u32], usize),
        (operators, chunk): (usize, usize),
        work: impl Fn(usize, &[u32], Columns<'_, '_>) -> Decided<R> + Sync,
    ) -> Result<Option<Vec<R>>> {
        let nanos = self.columns.len() * READ_NANOS * width + operators * OPERATOR_NANOS;
        let chunks: Vec<&[u32]> = nodes.chunks(chunk * width).collect();
        let parts = collect(self.graph, chunks.len(), nanos * chunk, |range| {
            let mut results = Vec::new();
            for number in range {
                self.graph.check()?;
                let nodes = chunks[number];
                let Some(columns) = self.cells(nodes, width)? else { return Ok(None) };
                match work(number, nodes, &columns) {
                    Ok(result) => results.push(result),
                    Err(_) => return Ok(None),
                }
            }
            Ok(Some(results))
        })?;
        let parts: Option<Vec<Vec<R>>> = parts.into_iter().collect();
        Ok(parts.map(|it| it.into_iter().flatten().collect()))
    }

    /// The cells of all columns for the rows of a chunk.
    fn cells(&self, rows: &[u32], width: usize) -> Result<Option<Vec<Vec<Cell<'_>>>>> {
        let mut of_variables: Vec<Option<Distinct>> = (0..width).map(|_| None).collect();
        let mut columns = Vec::with_capacity(self.columns.len());
        for (variable, column) in &self.columns {
            let Distinct { nodes, indexes } = of_variables[*variable]
                .get_or_insert_with(|| Distinct::new(rows, *variable, width));
            let mut cells = Vec::with_capacity(nodes.len());
            if !column.cells(nodes, &mut cells)? {
                return Ok(None);
            }
            columns.push(match indexes {
                Some(indexes) => indexes.iter().map(|at| cells[*at as usize]).collect(),
                None => cells,
            });
        }
        Ok(Some(columns))
    }
}

/// The conditions of a node that cells decide.
pub(in crate::execute) struct Conditions<'g> {
    batch: CellBatch<'g>,
    operators: Vec<CellOperator>,
}

impl<'g> Conditions<'g> {
    /// The conditions that cells decide, and the others. Those that all nodes with `label` pass
    /// are left out.
    pub(in crate::execute) fn new<'e>(
        (execution, graph): (&Execution<'_>, &'g dyn Adjacency),
        (slot, label): (SlotIndex, Option<&str>),
        conditions: impl Iterator<Item = &'e Expression>,
        row: &mut Row,
    ) -> (Conditions<'g>, Vec<&'e Expression>) {
        let slots = [slot];
        let mut compiler = Compiler::new(execution, &slots, row);
        let (mut operators, mut others) = (Vec::new(), Vec::new());
        for condition in conditions {
            if label.is_some_and(|label| is_label(condition, slot, label)) {
                continue;
            }
            match compiler.compile(condition) {
                Some(operator) => operators.push(operator),
                None => others.push(condition),
            }
        }
        let batch = CellBatch::new(&compiler.properties, graph);
        (Conditions { batch, operators }, others)
    }

    /// Whether there are none.
    pub(in crate::execute) fn is_empty(&self) -> bool {
        self.operators.is_empty()
    }

    /// For each of ascending nodes whether it passes; `None` where cells do not decide.
    pub(in crate::execute) fn passes(&self, nodes: &[u32]) -> Result<Option<Vec<bool>>> {
        let results =
            self.batch.each(nodes, (self.operators.len(), CHECKED_NODES), |nodes, columns| {
                let mut passes = vec![true; nodes.len()];
                for operator in &self.operators {
                    operator.filter(columns, &mut passes)?;
                }
                Ok(passes)
            })?;
        Ok(results.map(|it| it.concat()))
    }

    /// The nodes of ascending ones that pass; `None` where cells do not decide.
    pub(in crate::execute) fn passing(&self, nodes: &[u32]) -> Result<Option<Vec<u32>>> {
        if self.is_empty() {
            return Ok(Some(nodes.to_vec()));
        }
        let Some(passes) = self.passes(nodes)? else { return Ok(None) };
        let passing = nodes.iter().zip(passes).filter(|(_, passes)| *passes);
        Ok(Some(passing.map(|(node, _)| *node).collect()))
    }
}

/// Whether a condition is that a node has one label.
fn is_label(condition: &Expression, slot: SlotIndex, label: &str) -> bool {
    let Operation::Steps(node, steps) = &condition.operation else { return false };
    let [ValueStep::HasLabels(test)] = &steps[..] else { return false };
    matches!(node.operation, Operation::Slot(it) if it == slot)
        && matches!(&test.labels, LabelExpr::Label(name) if *name.text == *label)
}

/// An expression of a node that cells give.
pub(in crate::execute) struct CellExpression<'g> {
    batch: CellBatch<'g>,
    operator: CellOperator,
}

impl<'g> CellExpression<'g> {
    /// `None` where rows are needed.
    pub(in crate::execute) fn new(
        (execution, graph): (&Execution<'_>, &'g dyn Adjacency),
        slot: SlotIndex,
        expression: &Expression,
        row: &mut Row,
    ) -> Option<CellExpression<'g>> {
        let slots = [slot];
        let mut compiler = Compiler::new(execution, &slots, row);
        let operator = compiler.compile(expression)?;
        Some(CellExpression { batch: CellBatch::new(&compiler.properties, graph), operator })
    }

    /// The values of ascending nodes, where these are null, booleans or numbers.
    pub(in crate::execute) fn numbers(&self, nodes: &[u32]) -> Result<Option<Vec<Value>>> {
        let values = self.batch.each(nodes, (2, CHECKED_NODES), |nodes, columns| {
            let value = |at| match self.operator.evaluate(columns, at)? {
                Cell::Text(_) | Cell::Time(_) => Err(Undecided),
                cell => cell.value(),
            };
            (0..nodes.len()).map(value).collect::<Decided<Vec<Value>>>()
        })?;
        Ok(values.map(|it| it.into_iter().flatten().collect()))
    }
}
