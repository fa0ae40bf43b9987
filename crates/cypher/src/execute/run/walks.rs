//! Relationships in a row, of a length between two bounds. The walk is depth first on a stack of
//! its own, since a path may be as long as the graph has relationships.

use super::cache::{Neighbour, VisitedNodes};
use super::execution::{DONE, Execution, Flow, MORE, Reservation, Row, Sink};
use super::matches::Used;
use crate::ast::Direction;
use crate::execute::adjacency::{Adjacency, Lists};
use crate::execute::cells::leading_filters;
use crate::execute::plan::{MatchStep, Walk};
use hexgraph_base::types::Result;
use hexgraph_scalar::{Relationship, Value};
use rustc_hash::FxHashSet;
use std::mem;

/// The bytes of a node in a set and in the list of the next ones. Estimate.
const VISITED_BYTES: usize = 32;

/// With fewer nodes than this, conditions are tested row by row: to compile them costs as much as
/// so many rows. Estimate: a row costs a microsecond, to compile a condition ten.
const CELLS_MIN: usize = if cfg!(test) { 2 } else { 32 };

/// The neighbours of a node of the path, and which is next.
struct Level {
    neighbours: Vec<Neighbour>,
    next: usize,
}

impl Execution<'_> {
    pub(super) fn walk(
        &self,
        walk: &Walk,
        rest: &[MatchStep],
        used: &mut Used,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let Some(from) = self.node_in(walk.hop.from, row)? else { return Ok(MORE) };
        let to = if walk.hop.to_bound { self.node_in(walk.hop.to, row)? } else { None };
        if walk.hop.to_bound && to.is_none() || walk.max < walk.min {
            return Ok(MORE);
        }
        if let Some(shortness) = walk.shortest {
            return self.shortest_walks(walk, shortness, (from, to), rest, used, row, sink);
        }
        if walk.is_distinct {
            return self.visit(walk, (from, to), rest, used, row, sink);
        }
        let mut path: Vec<Relationship> = Vec::new();
        if walk.min == 0 && self.arrive(walk, &path, (from, to), rest, used, row, sink)?.is_break()
        {
            return Ok(DONE);
        }
        if walk.max == 0 {
            return Ok(MORE);
        }
        let mut reserved = self.reservation();
        let mut levels = vec![self.level(walk, from, used, &mut reserved)?];
        let mut flow = MORE;
        while let Some(level) = levels.last_mut() {
            self.tick()?;
            let Some((relationship, node)) = level.neighbours.get(level.next).copied() else {
                let level = levels.pop().expect("there is a last one");
                reserved.shrink(size_of(&level.neighbours));
                used.free(level.neighbours);
                if path.pop().is_some() {
                    used.pop();
                }
                continue;
            };
            level.next += 1;
            if used.has(relationship) || !self.passes(walk, relationship, row)? {
                continue;
            }
            path.push(relationship);
            used.push(relationship);
            let length = path.len() as u64;
            if walk.min <= length {
                flow = self.arrive(walk, &path, (node, to), rest, used, row, sink)?;
                if flow.is_break() {
                    break;
                }
            }
            if length < walk.max {
                levels.push(self.level(walk, node, used, &mut reserved)?);
            } else {
                path.pop();
                used.pop();
            }
        }
        path.iter().for_each(|_| used.pop());
        Ok(flow)
    }

    /// Visits each node at the end of a walk once.
    fn visit(
        &self,
        walk: &Walk,
        (from, to): (u64, Option<u64>),
        rest: &[MatchStep],
        used: &mut Used,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        if let (Some(graph), None) = (self.graph.adjacency(), to)
            && let Some(lists) = lists_of(walk, graph)
            && let Some(start) = graph.number(from)
        {
            let mut visited = self.visited.take();
            let flow = self.visit_lists(walk, (start, &lists), &mut visited, rest, used, row, sink);
            visited.clear();
            self.visited.replace(visited);
            return flow;
        }
        self.visit_once(walk, (from, to), rest, used, row, sink)
    }

    /// As [`Execution::visit_once`], over the lists of a graph. The nodes of a length are bound
    /// together.
    #[allow(clippy::too_many_arguments, reason = "they are the state of the match")]
    fn visit_lists(
        &self,
        walk: &Walk,
        (start, lists): (u32, &[&dyn Lists]),
        visited: &mut VisitedNodes,
        rest: &[MatchStep],
        used: &mut Used,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let (mut reserved, mut bytes) = (self.reservation(), 0);
        if walk.min == 0 {
            visited.insert(start);
            if self.arrive_at(walk, &[start], rest, used, row, sink)?.is_break() {
                return Ok(DONE);
            }
        }
        let (mut nodes, mut length) = (vec![start], 0);
        while !nodes.is_empty() && length < walk.max {
            length += 1;
            let before = visited.nodes().len();
            for node in &nodes {
                self.tick()?;
                for list in lists {
                    for other in &*list.list(*node) {
                        visited.insert(*other);
                    }
                }
                bytes = visited.reserve(bytes, &mut reserved)?;
            }
            nodes.clear();
            nodes.extend(&visited.nodes()[before..]);
            if self.arrive_at(walk, &nodes, rest, used, row, sink)?.is_break() {
                return Ok(DONE);
            }
        }
        Ok(MORE)
    }

    /// Binds each of some nodes, and goes on with the next steps.
    fn arrive_at(
        &self,
        walk: &Walk,
        nodes: &[u32],
        rest: &[MatchStep],
        used: &mut Used,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let Some(graph) = self.graph.adjacency() else { return Ok(MORE) };
        let (steps, others) = leading_filters(rest);
        if CELLS_MIN <= nodes.len() && !steps.is_empty() {
            let filters = self.filters((walk.hop.to, None), steps, graph, row);
            let mut nodes = nodes.to_vec();
            nodes.sort_unstable();
            let go_on = &mut |row: &mut Row| self.first_steps(others, used, row, sink);
            return self.bind_nodes(&filters, &nodes, row, go_on);
        }
        for node in nodes {
            self.tick()?;
            row[walk.hop.to] = Value::Node(graph.node(*node));
            if self.match_steps(rest, used, row, sink)?.is_break() {
                return Ok(DONE);
            }
        }
        Ok(MORE)
    }

    /// Breadth first to each node at the end of a walk, once. A shortest walk has no relationship
    /// twice, nor has the shortest one that returns to its beginning.
    fn visit_once(
        &self,
        walk: &Walk,
        (from, to): (u64, Option<u64>),
        rest: &[MatchStep],
        used: &mut Used,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let (mut visited, mut reserved) = (FxHashSet::default(), self.reservation());
        if walk.min == 0 {
            visited.insert(from);
            if self.arrive(walk, &[], (from, to), rest, used, row, sink)?.is_break() {
                return Ok(DONE);
            }
        }
        let (mut nodes, mut length) = (vec![from], 0);
        while !nodes.is_empty() && length < walk.max {
            length += 1;
            for node in mem::take(&mut nodes) {
                let level = self.level(walk, node, used, &mut reserved)?;
                for (relationship, other) in &level.neighbours {
                    self.tick()?;
                    if visited.contains(other) || !self.passes(walk, *relationship, row)? {
                        continue;
                    }
                    reserved.grow(VISITED_BYTES)?;
                    visited.insert(*other);
                    nodes.push(*other);
                    if self.arrive(walk, &[], (*other, to), rest, used, row, sink)?.is_break() {
                        return Ok(DONE);
                    }
                    if to == Some(*other) {
                        return Ok(MORE);
                    }
                }
                reserved.shrink(size_of(&level.neighbours));
                used.free(level.neighbours);
            }
        }
        Ok(MORE)
    }

    fn level(
        &self,
        walk: &Walk,
        node: u64,
        used: &mut Used,
        reserved: &mut Reservation<'_>,
    ) -> Result<Level> {
        let mut neighbours = used.buffer();
        let hop = &walk.hop;
        self.graph.expand(node, hop.direction, hop.types.as_deref(), &mut neighbours)?;
        reserved.grow(size_of(&neighbours))?;
        Ok(Level { neighbours, next: 0 })
    }

    /// Whether a relationship meets the conditions for each of the list.
    pub(super) fn passes(&self, walk: &Walk, it: Relationship, row: &mut Row) -> Result<bool> {
        if walk.conditions.is_empty() {
            return Ok(true);
        }
        row[walk.each] = Value::Relationship(it);
        for condition in &walk.conditions {
            if !self.holds(condition, row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Binds the last node and the list, and goes on with the next step.
    #[allow(clippy::too_many_arguments, reason = "they are the state of the match")]
    pub(super) fn arrive(
        &self,
        walk: &Walk,
        path: &[Relationship],
        (node, to): (u64, Option<u64>),
        rest: &[MatchStep],
        used: &mut Used,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        if to.is_some_and(|it| it != node) {
            return Ok(MORE);
        }
        if !walk.hop.to_bound {
            row[walk.hop.to] = Value::Node(node);
        }
        if walk.is_listed {
            let mut list: Vec<Value> = path.iter().copied().map(Value::Relationship).collect();
            if walk.is_reversed {
                list.reverse();
            }
            row[walk.hop.relationship] = self.at(Default::default(), Value::list(list))?;
        }
        self.match_steps(rest, used, row, sink)
    }
}

/// The lists of a walk whose relationships have no conditions; `None` where they are not stored.
fn lists_of<'g>(walk: &Walk, graph: &'g dyn Adjacency) -> Option<Vec<&'g dyn Lists>> {
    let inverse = match walk.hop.direction {
        Direction::Out => false,
        Direction::In => true,
        Direction::Either => return None,
    };
    if !walk.conditions.is_empty() {
        return None;
    }
    walk.hop.types.as_ref()?.iter().map(|it| graph.lists(*it, inverse)).collect()
}

fn size_of(neighbours: &[Neighbour]) -> usize {
    64 + mem::size_of_val(neighbours)
}
