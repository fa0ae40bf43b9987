//! Scans whose conditions and projections are evaluated by cells. The first batch runs row by row:
//! most scans that have a limit end in it, and small labels need no columns.

use super::batch::{CellBatch, Conditions};
use super::cell::{Decided, Undecided};
use super::chunk::Chunk;
use super::compile::{BoundSlots, CellOperator, Compiler};
use crate::execute::adjacency::Adjacency;
use crate::execute::join::CHECKED_NODES;
use crate::execute::plan::{Expression, MatchPlan, MatchStep, NodeAccess, Operation, SlotIndex};
use crate::execute::profile::Profile;
use crate::execute::run::{DONE, Execution, Flow, MORE, Row, Sink, weight};
use hexgraph_base::types::Result;
use hexgraph_scalar::Value;
use std::ops::ControlFlow;
use std::slice;

/// The nodes of the first batch by cells, and of the largest one: their values are in memory
/// before the first of their rows goes on. A batch is four times as large as the one before.
const NODES_MIN: usize = 1 << 12;
const NODES_MAX: usize = 1 << 16;

/// Longer values of a chunk of nodes are left to rows: a batch has at most 64 chunks.
pub(super) const BYTES_MAX: usize = 1 << 20;

/// The nodes that are left to scan.
pub(in crate::execute) struct Rest<'p> {
    pub(in crate::execute) slot: SlotIndex,
    pub(in crate::execute) label: Option<&'p str>,
    /// The last node that was scanned.
    pub(in crate::execute) after: u64,
}

/// So many nodes of an index are bound row by row: most queries by an index have no more.
const ROWS_BY_INDEX: usize = if cfg!(test) { 1 } else { 64 };
/// Cells list the nodes of a label to test it: 200,000 in 430 µs, by `benches/one_label.py
/// --look-ups`. A row of a scan costs as much as so many of them.
const NODES_PER_ROW: usize = 256;

/// A match that is a scan with conditions.
pub(super) struct ScanOnly<'p> {
    pub(super) slot: SlotIndex,
    pub(super) access: &'p NodeAccess,
    pub(super) label: Option<&'p str>,
    pub(super) scan: &'p MatchStep,
    pub(super) filters: &'p [MatchStep],
}

/// The conditions that follow the binding of a node: those that cells decide, and the others.
pub(in crate::execute) struct Filters<'p, 'g> {
    slot: SlotIndex,
    label: Option<&'p str>,
    graph: &'g dyn Adjacency,
    steps: &'p [MatchStep],
    pub(super) conditions: Conditions<'g>,
    pub(super) others: Vec<&'p Expression>,
}

/// The scan that a match is, where it does not begin at uids.
pub(super) fn scan_only(plan: &MatchPlan) -> Option<ScanOnly<'_>> {
    let (scan, filters) = plan.steps.split_first()?;
    let MatchStep::Scan { slot, access } = scan else { return None };
    if let NodeAccess::Uids(_) = access {
        return None;
    }
    let is_filter = |it: &MatchStep| matches!(it, MatchStep::Filter(_));
    let (slot, label) = (*slot, access.label());
    filters.iter().all(is_filter).then_some(ScanOnly { slot, access, label, scan, filters })
}

/// The conditions that steps begin with, and the other steps.
pub(in crate::execute) fn leading_filters(steps: &[MatchStep]) -> (&[MatchStep], &[MatchStep]) {
    let is_filter = |it: &&MatchStep| matches!(it, MatchStep::Filter(_));
    steps.split_at(steps.iter().take_while(is_filter).count())
}

/// The conditions of steps.
pub(super) fn conditions_of(steps: &[MatchStep]) -> impl Iterator<Item = &Expression> {
    steps.iter().filter_map(|step| match step {
        MatchStep::Filter(condition) => Some(condition),
        MatchStep::Scan { .. }
        | MatchStep::Expand(_)
        | MatchStep::Walk(_)
        | MatchStep::Bound { .. }
        | MatchStep::Path { .. }
        | MatchStep::Shortest { .. } => None,
    })
}

impl<'a> Execution<'a> {
    /// Scans the rest of the nodes in batches. The conditions that follow the scan are evaluated by
    /// cells; `go_on` runs the steps after them. `None` where no condition has cells.
    pub(in crate::execute) fn scan_rest(
        &self,
        Rest { slot, label, after }: Rest<'_>,
        rest: &[MatchStep],
        row: &mut Row,
        go_on: &mut dyn FnMut(&[MatchStep], &mut Row) -> Result<Flow>,
    ) -> Result<Option<Flow>> {
        let Some(graph) = self.graph.adjacency() else { return Ok(None) };
        let (steps, rest) = leading_filters(rest);
        let filters = self.filters((slot, label), steps, graph, row);
        if filters.others.len() == steps.len() {
            return Ok(None);
        }
        let nodes = ScanNodes::scanned(graph, label, Some(after))?;
        for batch in batches(nodes.nodes()) {
            graph.check()?;
            if self.bind_nodes(&filters, batch, row, &mut |row| go_on(rest, row))?.is_break() {
                return Ok(Some(DONE));
            }
        }
        Ok(Some(MORE))
    }

    /// Calls back with the row of each of some ascending nodes that pass.
    pub(in crate::execute) fn bind_nodes(
        &self,
        filters: &Filters<'_, '_>,
        nodes: &[u32],
        row: &mut Row,
        go_on: &mut dyn FnMut(&mut Row) -> Result<Flow>,
    ) -> Result<Flow> {
        if let Some(profile) = &self.profile {
            profile.add_rows_of_current(nodes.len());
        }
        let (passing, left) = self.passing(filters, nodes, row)?;
        for node in passing {
            self.tick()?;
            row[filters.slot] = Value::Node(filters.graph.node(node));
            if self.all_hold(&left, row)? && go_on(row)?.is_break() {
                return Ok(DONE);
            }
        }
        Ok(MORE)
    }

    /// The conditions of a node.
    pub(in crate::execute) fn filters<'p, 'g>(
        &self,
        (slot, label): (SlotIndex, Option<&'p str>),
        steps: &'p [MatchStep],
        graph: &'g dyn Adjacency,
        row: &mut Row,
    ) -> Filters<'p, 'g> {
        let (conditions, others) =
            Conditions::new((self, graph), (slot, label), conditions_of(steps), row);
        Filters { slot, label, graph, steps, conditions, others }
    }

    /// The nodes of a batch that pass, and the conditions that are still to be tested for each.
    pub(super) fn passing<'f>(
        &self,
        filters: &'f Filters<'_, '_>,
        batch: &[u32],
        row: &mut Row,
    ) -> Result<(Vec<u32>, Vec<&'f Expression>)> {
        if let Some(profile) = &self.profile {
            return Ok((self.profiled_passing(profile, filters, batch, row)?, Vec::new()));
        }
        Ok(match filters.conditions.passing(batch)? {
            Some(passing) => (passing, filters.others.clone()),
            None => (batch.to_vec(), conditions_of(filters.steps).collect()),
        })
    }

    /// The nodes of a batch that pass: one step after the other, so that each has its rows and its
    /// time.
    fn profiled_passing(
        &self,
        profile: &Profile,
        filters: &Filters<'_, '_>,
        batch: &[u32],
        row: &mut Row,
    ) -> Result<Vec<u32>> {
        let Filters { slot, label, graph, .. } = *filters;
        let mut nodes = batch.to_vec();
        for step in filters.steps {
            let id = Profile::id_of(step);
            let before = profile.enter(Some(id));
            let of_step = self.filters((slot, label), slice::from_ref(step), graph, row);
            let passing = of_step.conditions.passing(&nodes)?.filter(|_| of_step.others.is_empty());
            nodes = match passing {
                Some(passing) => passing,
                None => {
                    let conditions: Vec<&Expression> = conditions_of(of_step.steps).collect();
                    let mut passing = Vec::new();
                    for node in nodes {
                        self.tick()?;
                        row[slot] = Value::Node(graph.node(node));
                        if self.all_hold(&conditions, row)? {
                            passing.push(node);
                        }
                    }
                    passing
                }
            };
            profile.add_rows(id, nodes.len());
            profile.enter(before);
        }
        Ok(nodes)
    }

    pub(super) fn all_hold(&self, conditions: &[&Expression], row: &mut Row) -> Result<bool> {
        for condition in conditions {
            if !self.holds(condition, row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Pushes the rows of a projection of a match that is a scan; `None` for another match.
    pub(in crate::execute) fn project_scan(
        &self,
        plan: &MatchPlan,
        items: &[(SlotIndex, Expression)],
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Option<Flow>> {
        let Some(graph) = self.graph.adjacency() else { return Ok(None) };
        let Some(scan) = scan_only(plan) else { return Ok(None) };
        let (nodes, projection) = match self.begun_scan((&scan, graph), items, row, sink)? {
            ControlFlow::Break(flow) => return Ok(Some(flow)),
            ControlFlow::Continue(rest) => rest,
        };
        let about = (nodes.label, nodes.nodes());
        self.project_nodes(&scan, &projection, about, row, sink).map(Some)
    }

    /// Pushes the first rows of a scan, and returns the nodes that are left with their projection.
    /// A scan without more nodes breaks: most look-ups do, and nothing is compiled for them.
    pub(super) fn begun_scan<'p, 'g>(
        &self,
        (scan, graph): (&ScanOnly<'p>, &'g dyn Adjacency),
        items: &'p [(SlotIndex, Expression)],
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<ControlFlow<Flow, (ScanNodes<'p, 'g>, CellProjection<'p, 'g>)>> {
        let nodes = match self.first_rows((scan, graph), items, row, sink)? {
            ControlFlow::Break(()) => return Ok(ControlFlow::Break(DONE)),
            ControlFlow::Continue(nodes) => nodes,
        };
        if nodes.nodes().is_empty() {
            return Ok(ControlFlow::Break(MORE));
        }
        let bound = BoundSlots::of_nodes(slice::from_ref(&scan.slot));
        let projection = CellProjection::new(self, graph, (bound, items), row);
        Ok(ControlFlow::Continue((nodes, projection)))
    }

    /// Pushes the rows of the first nodes one by one, and returns the others.
    fn first_rows<'p, 'g>(
        &self,
        (scan, graph): (&ScanOnly<'p>, &'g dyn Adjacency),
        items: &[(SlotIndex, Expression)],
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<ControlFlow<(), ScanNodes<'p, 'g>>> {
        if let Some(nodes) = self.indexed_nodes(scan, row)? {
            let _reserved = self.reserve_nodes(&nodes)?;
            let labelled = self.label_count(scan.label)?.unwrap_or(0) as usize;
            let least = labelled / NODES_PER_ROW;
            let (first, others) = nodes.split_at(nodes.len().min(least.max(ROWS_BY_INDEX)));
            if self.push_rows(scan, first, items, row, sink)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            return ScanNodes::indexed(graph, others).map(ControlFlow::Continue);
        }
        let mut batch = Vec::new();
        self.node_batch(scan.label, None, &mut batch)?;
        if self.push_rows(scan, &batch, items, row, sink)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let last = batch.last().copied();
        batch.clear();
        self.node_batch(scan.label, last, &mut batch)?;
        match batch.is_empty() {
            true => ScanNodes::indexed(graph, &[]),
            false => ScanNodes::scanned(graph, scan.label, last),
        }
        .map(ControlFlow::Continue)
    }

    /// The number of nodes with a label; `None` without one.
    pub(in crate::execute) fn label_count(&self, label: Option<&str>) -> Result<Option<u64>> {
        label.map(|it| self.graph.label_count(it)).transpose()
    }

    /// The nodes that an index has for a scan; `None` where all nodes are read.
    fn indexed_nodes(&self, scan: &ScanOnly<'_>, row: &mut Row) -> Result<Option<Vec<u64>>> {
        self.sought(scan.access, &|| self.label_count(scan.label), row)
    }

    /// All nodes of a scan; `None` where they are fewer than `least`.
    pub(super) fn many_nodes<'p, 'g>(
        &self,
        (scan, graph): (&ScanOnly<'p>, &'g dyn Adjacency),
        least: usize,
        row: &mut Row,
    ) -> Result<Option<ScanNodes<'p, 'g>>> {
        let labelled = self.label_count(scan.label)?;
        let sought = self.sought_len(scan.access, &|| Ok(labelled), row)?;
        let count = match sought.map(|it| it as u64).or(labelled) {
            Some(count) => count,
            None => self.graph.node_count()?,
        };
        if count < least as u64 {
            return Ok(None);
        }
        let nodes = match sought {
            Some(_) => self.indexed_nodes(scan, row)?,
            None => None,
        };
        match nodes {
            Some(nodes) => {
                let _reserved = self.reserve_nodes(&nodes)?;
                ScanNodes::indexed(graph, &nodes).map(Some)
            }
            None => ScanNodes::scanned(graph, scan.label, None).map(Some),
        }
    }

    /// Pushes the rows of nodes one by one.
    fn push_rows(
        &self,
        scan: &ScanOnly<'_>,
        nodes: &[u64],
        items: &[(SlotIndex, Expression)],
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        if let Some(profile) = &self.profile {
            profile.add_rows(Profile::id_of(scan.scan), nodes.len());
        }
        'nodes: for node in nodes {
            self.tick()?;
            row[scan.slot] = Value::Node(*node);
            for (step, condition) in scan.filters.iter().zip(conditions_of(scan.filters)) {
                if !self.holds(condition, row)? {
                    continue 'nodes;
                }
                if let Some(profile) = &self.profile {
                    profile.add_rows(Profile::id_of(step), 1);
                }
            }
            for (slot, item) in items {
                row[*slot] = self.value(item, row)?;
            }
            if sink(row)?.is_break() {
                return Ok(DONE);
            }
        }
        Ok(MORE)
    }

    /// Pushes the rows of nodes, which all have the label.
    pub(super) fn project_nodes(
        &self,
        scan: &ScanOnly<'_>,
        projection: &CellProjection<'_, '_>,
        (label, nodes): (Option<&str>, &[u32]),
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let graph = projection.batch.graph();
        let filters = self.filters((scan.slot, label), scan.filters, graph, row);
        for batch in batches(nodes) {
            graph.check()?;
            if let Some(profile) = &self.profile {
                profile.add_rows(Profile::id_of(scan.scan), batch.len());
            }
            if self.project_batch(&filters, projection, batch, row, sink)?.is_break() {
                return Ok(DONE);
            }
        }
        Ok(MORE)
    }

    /// Pushes the rows of a batch of nodes.
    pub(super) fn project_batch(
        &self,
        filters: &Filters<'_, '_>,
        projection: &CellProjection<'_, '_>,
        batch: &[u32],
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let (passing, left) = self.passing(filters, batch, row)?;
        let values = projection.values(&passing)?;
        let mut reserved = self.reservation();
        reserved.grow(values.iter().flatten().map(|(_, bytes)| *bytes).sum())?;
        let mut values = values.map(|it| it.into_iter().flat_map(|(values, _)| values));
        for node in passing {
            self.tick()?;
            row[filters.slot] = Value::Node(filters.graph.node(node));
            // The values of a node that does not pass are skipped with it.
            let of_node: Option<Vec<Value>> =
                values.as_mut().map(|it| it.by_ref().take(projection.operators.len()).collect());
            if !self.all_hold(&left, row)? {
                continue;
            }
            projection.set(self, of_node, row)?;
            if sink(row)?.is_break() {
                return Ok(DONE);
            }
        }
        Ok(MORE)
    }
}

/// The nodes of a scan, whose memory is reserved until this is dropped.
pub(super) struct ScanNodes<'p, 'g> {
    graph: &'g dyn Adjacency,
    nodes: Vec<u32>,
    start: usize,
    /// The label that all of them have.
    pub(super) label: Option<&'p str>,
}

impl<'p, 'g> ScanNodes<'p, 'g> {
    /// The nodes with a label after one.
    pub(super) fn scanned(
        graph: &'g dyn Adjacency,
        label: Option<&'p str>,
        after: Option<u64>,
    ) -> Result<ScanNodes<'p, 'g>> {
        let nodes = match label {
            Some(label) => graph.labelled(label)?,
            None => graph.all()?,
        };
        let start = match after.and_then(|it| graph.number(it)) {
            Some(after) => nodes.partition_point(|it| *it <= after),
            None => 0,
        };
        Ok(ScanNodes { graph, nodes, start, label })
    }

    /// Ascending nodes that an index has.
    fn indexed(graph: &'g dyn Adjacency, nodes: &[u64]) -> Result<ScanNodes<'p, 'g>> {
        graph.reserve(nodes.len() * size_of::<u32>())?;
        let nodes = nodes.iter().filter_map(|it| graph.number(*it)).collect();
        Ok(ScanNodes { graph, nodes, start: 0, label: None })
    }

    pub(super) fn nodes(&self) -> &[u32] {
        &self.nodes[self.start..]
    }
}

impl Drop for ScanNodes<'_, '_> {
    fn drop(&mut self) {
        self.graph.release(size_of_val(&self.nodes[..]));
    }
}

/// The items of a projection of nodes.
pub(super) struct CellProjection<'p, 'g> {
    pub(super) batch: CellBatch<'g>,
    /// The items that have cells, and their slots.
    pub(super) operators: Vec<(SlotIndex, &'p Expression, CellOperator)>,
    /// The other items.
    others: Vec<(SlotIndex, &'p Expression)>,
}

impl<'p, 'g> CellProjection<'p, 'g> {
    pub(super) fn new(
        execution: &Execution<'_>,
        graph: &'g dyn Adjacency,
        (bound, items): (BoundSlots<'_>, &'p [(SlotIndex, Expression)]),
        row: &mut Row,
    ) -> CellProjection<'p, 'g> {
        let mut compiler = Compiler::new(execution, bound, row);
        let (mut operators, mut others) = (Vec::new(), Vec::new());
        for (to, item) in items {
            // Constants and other slots are copied.
            let is_copied = matches!(item.operation, Operation::Slot(_) | Operation::Constant(_));
            match compiler.compile(item).filter(|_| !is_copied) {
                Some(operator) => operators.push((*to, item, operator)),
                None => others.push((*to, item)),
            }
        }
        CellProjection { batch: CellBatch::new(&compiler.properties, graph), operators, others }
    }

    /// The values of all items that have cells, node by node; `None` where cells do not decide.
    fn values(&self, nodes: &[u32]) -> Result<Option<Vec<(Vec<Value>, usize)>>> {
        self.batch
            .each(nodes, (2 * self.operators.len(), CHECKED_NODES), |chunk| self.values_of(chunk))
    }

    /// The values of a chunk, row by row, and their bytes.
    pub(super) fn values_of<'s>(&'s self, chunk: &Chunk<'_, 's>) -> Decided<(Vec<Value>, usize)> {
        let vectors = self.operators.iter().map(|(_, _, it)| it.evaluate(chunk));
        let vectors = vectors.collect::<Decided<Vec<_>>>()?;
        let mut values = Vec::with_capacity(chunk.len() * vectors.len());
        let mut bytes = 0;
        for at in 0..chunk.len() {
            for vector in &vectors {
                let value = vector.cell(at).value()?;
                bytes += weight(&value);
                values.push(value);
            }
            if BYTES_MAX < bytes {
                return Err(Undecided::Rows);
            }
        }
        Ok((values, bytes))
    }

    /// Sets the items of a row.
    pub(super) fn set(
        &self,
        execution: &Execution<'_>,
        values: Option<Vec<Value>>,
        row: &mut Row,
    ) -> Result<()> {
        match values {
            Some(values) => {
                for ((slot, _, _), value) in self.operators.iter().zip(values) {
                    row[*slot] = value;
                }
            }
            None => {
                for (slot, item, _) in &self.operators {
                    row[*slot] = execution.value(item, row)?;
                }
            }
        }
        for (slot, item) in &self.others {
            row[*slot] = execution.value(item, row)?;
        }
        Ok(())
    }
}

/// Batches of growing size.
pub(super) fn batches(nodes: &[u32]) -> impl Iterator<Item = &[u32]> {
    let (mut rest, mut size) = (nodes, NODES_MIN);
    std::iter::from_fn(move || {
        let (batch, behind) = rest.split_at(size.min(rest.len()));
        rest = behind;
        size = (4 * size).min(NODES_MAX);
        (!batch.is_empty()).then_some(batch)
    })
}
