//! The steps of a match, depth first. Relationships are unique within one match.

use super::cache::Neighbour;
use super::execution::{DONE, Execution, Flow, MORE, Row, Sink};
use crate::ast::Direction;
use crate::execute::cells::Rest;
use crate::execute::plan::{Hop, MatchPlan, MatchStep, NodeAccess, PathElement, SlotIndex};
use crate::execute::profile::Profile;
use hexgraph_base::types::{Result, stack};
use hexgraph_scalar::{Path, Relationship, Value};
use rustc_hash::FxHashSet;

/// What a match in progress has used.
#[derive(Debug, Default)]
pub(super) struct Used {
    list: Vec<Relationship>,
    /// The same, when there are many.
    set: FxHashSet<Relationship>,
    /// Buffers of neighbours that are free.
    buffers: Vec<Vec<Neighbour>>,
}

const LIST_MAX: usize = 16;

impl Used {
    pub(super) fn has(&self, it: Relationship) -> bool {
        if self.list.len() <= LIST_MAX { self.list.contains(&it) } else { self.set.contains(&it) }
    }

    pub(super) fn push(&mut self, it: Relationship) {
        self.list.push(it);
        match self.list.len() {
            len if len == LIST_MAX + 1 => self.set.extend(self.list.iter().copied()),
            len if LIST_MAX < len => {
                self.set.insert(it);
            }
            _ => {}
        }
    }

    pub(super) fn pop(&mut self) {
        let Some(it) = self.list.pop() else { return };
        match self.list.len() {
            LIST_MAX => self.set.clear(),
            len if LIST_MAX < len => {
                self.set.remove(&it);
            }
            _ => {}
        }
    }

    pub(super) fn buffer(&mut self) -> Vec<Neighbour> {
        self.buffers.pop().unwrap_or_default()
    }

    pub(super) fn free(&mut self, mut buffer: Vec<Neighbour>) {
        buffer.clear();
        self.buffers.push(buffer);
    }
}

impl Execution<'_> {
    /// Calls back with each match.
    pub(super) fn matches(&self, plan: &MatchPlan, row: &mut Row, sink: Sink<'_>) -> Result<Flow> {
        self.first_steps(&plan.steps, &mut Used::default(), row, sink)
    }

    /// The steps after one that has a row.
    pub(super) fn match_steps(
        &self,
        steps: &[MatchStep],
        used: &mut Used,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        if let Some(profile) = &self.profile {
            profile.add_row_of_current();
        }
        self.first_steps(steps, used, row, sink)
    }

    /// The steps from the first one on.
    pub(super) fn first_steps(
        &self,
        steps: &[MatchStep],
        used: &mut Used,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        stack::check()?;
        let Some((step, rest)) = steps.split_first() else { return sink(row) };
        let Some(profile) = &self.profile else {
            return self.match_step((step, rest), used, row, sink);
        };
        let before = profile.enter(Some(Profile::id_of(step)));
        let flow = self.match_step((step, rest), used, row, sink);
        profile.enter(before);
        flow
    }

    fn match_step(
        &self,
        (step, rest): (&MatchStep, &[MatchStep]),
        used: &mut Used,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        match step {
            MatchStep::Scan { slot, access } => self.scan(*slot, access, rest, used, row, sink),
            MatchStep::Filter(condition) => match self.holds(condition, row)? {
                true => self.match_steps(rest, used, row, sink),
                false => Ok(MORE),
            },
            MatchStep::Expand(hop) => self.expand(hop, rest, used, row, sink),
            MatchStep::Walk(walk) => self.walk(walk, rest, used, row, sink),
            MatchStep::Bound { hop, from_bound } => {
                self.bound_relationship(hop, *from_bound, rest, used, row, sink)
            }
            MatchStep::Path { slot, start, elements } => {
                row[*slot] = self.path(*start, elements, row)?;
                self.match_steps(rest, used, row, sink)
            }
            MatchStep::Shortest { steps, selection } => {
                self.select(steps, selection, rest, used, row, sink)
            }
        }
    }

    fn scan(
        &self,
        slot: SlotIndex,
        access: &NodeAccess,
        rest: &[MatchStep],
        used: &mut Used,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let label = access.label();
        if let Some(nodes) = self.sought(access, &|| self.label_count(label), row)? {
            let _reserved = self.reserve_nodes(&nodes)?;
            for node in nodes {
                self.tick()?;
                row[slot] = Value::Node(node);
                if self.match_steps(rest, used, row, sink)?.is_break() {
                    return Ok(DONE);
                }
            }
            return Ok(MORE);
        }
        let (mut batch, mut after, mut needs_rows) = (Vec::new(), None, false);
        loop {
            self.graph.check()?;
            batch.clear();
            self.node_batch(label, after, &mut batch)?;
            let Some(last) = batch.last().copied() else { return Ok(MORE) };
            if let Some(after) = after.filter(|_| !needs_rows) {
                let scan = Rest { slot, label, after };
                let go_on = &mut |rest: &[MatchStep], row: &mut Row| {
                    self.first_steps(rest, used, row, sink)
                };
                if let Some(flow) = self.scan_rest(scan, rest, row, go_on)? {
                    return Ok(flow);
                }
                needs_rows = true;
            }
            for node in &batch {
                self.tick()?;
                row[slot] = Value::Node(*node);
                if self.match_steps(rest, used, row, sink)?.is_break() {
                    return Ok(DONE);
                }
            }
            after = Some(last);
        }
    }

    /// Appends a batch of the nodes of a scan above `after`; none when there are no more.
    pub(in crate::execute) fn node_batch(
        &self,
        label: Option<&str>,
        after: Option<u64>,
        into: &mut Vec<u64>,
    ) -> Result<()> {
        match label {
            Some(label) => self.graph.nodes_with_label(label, after, into),
            None => self.graph.nodes(after, into),
        }
    }

    /// The node in a slot; `None` for null.
    pub(super) fn node_in(&self, slot: SlotIndex, row: &Row) -> Result<Option<u64>> {
        match &row[slot] {
            Value::Node(node) => Ok(Some(*node)),
            Value::Null => Ok(None),
            other => {
                let message =
                    format!("a pattern begins at a NODE, and this is a {}", other.kind().name());
                Err(self.failure(Default::default(), message, ""))
            }
        }
    }

    fn expand(
        &self,
        hop: &Hop,
        rest: &[MatchStep],
        used: &mut Used,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let Some(from) = self.node_in(hop.from, row)? else { return Ok(MORE) };
        // The other node may be the same variable.
        let to = if hop.to_bound { self.node_in(hop.to, row)? } else { None };
        if hop.to_bound && to.is_none() {
            return Ok(MORE);
        }
        let mut neighbours = used.buffer();
        self.neighbours(hop, from, row, &mut neighbours)?;
        let mut flow = MORE;
        for (relationship, other) in &neighbours {
            self.tick()?;
            if to.is_some_and(|it| it != *other) || used.has(*relationship) {
                continue;
            }
            row[hop.relationship] = Value::Relationship(*relationship);
            if !hop.to_bound {
                row[hop.to] = Value::Node(*other);
            }
            used.push(*relationship);
            let result = self.match_steps(rest, used, row, sink);
            used.pop();
            if result?.is_break() {
                flow = DONE;
                break;
            }
        }
        used.free(neighbours);
        Ok(flow)
    }

    /// A relationship that is bound has to be of the types and lead between the nodes.
    fn bound_relationship(
        &self,
        hop: &Hop,
        from_bound: bool,
        rest: &[MatchStep],
        used: &mut Used,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let relationship = match &row[hop.relationship] {
            Value::Relationship(it) => *it,
            Value::Null => return Ok(MORE),
            other => {
                let kind = other.kind().name();
                let message = format!("a RELATIONSHIP is needed here, and this is a {kind}");
                return Err(self.failure(Default::default(), message, ""));
            }
        };
        let type_id = relationship.type_id;
        let passes = hop.types.as_ref().is_none_or(|types| types.binary_search(&type_id).is_ok());
        if !passes || used.has(relationship) {
            return Ok(MORE);
        }
        let (subject, object) = (relationship.subject, relationship.object);
        let pairs = match hop.direction {
            Direction::Out => vec![(subject, object)],
            Direction::In => vec![(object, subject)],
            Direction::Either if subject == object => vec![(subject, object)],
            Direction::Either => vec![(subject, object), (object, subject)],
        };
        for (from, to) in pairs {
            if from_bound && self.node_in(hop.from, row)? != Some(from)
                || hop.to_bound && hop.to != hop.from && self.node_in(hop.to, row)? != Some(to)
                || hop.to == hop.from && from != to
            {
                continue;
            }
            if !from_bound {
                row[hop.from] = Value::Node(from);
            }
            if !hop.to_bound {
                row[hop.to] = Value::Node(to);
            }
            used.push(relationship);
            let result = self.match_steps(rest, used, row, sink);
            used.pop();
            if result?.is_break() {
                return Ok(DONE);
            }
        }
        Ok(MORE)
    }

    /// The path of elements that are bound.
    fn path(&self, start: SlotIndex, elements: &[PathElement], row: &Row) -> Result<Value> {
        let Some(start) = self.node_in(start, row)? else { return Ok(Value::Null) };
        let mut path = Path { nodes: vec![start], relationships: Vec::new() };
        let mut last = start;
        let mut add = |it: Relationship| {
            last = if it.subject == last { it.object } else { it.subject };
            path.nodes.push(last);
            path.relationships.push(it);
        };
        for element in elements {
            match element {
                PathElement::One(slot) => match &row[*slot] {
                    Value::Relationship(it) => add(*it),
                    _ => return Ok(Value::Null),
                },
                PathElement::List(slot) => match &row[*slot] {
                    Value::List(list) => {
                        for it in list.iter() {
                            if let Value::Relationship(it) = it {
                                add(*it);
                            }
                        }
                    }
                    _ => return Ok(Value::Null),
                },
            }
        }
        Ok(Value::from(path))
    }
}
