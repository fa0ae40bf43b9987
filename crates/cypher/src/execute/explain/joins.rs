//! The lines of joins.

use super::outline::Outline;
use crate::execute::adjacency::Adjacency;
use crate::execute::join::expected_steps;
use crate::execute::plan::{
    AttachedKind, Compared, Constraint, JoinPlan, JoinStep, NodeAccess, Pattern, VarIndex, Variable,
};
use hexgraph_base::types::Result;
use hexgraph_scalar::Value;

impl Outline<'_, '_> {
    /// A join: by lists with its steps in their order, or by rows with the steps of the matches.
    pub(super) fn join(&mut self, plan: &JoinPlan, measured: Option<usize>) -> Result<()> {
        let steps = self.steps_of(plan)?;
        let method = if steps.is_some() { "by lists" } else { "by rows" };
        let edges = self.edges(&plan.patterns[0])?;
        self.rows = None;
        self.add("Join", format!("{edges} {method}"), measured);
        self.inside(|outline| match (steps, &plan.patterns[..]) {
            (None, _) => outline.stages(&plan.rows),
            (Some(steps), [pattern]) => {
                outline.pattern(pattern, &steps.concat())?;
                plan.compared.iter().try_for_each(|it| outline.compared(it))
            }
            // A walk of one or two steps: the matches of each length.
            (Some(steps), patterns) => {
                patterns.iter().zip(steps).try_for_each(|(pattern, steps)| {
                    let edges = outline.edges(pattern)?;
                    outline.add("Union", edges, None);
                    outline.inside(|outline| outline.pattern(pattern, &steps))
                })
            }
        })?;
        self.rows = None;
        Ok(())
    }

    /// The pattern whose values are sorted for a comparison.
    fn compared(&mut self, compared: &Compared) -> Result<()> {
        let condition = self.written(compared.span);
        self.add("Join", format!("{condition} by sorted values"), None);
        let retained: Vec<VarIndex> =
            compared.pattern.variable_of(compared.slot).into_iter().collect();
        let steps = match self.execution.graph.adjacency() {
            Some(graph) => self.steps_of_pattern(&compared.pattern, &retained, graph)?,
            None => None,
        };
        self.inside(|outline| outline.pattern(&compared.pattern, &steps.unwrap_or_default()))
    }

    fn edges(&self, pattern: &Pattern) -> Result<String> {
        let edges: Result<Vec<_>> = pattern.edges.iter().map(|it| self.edge(pattern, it)).collect();
        Ok(edges?.join(", "))
    }

    /// The steps of each pattern of a join; `None` for one by rows.
    fn steps_of(&self, plan: &JoinPlan) -> Result<Option<Vec<Vec<JoinStep>>>> {
        let Some(graph) = self.execution.graph.adjacency() else { return Ok(None) };
        let mut row = vec![Value::Null; self.width];
        let mut steps = Vec::with_capacity(plan.patterns.len());
        for pattern in &plan.patterns {
            if self.execution.profile.is_none()
                && plan.compared.is_none()
                && self.execution.is_cheaper_by_rows((plan, pattern), graph, &mut row)?
            {
                return Ok(None);
            }
            let own = plan.compared.iter().map(|it| &it.own.0);
            let retained =
                plan.retained.iter().chain(own).filter_map(|it| pattern.variable_of(*it));
            let retained: Vec<VarIndex> = retained.collect();
            let Some(of_pattern) = self.steps_of_pattern(pattern, &retained, graph)? else {
                return Ok(None);
            };
            steps.push(of_pattern);
        }
        Ok(Some(steps))
    }

    /// The steps that a pattern was joined in, or those that are expected; `None` where it was not
    /// joined.
    fn steps_of_pattern(
        &self,
        pattern: &Pattern,
        retained: &[VarIndex],
        graph: &dyn Adjacency,
    ) -> Result<Option<Vec<JoinStep>>> {
        if let Some(profile) = &self.execution.profile {
            match profile.join_of(pattern) {
                Some(steps) if steps.is_empty() => {}
                steps => return Ok(steps),
            }
        }
        self.expected(pattern, retained, graph).map(Some)
    }

    fn expected(
        &self,
        pattern: &Pattern,
        retained: &[VarIndex],
        graph: &dyn Adjacency,
    ) -> Result<Vec<JoinStep>> {
        let sizes = pattern.variables.iter().map(|it| self.candidates(it));
        let sizes = sizes.collect::<Result<_>>()?;
        Ok(expected_steps(pattern, retained, sizes, graph))
    }

    /// About how many nodes a variable may be; `None` for all.
    fn candidates(&self, variable: &Variable) -> Result<Option<usize>> {
        let graph = self.execution.graph;
        let mut size = None;
        match &variable.access {
            Some(access @ NodeAccess::Index { .. }) => {
                let scanned = || self.execution.scanned(variable);
                size = self.execution.sought_len(access, &scanned, &mut Vec::new())?;
            }
            Some(NodeAccess::Uids(seek)) => size = seek.count().map(|count| count as usize),
            Some(NodeAccess::All | NodeAccess::Label(_)) | None => {}
        }
        for label in &variable.labels {
            let count = graph.label_count(label)? as usize;
            size = Some(size.map_or(count, |it| it.min(count)));
        }
        Ok(size)
    }

    /// The candidates of variables, what is attached to them, and the steps.
    fn pattern(&mut self, pattern: &Pattern, steps: &[JoinStep]) -> Result<()> {
        for variable in &pattern.variables {
            self.variable_lines(variable)?;
        }
        for constraint in &pattern.constraints {
            self.constraint(pattern, constraint)?;
        }
        self.rows = None;
        for step in steps {
            match step {
                JoinStep::Count { leaf, neighbour, edge } => {
                    let (leaf, neighbour) =
                        (self.variable(pattern, *leaf), self.variable(pattern, *neighbour));
                    let edge = self.edge(pattern, edge)?;
                    self.add(
                        "Aggregate",
                        format!("count {leaf} for each {neighbour}: {edge}"),
                        None,
                    );
                }
                JoinStep::Multiply(variable) => {
                    let name = self.variable(pattern, *variable);
                    self.add("Aggregate", format!("count {name}"), None);
                }
                JoinStep::Compose { variable, from, to } => {
                    let [variable, from, to] =
                        [variable, from, to].map(|it| self.variable(pattern, *it));
                    self.add("Expand", format!("{to} of {from} through its only {variable}"), None);
                }
                JoinStep::Key { variable, members } => {
                    let variable = self.variable(pattern, *variable);
                    let members: Vec<String> =
                        members.iter().map(|it| self.variable(pattern, *it)).collect();
                    let detail = format!("equal {variable} for {}", members.join(", "));
                    self.add("Filter", detail, None);
                }
                JoinStep::Triangles { variables, edge } => {
                    let names = variables.map(|it| self.variable(pattern, it)).join(", ");
                    let edge = self.edge(pattern, edge)?;
                    self.add("Aggregate", format!("count triangles of {names}: {edge}"), None);
                }
                JoinStep::Bind { variable, neighbours } => {
                    let name = self.variable(pattern, *variable);
                    let lists: Vec<String> =
                        neighbours.iter().map(|it| self.variable(pattern, *it)).collect();
                    match &lists[..] {
                        [] => self.add("Expand", format!("{name} from its candidates"), None),
                        [one] => self.add("Expand", format!("{name} from the list of {one}"), None),
                        _ => {
                            let lists = lists.join(", ");
                            let detail = format!("{name} from the intersected lists of {lists}");
                            self.add("Expand", detail, None);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn variable_lines(&mut self, variable: &Variable) -> Result<()> {
        let name = self.slot(variable.slot);
        if let Some(NodeAccess::Index { seeks, .. }) = &variable.access {
            let scanned = self.execution.scanned(variable)?;
            if let Some((operator, detail, nodes)) =
                self.index_seek(variable.slot, seeks, scanned)?
            {
                self.rows = nodes.map(|nodes| nodes as f64);
                self.add(operator, detail, None);
            }
        }
        if let Some(NodeAccess::Uids(seek)) = &variable.access {
            self.rows = self.candidates(variable)?.map(|it| it as f64);
            self.add("UidSeek", self.uid_seek(variable.slot, seek), None);
        }
        for label in &variable.labels {
            self.rows = Some(self.execution.graph.label_count(label)? as f64);
            self.add("TypeScan", format!("{name}:{label}"), None);
        }
        self.rows = None;
        for condition in &variable.conditions {
            self.condition(condition, None)?;
        }
        for attached in &variable.attached {
            let operator = match attached.kind {
                AttachedKind::Optional => "Optional",
                AttachedKind::Exists => "SemiJoin",
                AttachedKind::NotExists => "AntiJoin",
            };
            self.add(operator, name.clone(), None);
            let retained = [attached.variable];
            let steps = match self.execution.graph.adjacency() {
                Some(graph) => self.steps_of_pattern(&attached.pattern, &retained, graph)?,
                None => None,
            };
            let steps = steps.unwrap_or_default();
            self.inside(|outline| outline.pattern(&attached.pattern, &steps))?;
        }
        Ok(())
    }

    /// Pairs that must differ. That relationships of one clause do is a rule of the language, and
    /// has no line.
    fn constraint(&mut self, pattern: &Pattern, constraint: &Constraint) -> Result<()> {
        match constraint {
            Constraint::Unique(..) => {}
            Constraint::Differ(one, other) => {
                let (one, other) = (self.variable(pattern, *one), self.variable(pattern, *other));
                self.add("Filter", format!("{one} <> {other}"), None);
            }
            Constraint::NoEdge(edge) => {
                let edge = self.edge(pattern, edge)?;
                self.add("AntiJoin", edge, None);
            }
        }
        Ok(())
    }
}
