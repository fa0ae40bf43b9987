//! From a plan to its lines.

use super::line::Line;
use crate::ast::{Direction, SubqueryKind};
use crate::execute::plan::{
    Expression, Hop, MatchPlan, MatchStep, NodeAccess, Operation, QueryPlan, SlotIndex, Stage,
};
use crate::execute::profile::Profile;
use crate::execute::run::Execution;
use hexgraph_base::types::{Result, stack};
use rustc_hash::FxHashMap;

/// The lines of a plan in the order in which rows pass through it.
pub(in crate::execute) struct Outline<'e, 'a> {
    pub(super) execution: &'e Execution<'a>,
    pub(super) names: FxHashMap<SlotIndex, Box<str>>,
    /// How many slots a row has.
    pub(super) width: usize,
    pub(super) lines: Vec<Line>,
    depth: usize,
    /// About how many rows the last operator gives. Conditions count as if all rows passed.
    pub(super) rows: Option<f64>,
}

impl<'e, 'a> Outline<'e, 'a> {
    /// The lines of a plan.
    pub(in crate::execute) fn of(
        plan: &QueryPlan,
        execution: &'e Execution<'a>,
        (names, width): (FxHashMap<SlotIndex, Box<str>>, usize),
    ) -> Result<Vec<Line>> {
        let (lines, depth, rows) = (Vec::new(), 0, Some(1.0));
        let mut outline = Outline { execution, names, width, lines, depth, rows };
        outline.query(plan)?;
        Ok(outline.lines)
    }

    pub(super) fn add(&mut self, operator: &'static str, detail: String, measured: Option<usize>) {
        let (depth, estimate) = (self.depth, self.rows);
        self.lines.push(Line { depth, operator, detail, estimate, measured });
    }

    /// Adds lines that are part of the last one.
    pub(super) fn inside(&mut self, add: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        stack::check()?;
        self.depth += 1;
        let result = add(self);
        self.depth -= 1;
        result
    }

    fn query(&mut self, plan: &QueryPlan) -> Result<()> {
        if let [branch] = &plan.branches[..] {
            return self.stages(&branch.stages);
        }
        let rows = self.rows;
        let kind = if plan.distinct == 0 { "all" } else { "distinct" };
        self.rows = None;
        self.add("Union", kind.to_owned(), None);
        self.inside(|outline| {
            for branch in &plan.branches {
                outline.rows = rows;
                outline.stages(&branch.stages)?;
            }
            outline.rows = None;
            Ok(())
        })
    }

    pub(super) fn stages(&mut self, stages: &[Stage]) -> Result<()> {
        stages.iter().try_for_each(|stage| self.stage(stage))
    }

    fn stage(&mut self, stage: &Stage) -> Result<()> {
        let id = Some(Profile::id_of_stage(stage));
        match stage {
            Stage::Match { plan, optional: false } => self.match_plan(plan)?,
            Stage::Match { plan, optional: true } => {
                let rows = self.rows;
                self.rows = None;
                self.add("Optional", self.slots(&plan.assigned), id);
                self.rows = rows;
                self.inside(|outline| outline.match_plan(plan))?;
            }
            Stage::Join(plan) => self.join(plan, id)?,
            Stage::Repeat(_) => {}
            Stage::Unwind { list, slot } => {
                self.rows = None;
                let text = format!("{} AS {}", self.expression(list), self.slot(*slot));
                self.add("Unwind", text, id);
                self.subqueries(list)?;
            }
            Stage::Project(items) => {
                self.add("Project", self.items(items), id);
                items.iter().try_for_each(|(_, it)| self.subqueries(it))?;
            }
            Stage::Filter(condition) => self.condition(condition, id)?,
            Stage::Distinct(slots) => {
                self.rows = None;
                self.add("Distinct", self.slots(slots), id);
            }
            Stage::Aggregate { keys, aggregates, .. } => {
                self.rows = keys.is_empty().then_some(1.0);
                for it in aggregates {
                    let text = self.written(it.span);
                    self.names.entry(it.slot).or_insert_with(|| text.into());
                }
                let (keys, aggregates) = (self.items(keys), self.aggregates(aggregates));
                let separator = if keys.is_empty() || aggregates.is_empty() { "" } else { ": " };
                self.add("Aggregate", format!("{keys}{separator}{aggregates}"), id);
            }
            Stage::Sort { keys, bounds, .. } => {
                let keys = self.sort_keys(keys);
                match bounds.limit {
                    Some(_) => {
                        self.rows = None;
                        self.add("TopK", format!("{keys}, {}", self.bounds(bounds)), id);
                    }
                    None => {
                        let separator = if bounds.skip.is_some() { ", " } else { "" };
                        self.add("Sort", format!("{keys}{separator}{}", self.bounds(bounds)), id);
                    }
                }
            }
            Stage::Slice(bounds) => {
                self.rows = None;
                match (&bounds.skip, &bounds.limit) {
                    (Some(skip), None) => self.add("Skip", self.expression(skip), id),
                    _ => self.add("Limit", self.bounds(bounds), id),
                }
            }
            Stage::Subquery(plan) => {
                let rows = self.rows;
                self.rows = None;
                self.add("Apply", String::new(), id);
                self.rows = rows;
                self.inside(|outline| outline.query(plan))?;
                self.rows = None;
            }
            Stage::Algorithm(plan) => self.algorithm(plan, id)?,
        }
        Ok(())
    }

    fn match_plan(&mut self, plan: &MatchPlan) -> Result<()> {
        plan.steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &MatchStep) -> Result<()> {
        let id = Some(Profile::id_of(step));
        match step {
            MatchStep::Scan { slot, access } => self.scan(*slot, access, id)?,
            MatchStep::Filter(condition) => self.condition(condition, id)?,
            MatchStep::Expand(hop) => {
                self.rows = self.expanded(hop)?;
                self.add("Expand", format!("{}{}", self.hop(hop)?, self.range(hop)), id);
            }
            MatchStep::Walk(walk) => {
                self.rows = None;
                let operator = if walk.shortest.is_some() { "ShortestPath" } else { "Expand" };
                self.add(operator, self.walk(walk)?, id);
            }
            MatchStep::Bound { hop, .. } => self.add("Filter", self.hop(hop)?, id),
            MatchStep::Path { slot, .. } => self.add("Project", self.slot(*slot), id),
            MatchStep::Shortest { steps, selection } => {
                let rows = self.rows;
                self.rows = None;
                let (start, end) = (self.slot(selection.start), self.slot(selection.end));
                self.add("ShortestPath", format!("({start}) to ({end})"), id);
                self.rows = rows;
                self.inside(|outline| steps.iter().try_for_each(|it| outline.step(it)))?;
                self.rows = None;
            }
        }
        Ok(())
    }

    fn scan(&mut self, slot: SlotIndex, access: &NodeAccess, id: Option<usize>) -> Result<()> {
        let (graph, name) = (self.execution.graph, self.slot(slot));
        let (operator, detail, count) = match access {
            NodeAccess::All => ("HasScan", name, Some(graph.node_count()?)),
            NodeAccess::Label(label) => {
                ("TypeScan", format!("{name}:{label}"), Some(graph.label_count(label)?))
            }
            NodeAccess::Index { label, seeks } => {
                let scanned = label.as_ref().map(|it| graph.label_count(it)).transpose()?;
                match (self.index_seek(slot, seeks, scanned)?, label) {
                    (Some(line), _) => line,
                    (None, Some(label)) => ("TypeScan", format!("{name}:{label}"), scanned),
                    (None, None) => ("HasScan", name, Some(graph.node_count()?)),
                }
            }
            NodeAccess::Uids(seek) => ("UidSeek", self.uid_seek(slot, seek), seek.count()),
        };
        self.rows = self.rows.zip(count).map(|(rows, count)| rows * count as f64);
        self.add(operator, detail, id);
        Ok(())
    }

    /// About how many rows there are after a hop to a node that is not bound.
    fn expanded(&self, hop: &Hop) -> Result<Option<f64>> {
        let graph = self.execution.graph;
        let (Some(rows), Some(lists), false) = (self.rows, graph.adjacency(), hop.to_bound) else {
            return Ok(None);
        };
        let all: Vec<u32> = (0..graph.relationship_types()?.len() as u32).collect();
        let types = hop.types.as_deref().unwrap_or(&all);
        let edges = types.iter().filter_map(|it| lists.any_lists(*it));
        let edges: u64 = edges.map(|it| it.total()).sum();
        let directions = if hop.direction == Direction::Either { 2.0 } else { 1.0 };
        let nodes = graph.node_count()?.max(1) as f64;
        Ok(Some(rows * directions * edges as f64 / nodes))
    }

    /// A condition, and the subqueries in it.
    pub(super) fn condition(&mut self, condition: &Expression, id: Option<usize>) -> Result<()> {
        self.add("Filter", self.expression(condition), id);
        self.subqueries(condition)
    }

    /// The subqueries of an expression that is one, or a negation or conjunction of such.
    fn subqueries(&mut self, expression: &Expression) -> Result<()> {
        stack::check()?;
        match &expression.operation {
            Operation::Subquery { kind, plan, .. } => {
                let operator = if *kind == SubqueryKind::Exists { "SemiJoin" } else { "Apply" };
                self.subquery(operator, |outline| outline.query(plan))
            }
            Operation::Matches { plan, .. } => {
                self.subquery("Apply", |outline| outline.match_plan(plan))
            }
            Operation::Not(inside) => match &inside.operation {
                Operation::Subquery { kind: SubqueryKind::Exists, plan, .. } => {
                    self.subquery("AntiJoin", |outline| outline.query(plan))
                }
                _ => self.subqueries(inside),
            },
            Operation::And(list) | Operation::Or(list) | Operation::List(list) => {
                list.iter().try_for_each(|it| self.subqueries(it))
            }
            Operation::Call(_, arguments) => {
                arguments.iter().try_for_each(|it| self.subqueries(it))
            }
            Operation::Compare(first, rest) => {
                self.subqueries(first)?;
                rest.iter().try_for_each(|(_, it)| self.subqueries(it))
            }
            _ => Ok(()),
        }
    }

    fn subquery(
        &mut self,
        operator: &'static str,
        add: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let rows = self.rows;
        self.inside(|outline| {
            outline.rows = None;
            outline.add(operator, String::new(), None);
            outline.rows = Some(1.0);
            outline.inside(add)
        })?;
        self.rows = rows;
        Ok(())
    }
}
