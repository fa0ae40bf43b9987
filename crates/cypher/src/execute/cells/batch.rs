//! Batches of nodes, whose chunks are evaluated on all threads.

use super::bits::Bits;
use super::cell::{Cell, Decided, Undecided};
use super::chunk::{Chunk, ChunkProperty};
use super::compile::{BoundSlots, CellOperator, CellProperty, Compiler, PropertyOwner};
use super::node_test::labels_required;
use crate::ast::LabelExpr;
use crate::execute::adjacency::Adjacency;
use crate::execute::join::{CHECKED_NODES, collect};
use crate::execute::plan::{Expression, SlotIndex};
use crate::execute::run::{Execution, Row};
use hexgraph_base::types::Result;
use hexgraph_scalar::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// A property is read in about so many nanoseconds, and an operator evaluated. Estimates: rows of a
/// column are contiguous.
const READ_NANOS: usize = 8;
const OPERATOR_NANOS: usize = 4;

/// The columns of some properties.
pub(in crate::execute) struct CellBatch<'g> {
    graph: &'g dyn Adjacency,
    columns: Vec<ChunkProperty<'g>>,
}

impl<'g> CellBatch<'g> {
    pub(super) fn new(properties: &[CellProperty], graph: &'g dyn Adjacency) -> CellBatch<'g> {
        let column = |(owner, name): &CellProperty| match *owner {
            PropertyOwner::Node(variable) => {
                ChunkProperty::OfNode(variable, graph.property(name, false))
            }
            PropertyOwner::Relationship(endpoints) => {
                ChunkProperty::OfRelationship(endpoints, Arc::clone(name))
            }
        };
        CellBatch { graph, columns: properties.iter().map(column).collect() }
    }

    pub(super) fn graph(&self) -> &'g dyn Adjacency {
        self.graph
    }

    /// Calls `work` with each chunk of ascending nodes, as [`CellBatch::each_row`].
    pub(super) fn each<'s, R: Send>(
        &'s self,
        nodes: &[u32],
        about: (usize, usize),
        work: impl Fn(&Chunk<'_, 's>) -> Decided<R> + Sync,
    ) -> Result<Option<Vec<R>>> {
        self.each_row((nodes, 1), about, |_, chunk| work(chunk))
    }

    /// Calls `work` with the number and the rows of each chunk, on all threads, and returns the
    /// results in their order. A row has a node for each of `width` variables. Chunks begin at the
    /// same rows with any number of threads. `None` where `work` does not decide.
    pub(super) fn each_row<'s, R: Send>(
        &'s self,
        (nodes, width): (&[u32], usize),
        (operators, chunk): (usize, usize),
        work: impl Fn(usize, &Chunk<'_, 's>) -> Decided<R> + Sync,
    ) -> Result<Option<Vec<R>>> {
        let nanos = self.columns.len() * READ_NANOS * width + operators * OPERATOR_NANOS;
        let chunks: Vec<&[u32]> = nodes.chunks(chunk * width).collect();
        let parts = collect(self.graph, chunks.len(), nanos * chunk, |range| {
            let mut results = Vec::new();
            for number in range {
                self.graph.check()?;
                let sources = (self.graph, &self.columns[..]);
                match work(number, &Chunk::new(sources, Cow::Borrowed(chunks[number]), width)) {
                    Ok(result) => results.push(result),
                    Err(Undecided::Rows) => return Ok(None),
                    Err(Undecided::Failed(error)) => return Err(error),
                }
            }
            Ok(Some(results))
        })?;
        let parts: Option<Vec<Vec<R>>> = parts.into_iter().collect();
        Ok(parts.map(|it| it.into_iter().flatten().collect()))
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
        let mut compiler = Compiler::new(execution, BoundSlots::of_nodes(&slots), row);
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

    /// The nodes of ascending ones that pass; `None` where cells do not decide.
    pub(in crate::execute) fn passing(&self, nodes: &[u32]) -> Result<Option<Vec<u32>>> {
        if self.is_empty() {
            return Ok(Some(nodes.to_vec()));
        }
        let results = self.each(nodes, |chunk| {
            let node = |position: u32| chunk.rows()[position as usize];
            Ok(passing_rows(&self.operators, chunk)?.into_iter().map(node).collect::<Vec<u32>>())
        })?;
        Ok(results.map(|it| it.concat()))
    }

    fn each<'s, R: Send>(
        &'s self,
        nodes: &[u32],
        work: impl Fn(&Chunk<'_, 's>) -> Decided<R> + Sync,
    ) -> Result<Option<Vec<R>>> {
        self.batch.each(nodes, (self.operators.len(), CHECKED_NODES), work)
    }
}

/// The positions of the rows of a chunk that pass all conditions. Each condition is evaluated for
/// the rows that pass those before it.
pub(super) fn passing_rows<'s>(
    conditions: &'s [CellOperator],
    chunk: &Chunk<'_, 's>,
) -> Decided<Vec<u32>> {
    let Some((first, others)) = conditions.split_first() else {
        return Ok(Bits::all(chunk.len(), true).positions());
    };
    let mut positions = first.truths(chunk)?.holding().positions();
    if others.is_empty() || positions.is_empty() {
        return Ok(positions);
    }
    let mut rest = chunk.narrowed(&positions);
    for (at, operator) in others.iter().enumerate() {
        let passing = operator.truths(&rest)?.holding().positions();
        if passing.len() < positions.len() {
            positions = passing.iter().map(|at| positions[*at as usize]).collect();
            if positions.is_empty() || at + 1 == others.len() {
                break;
            }
            rest = rest.narrowed(&passing);
        }
    }
    Ok(positions)
}

/// Whether a condition is that a node has one label.
fn is_label(condition: &Expression, slot: SlotIndex, label: &str) -> bool {
    matches!(labels_required(condition, slot), Some(LabelExpr::Label(it)) if *it.text == *label)
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
        let mut compiler = Compiler::new(execution, BoundSlots::of_nodes(&slots), row);
        let operator = compiler.compile(expression)?;
        Some(CellExpression { batch: CellBatch::new(&compiler.properties, graph), operator })
    }

    /// The values of ascending nodes, where these are null, booleans or numbers.
    pub(in crate::execute) fn numbers(&self, nodes: &[u32]) -> Result<Option<Vec<Value>>> {
        let values = self.batch.each(nodes, (2, CHECKED_NODES), |chunk| {
            let vector = self.operator.evaluate(chunk)?;
            let value = |at| match vector.cell(at) {
                Cell::Text(_) | Cell::Time(_) => Err(Undecided::Rows),
                cell => cell.value(),
            };
            (0..chunk.len()).map(value).collect::<Decided<Vec<Value>>>()
        })?;
        Ok(values.map(|it| it.into_iter().flatten().collect()))
    }
}
