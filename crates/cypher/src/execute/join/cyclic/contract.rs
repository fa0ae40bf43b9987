//! Variables that are functions of others are eliminated: of
//! `(a)-[:locatedIn]->(city)-[:isPartOf]->(country)` each `a` has one country at most. Two
//! functions in a row become one. A variable that is a function of all its neighbours becomes a key
//! that is equal for them, which the lists of the edges between them respect.

use crate::execute::adjacency::Adjacency;
use crate::execute::join::candidates::{Candidates, Lookup};
use crate::execute::join::functions::{Function, FunctionTable, Key};
use crate::execute::join::reduce::Reduction;
use crate::execute::plan::{Edge, JoinStep, VarIndex};
use hexgraph_base::types::Result;
use std::sync::Arc;

/// What is left of a pattern.
#[derive(Debug)]
pub(in crate::execute::join) struct CoreShape {
    /// Edges that are no functions.
    pub(in crate::execute::join) edges: Vec<Edge>,
    /// The variables of each function, the one that has the value first.
    pub(in crate::execute::join) functions: Vec<(VarIndex, VarIndex)>,
    /// The edge of each function, as long as it is stored.
    stored: Vec<Edge>,
    pub(in crate::execute::join) left: Vec<VarIndex>,
}

/// The variables between which an edge is a function: a node has one target at most. O(1).
pub(in crate::execute::join) fn function_of(
    edge: &Edge,
    graph: &dyn Adjacency,
) -> Option<(VarIndex, VarIndex)> {
    let [type_id] = edge.types[..] else { return None };
    if edge.either || edge.is_loop() {
        return None;
    }
    let both = [(edge.from, edge.to, false), (edge.to, edge.from, true)];
    let is_function = |inverse: bool| {
        graph.lists(type_id, inverse).is_some_and(|it| it.total() <= it.count() as u64)
    };
    both.into_iter().find(|it| is_function(it.2)).map(|(from, to, _)| (from, to))
}

impl CoreShape {
    /// Functions are of use where there is a cycle: matches of a tree read each edge once.
    pub(in crate::execute::join) fn new(
        edges: &[Edge],
        left: &[VarIndex],
        function_of: impl Fn(&Edge) -> Option<(VarIndex, VarIndex)>,
    ) -> CoreShape {
        let (mut functions, mut stored) = (Vec::new(), Vec::new());
        let mut rest = edges.to_vec();
        if left.len() <= edges.len() {
            rest.retain(|edge| match function_of(edge) {
                Some(function) => {
                    functions.push(function);
                    stored.push(edge.clone());
                    false
                }
                None => true,
            });
        }
        CoreShape { edges: rest, functions, stored, left: left.to_vec() }
    }

    /// A variable that can be eliminated.
    pub(in crate::execute::join) fn next(&self, retained: &[VarIndex]) -> Option<JoinStep> {
        let variables = self.left.iter().filter(|it| !retained.contains(it));
        variables.filter(|it| !self.edges.iter().any(|edge| edge.has(**it))).find_map(|&it| {
            let into: Vec<VarIndex> =
                self.functions.iter().filter(|of| of.1 == it).map(|of| of.0).collect();
            let mut out = self.functions.iter().filter(|of| of.0 == it).map(|of| of.1);
            match (&into[..], out.next(), out.next()) {
                ([from], Some(to), None) if *from != to => {
                    Some(JoinStep::Compose { variable: it, from: *from, to })
                }
                ([_, _, ..], None, _) if self.are_connected(&into) => {
                    Some(JoinStep::Key { variable: it, members: into })
                }
                _ => None,
            }
        })
    }

    /// Whether different variables are connected by edges among themselves.
    fn are_connected(&self, variables: &[VarIndex]) -> bool {
        let (mut connected, mut at) = (vec![variables[0]], 0);
        while let Some(&variable) = connected.get(at) {
            for edge in self.edges.iter().filter(|it| it.has(variable)) {
                let other = edge.other(variable);
                if variables.contains(&other) && !connected.contains(&other) {
                    connected.push(other);
                }
            }
            at += 1;
        }
        connected.len() == variables.len()
    }

    /// Does a step of [`CoreShape::next`]. Returns the indexes of the functions that it consumed: a
    /// new one of two in a row is the last one.
    pub(in crate::execute::join) fn apply(&mut self, step: &JoinStep) -> Vec<usize> {
        let (JoinStep::Compose { variable, .. } | JoinStep::Key { variable, .. }) = step else {
            return Vec::new();
        };
        let is_consumed = |of: &(VarIndex, VarIndex)| of.0 == *variable || of.1 == *variable;
        let consumed: Vec<usize> =
            (0..self.functions.len()).filter(|at| is_consumed(&self.functions[*at])).collect();
        self.functions.retain(|of| !is_consumed(of));
        if let JoinStep::Compose { from, to, .. } = step {
            self.functions.push((*from, *to));
        }
        self.left.retain(|it| it != variable);
        consumed
    }
}

impl Reduction<'_> {
    /// Eliminates variables that are functions of others, and reads the functions that stay.
    pub(in crate::execute::join) fn contract(&mut self) -> Result<()> {
        let mut refused: Vec<Edge> = Vec::new();
        let mut shape = loop {
            let graph = self.graph;
            let is_read =
                |edge: &Edge| function_of(edge, graph).filter(|_| !refused.contains(edge));
            let shape = CoreShape::new(&self.edges, &self.left, is_read);
            match self.read_functions(&shape)? {
                None => break shape,
                Some(edge) => refused.push(edge),
            }
        };
        while let Some(step) = shape.next(&self.retained) {
            let consumed = shape.apply(&step);
            self.eliminate_function(&step, &consumed)?;
            self.steps.push(step);
        }
        (self.edges, self.left) = (shape.edges, shape.left);
        Ok(())
    }

    /// The tables of all functions. Returns an edge that is no function.
    fn read_functions(&mut self, shape: &CoreShape) -> Result<Option<Edge>> {
        self.functions.clear();
        for (&(from, to), edge) in shape.functions.iter().zip(&shape.stored) {
            self.graph.check()?;
            let Some(lists) = self.graph.lists(edge.types[0], edge.from != from) else {
                return Ok(Some(edge.clone()));
            };
            let all;
            let nodes = match &self.candidates[from] {
                Some(candidates) => &candidates.nodes,
                None => {
                    all = lists.nodes();
                    &all
                }
            };
            let lookup = Lookup::new(self.candidates[to].as_ref(), &mut self.reserved)?;
            let table = FunctionTable::read(lists, nodes, &lookup, self.graph, &mut self.reserved)?;
            let Some(table) = table else { return Ok(Some(edge.clone())) };
            let factors: Vec<u64> =
                nodes.iter().map(|node| u64::from(table.get(*node).is_some())).collect();
            let mut candidates = match self.candidates[from].take() {
                Some(candidates) => candidates,
                None => Candidates { nodes: lists.nodes(), counts: None },
            };
            candidates.multiply(&factors)?;
            self.reserved.grow(candidates.bytes())?;
            self.candidates[from] = Some(candidates);
            self.functions.push(Function { from, to, table: Arc::new(table) });
        }
        Ok(None)
    }

    fn eliminate_function(&mut self, step: &JoinStep, consumed: &[usize]) -> Result<()> {
        let (JoinStep::Compose { variable, .. } | JoinStep::Key { variable, .. }) = step else {
            return Ok(());
        };
        let mut functions: Vec<Function> =
            consumed.iter().map(|at| self.functions[*at].clone()).collect();
        for at in consumed.iter().rev() {
            self.functions.remove(*at);
        }
        // The matches of the variable count for one of its neighbours.
        functions.sort_by_key(|it| it.to != *variable);
        let counted = &functions[0];
        let of_variable = Lookup::new(self.candidates[*variable].as_ref(), &mut self.reserved)?;
        let next = match step {
            JoinStep::Compose { .. } => {
                Some(counted.table.then(&functions[1].table, &mut self.reserved)?)
            }
            _ => None,
        };
        if let Some(candidates) = &mut self.candidates[counted.from] {
            let factor = |node: &u32| match counted.table.get(*node) {
                Some(target) if next.as_ref().is_none_or(|it| it.get(*node).is_some()) => {
                    of_variable.get(target)
                }
                _ => 0,
            };
            let factors: Vec<u64> = candidates.nodes.iter().map(factor).collect();
            candidates.multiply(&factors)?;
            self.reserved.grow(candidates.bytes())?;
        }
        self.candidates[*variable] = None;
        match (step, next) {
            (JoinStep::Compose { from, to, .. }, Some(table)) => {
                self.functions.push(Function { from: *from, to: *to, table: Arc::new(table) });
            }
            _ => {
                let members = functions.into_iter().map(|it| (it.from, it.table)).collect();
                self.keys.push(Key { members });
            }
        }
        Ok(())
    }
}
