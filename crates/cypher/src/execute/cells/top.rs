//! `ORDER BY` with a limit behind a scan: the first key is read for all nodes, and only those go on
//! whose key is among the first. Keys that are equal to the last of them stay: other keys decide.

use super::batch::CellBatch;
use super::cell::{Cell, Decided, Undecided};
use super::chunk::Chunk;
use super::compile::{BoundSlots, CellOperator, Compiler};
use super::scan::{CellProjection, ScanOnly, scan_only};
use crate::execute::join::CHECKED_NODES;
use crate::execute::plan::{Expression, MatchPlan, SlotIndex, SortKey, Stage};
use crate::execute::profile::Profile;
use crate::execute::rewrite::{Items, inlined};
use crate::execute::run::{Execution, Flow, Row, Sink};
use hexgraph_base::types::Result;

/// The most rows of a result, and the fewest nodes for each of them: with fewer, most would go on.
const ROWS_MAX: usize = 1 << 16;
const NODES_PER_ROW: usize = 4;
/// Fewer nodes are sorted as rows.
const NODES_MIN: usize = 1 << 12;

/// Null is the greatest key.
const NULL: i128 = i128::MAX;

/// What the keys of all nodes have to be, so that their numbers have their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberKind {
    Int,
    Float,
    Time,
}

impl Execution<'_> {
    /// Pushes the rows of a scan and perhaps its projection that may be among the first `most`;
    /// `None` where the stages are others, or the key has no number.
    pub(in crate::execute) fn top_scan(
        &self,
        before: &[Stage],
        keys: &[SortKey],
        most: usize,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Option<Flow>> {
        let Some(key) = keys.first().filter(|_| most <= ROWS_MAX) else { return Ok(None) };
        match before {
            [Stage::Match { plan, optional: false }, Stage::Project(items)] => {
                self.top_of(plan, items, (key, most), row, sink)
            }
            [Stage::Match { plan, optional: false }] => {
                self.top_of(plan, &[], (key, most), row, sink)
            }
            _ => Ok(None),
        }
    }

    /// The same of a join.
    pub(in crate::execute) fn top_join(
        &self,
        before: &[Stage],
        keys: &[SortKey],
        most: usize,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Option<Flow>> {
        match before {
            [before @ .., Stage::Project(items)] => {
                self.project_join((before, items), Some((keys, most)), row, sink)
            }
            before => self.project_join((before, &[]), Some((keys, most)), row, sink),
        }
    }

    fn top_of(
        &self,
        plan: &MatchPlan,
        items: &[(SlotIndex, Expression)],
        (key, most): (&SortKey, usize),
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Option<Flow>> {
        let (Some(scan), Some(graph)) = (scan_only(plan), self.graph.adjacency()) else {
            return Ok(None);
        };
        let aliases: Items = items.iter().cloned().collect();
        let Some(expression) = inlined(&key.key, &aliases) else { return Ok(None) };
        let slots = [scan.slot];
        let mut compiler = Compiler::new(self, BoundSlots::of_nodes(&slots), row);
        let Some(operator) = compiler.compile(&expression) else { return Ok(None) };
        let batch = CellBatch::new(&compiler.properties, graph);
        let least = NODES_MIN.max(most * NODES_PER_ROW);
        let Some(scanned) = self.many_nodes((&scan, graph), least, row)? else { return Ok(None) };
        let filters = self.filters((scan.slot, scanned.label), scan.filters, graph, row);
        if !filters.others.is_empty() {
            return Ok(None);
        }
        let mut reserved = self.reservation();
        let (mut nodes, left) = self.passing(&filters, scanned.nodes(), row)?;
        if !left.is_empty() {
            return Ok(None);
        }
        reserved.grow(nodes.len() * 3 * size_of::<i128>())?;
        let parts = batch.each(&nodes, (1, CHECKED_NODES), |chunk| {
            let (vector, mut kind) = (operator.evaluate(chunk)?, None);
            let number = |at| Ok(ascending(number_of(vector.cell(at), &mut kind)?, key));
            let numbers = (0..chunk.len()).map(number).collect::<Decided<Vec<i128>>>()?;
            let pairs = chunk.rows().iter().copied().zip(numbers).collect();
            Ok((kind, first_pairs(pairs, most)))
        })?;
        let Some(parts) = parts else { return Ok(None) };
        let mut kinds = parts.iter().filter_map(|(kind, _)| *kind);
        if let Some(first) = kinds.next()
            && !kinds.all(|it| it == first)
        {
            return Ok(None);
        }
        let pairs = parts.into_iter().flat_map(|(_, pairs)| pairs).collect();
        nodes = first_pairs(pairs, most).into_iter().map(|(node, _)| node).collect();
        if let Some(profile) = &self.profile {
            profile.add_rows(Profile::id_of(scan.scan), scanned.nodes().len() - nodes.len());
        }
        let scan = ScanOnly { filters: &[], ..scan };
        let projection =
            CellProjection::new(self, graph, (BoundSlots::of_nodes(&slots), items), row);
        self.project_nodes(&scan, &projection, (scanned.label, &nodes), row, sink).map(Some)
    }
}

/// The rows that may be among the first ones of an order, of rows that come in parts.
pub(super) struct TopRows<'p> {
    key: &'p SortKey,
    operator: CellOperator,
    most: usize,
    /// The numbers of the keys of the first rows so far: `most` of them after each part.
    numbers: Vec<i128>,
    kind: Option<NumberKind>,
    /// Whether all keys so far have numbers of one kind. All rows go on once they have not.
    is_open: bool,
}

/// The positions of a chunk that may be among the first, and the numbers of their keys.
pub(super) struct TopPart {
    pub(super) positions: Vec<u32>,
    /// `None` where a key has no number.
    numbers: Option<(Option<NumberKind>, Vec<i128>)>,
}

impl TopPart {
    /// Rows without an order.
    pub(super) fn all(positions: Vec<u32>) -> TopPart {
        TopPart { positions, numbers: None }
    }
}

impl<'p> TopRows<'p> {
    /// `None` where the first key needs rows.
    pub(super) fn new(
        (keys, most): (&'p [SortKey], usize),
        items: &[(SlotIndex, Expression)],
        compiler: &mut Compiler<'_, '_>,
    ) -> Option<TopRows<'p>> {
        let key = keys.first().filter(|_| (1..=ROWS_MAX).contains(&most))?;
        let aliases: Items = items.iter().cloned().collect();
        let operator = compiler.compile(&inlined(&key.key, &aliases)?)?;
        let (numbers, kind) = (Vec::new(), None);
        Some(TopRows { key, operator, most, numbers, kind, is_open: true })
    }

    /// The rows of some positions of a chunk that may be among the first. Every thread calls it.
    pub(super) fn part<'c>(
        &'c self,
        chunk: &Chunk<'_, 'c>,
        positions: Vec<u32>,
    ) -> Decided<TopPart> {
        if !self.is_open {
            return Ok(TopPart::all(positions));
        }
        let mut kind = None;
        let numbers = {
            let narrowed = (positions.len() < chunk.len()).then(|| chunk.narrowed(&positions));
            let vector = match self.operator.evaluate(narrowed.as_ref().unwrap_or(chunk)) {
                Err(Undecided::Rows) => return Ok(TopPart::all(positions)),
                vector => vector?,
            };
            let number = |at| Ok(ascending(number_of(vector.cell(at), &mut kind)?, self.key));
            (0..positions.len()).map(number).collect::<Decided<Vec<i128>>>()
        };
        let Ok(numbers) = numbers else { return Ok(TopPart::all(positions)) };
        let last = match self.kind == kind || kind.is_none() || self.kind.is_none() {
            true => self.last(),
            false => None,
        };
        let pairs = positions.into_iter().zip(numbers);
        let pairs = pairs.filter(|(_, number)| last.is_none_or(|last| *number <= last)).collect();
        let (positions, numbers) = first_pairs(pairs, self.most).into_iter().unzip();
        Ok(TopPart { positions, numbers: Some((kind, numbers)) })
    }

    /// The greatest number of the first rows, once there are enough.
    fn last(&self) -> Option<i128> {
        self.numbers.iter().max().copied().filter(|_| self.numbers.len() == self.most)
    }

    /// Adds the rows of the chunks of a part.
    pub(super) fn add(&mut self, parts: &[TopPart]) {
        for TopPart { numbers, .. } in parts {
            let Some((kind, numbers)) = numbers else {
                self.is_open = false;
                return;
            };
            if let (Some(one), Some(other)) = (self.kind, kind)
                && one != *other
            {
                self.is_open = false;
                return;
            }
            self.kind = self.kind.or(*kind);
            self.numbers.extend(numbers);
            if self.most < self.numbers.len() {
                self.numbers.select_nth_unstable(self.most - 1);
                self.numbers.truncate(self.most);
            }
        }
    }
}

/// The pairs of nodes and numbers whose number is not above that of the last of the first `most`.
fn first_pairs(mut pairs: Vec<(u32, i128)>, most: usize) -> Vec<(u32, i128)> {
    if let Some(index) = most.checked_sub(1).filter(|it| *it < pairs.len()) {
        let mut numbers: Vec<i128> = pairs.iter().map(|(_, number)| *number).collect();
        let (_, last, _) = numbers.select_nth_unstable(index);
        let last = *last;
        pairs.retain(|(_, number)| *number <= last);
    }
    pairs
}

/// A number in whose ascending order the numbers of a key are: descending ones are the others below
/// zero, as is a null that is first.
fn ascending(number: i128, key: &SortKey) -> i128 {
    let is_negated = if number == NULL { key.nulls_first } else { key.descending };
    if is_negated { -number } else { number }
}

/// A number in whose order the keys of one kind are.
fn number_of(cell: Cell<'_>, kind: &mut Option<NumberKind>) -> Decided<i128> {
    let (of_cell, number) = match cell {
        Cell::Null => return Ok(NULL),
        Cell::Int(number) => (NumberKind::Int, i128::from(number)),
        Cell::Float(number) if !number.is_nan() => {
            // Zeros are equal. The bits of floats ascend from 0 on, and descend below it.
            let bits = (number + 0.0).to_bits().cast_signed();
            let number = if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits };
            (NumberKind::Float, i128::from(number))
        }
        Cell::Time(time) => {
            let nanos = i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanos);
            (NumberKind::Time, nanos)
        }
        Cell::Float(_) | Cell::Bool(_) | Cell::Text(_) => return Err(Undecided::Rows),
    };
    match kind.get_or_insert(of_cell) {
        kind if *kind == of_cell => Ok(number),
        _ => Err(Undecided::Rows),
    }
}
