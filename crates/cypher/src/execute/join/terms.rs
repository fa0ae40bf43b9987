//! Inclusion and exclusion: matches of a pattern with constraints are those of the pattern without
//! them, minus those that violate one. A violation makes two variables or two relationships the
//! same, or adds a relationship, so each term is a pattern without constraints.

use crate::execute::plan::{Constraint, Edge, Pattern, VarIndex};
use hexgraph_base::types::Result;
use std::sync::Arc;

/// The most terms: beyond them one match after the other is tested.
const TERMS_MAX: usize = 64;

/// A pattern without constraints.
#[derive(Debug, Clone)]
pub(super) struct Term {
    /// 1, or -1 for a term that is subtracted.
    pub(super) sign: i64,
    /// The variable that each variable is the same as: the least one.
    pub(super) same: Vec<VarIndex>,
    /// Edges between such variables.
    pub(super) edges: Vec<Edge>,
    /// For each edge of the pattern its index in `edges`.
    index: Vec<usize>,
}

/// The terms of a pattern; `None` where they are too many. `has_loops` returns for types whether a
/// node has a relationship to itself.
pub(super) fn terms(
    pattern: &Pattern,
    has_loops: &mut dyn FnMut(&[u32]) -> Result<bool>,
) -> Result<Option<Vec<Term>>> {
    let mut terms = vec![Term {
        sign: 1,
        same: (0..pattern.variables.len()).collect(),
        edges: pattern.edges.clone(),
        index: (0..pattern.edges.len()).collect(),
    }];
    for edge in &pattern.edges {
        if edge.is_loop() && !has_loops(&edge.types)? {
            return Ok(Some(Vec::new()));
        }
    }
    // Equal relationships often make two variables equal that have to differ: those terms end at
    // once.
    let rank = |it: &Constraint| match it {
        Constraint::Unique(..) => 0,
        Constraint::Differ(..) => 1,
        Constraint::NoEdge(..) => 2,
    };
    let mut constraints: Vec<&Constraint> = pattern.constraints.iter().collect();
    constraints.sort_by_key(|it| rank(it));
    for (at, constraint) in constraints.iter().enumerate() {
        let mut next = Vec::with_capacity(2 * terms.len());
        for term in terms {
            let violations = match constraint {
                Constraint::Unique(one, other) => term.same_edge(*one, *other),
                Constraint::Differ(one, other) => term.same_variables(*one, *other),
                Constraint::NoEdge(edge) => Some(vec![term.with(edge)]),
            };
            let Some(violations) = violations else { continue };
            for violation in violations {
                if violation.is_possible(&constraints[at..], has_loops)? {
                    next.push(violation);
                }
            }
            next.push(term);
        }
        if TERMS_MAX < next.len() {
            return Ok(None);
        }
        terms = next;
    }
    Ok(Some(without_opposites(terms)))
}

/// Leaves out pairs of equal terms where one is subtracted.
fn without_opposites(terms: Vec<Term>) -> Vec<Term> {
    let mut result: Vec<Term> = Vec::with_capacity(terms.len());
    for term in terms {
        let is_opposite =
            |it: &Term| it.sign == -term.sign && it.same == term.same && it.edges == term.edges;
        match result.iter().position(is_opposite) {
            Some(at) => drop(result.swap_remove(at)),
            None => result.push(term),
        }
    }
    result
}

impl Term {
    /// The terms to add where two relationships are the same; `None` where they are so in this
    /// term.
    fn same_edge(&self, one: usize, other: usize) -> Option<Vec<Term>> {
        let (one, other) = (self.index[one], self.index[other]);
        if one == other {
            return None;
        }
        let (a, b) = (&self.edges[one], &self.edges[other]);
        let types: Arc<[u32]> =
            a.types.iter().copied().filter(|it| b.types.binary_search(it).is_ok()).collect();
        if types.is_empty() {
            return Some(Vec::new());
        }
        let (along, against) = ([(a.from, b.from), (a.to, b.to)], [(a.from, b.to), (a.to, b.from)]);
        let either = a.either && b.either;
        let directed = if a.either { b } else { a }.clone();
        let joined = |pairs: &[(VarIndex, VarIndex)], sign: i64| {
            let mut term = self.clone();
            term.sign = sign * self.sign;
            let (first, dropped) = (one.min(other), one.max(other));
            term.edges[first] = Edge { types: types.clone(), either, ..directed.clone() };
            term.edges.remove(dropped);
            for index in &mut term.index {
                *index = match *index {
                    it if it == dropped => first,
                    it if dropped < it => it - 1,
                    it => it,
                };
            }
            pairs.iter().for_each(|(one, other)| term.unite(*one, *other));
            term
        };
        if !a.either && !b.either {
            return Some(vec![joined(&along, -1)]);
        }
        // A relationship from a node to itself is in both of them.
        let both = [along[0], along[1], against[0], against[1]];
        Some(vec![joined(&along, -1), joined(&against, -1), joined(&both, 1)])
    }

    /// The terms to add where two variables are the same; `None` where they are so in this term.
    fn same_variables(&self, one: VarIndex, other: VarIndex) -> Option<Vec<Term>> {
        if self.same[one] == self.same[other] {
            return None;
        }
        let mut term = self.clone();
        term.sign = -self.sign;
        term.unite(one, other);
        Some(vec![term])
    }

    fn with(&self, edge: &Edge) -> Term {
        let mut term = self.clone();
        term.sign = -self.sign;
        let (from, to) = (self.same[edge.from], self.same[edge.to]);
        // A relationship that the pattern has anyway is no further condition.
        let implies = |it: &Edge| {
            let has_types = it.types.iter().all(|it| edge.types.binary_search(it).is_ok());
            has_types && !it.either && !edge.either && it.from == from && it.to == to
        };
        if !term.edges.iter().any(implies) {
            term.edges.push(Edge { from, to, once: true, ..edge.clone() });
        }
        term
    }

    fn unite(&mut self, one: VarIndex, other: VarIndex) {
        let (one, other) = (self.same[one], self.same[other]);
        let (least, greatest) = (one.min(other), one.max(other));
        let edges = self.edges.iter_mut().flat_map(|it| [&mut it.from, &mut it.to]);
        for variable in edges.chain(&mut self.same) {
            if *variable == greatest {
                *variable = least;
            }
        }
    }

    /// Whether there can be a match: variables differ that have to, and relationships from a node
    /// to itself exist.
    fn is_possible(
        &self,
        constraints: &[&Constraint],
        has_loops: &mut dyn FnMut(&[u32]) -> Result<bool>,
    ) -> Result<bool> {
        let is_violated = |it: &&Constraint| match it {
            Constraint::Differ(one, other) => self.same[*one] == self.same[*other],
            _ => false,
        };
        // The first one is violated on purpose.
        if constraints[1..].iter().any(is_violated) {
            return Ok(false);
        }
        for edge in self.edges.iter().filter(|it| it.is_loop()) {
            if !has_loops(&edge.types)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
