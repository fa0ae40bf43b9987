//! The order in which variables are bound, and what that costs.

use super::edge_lists::parts_of;
use super::reduce::Reduction;
use crate::execute::adjacency::Adjacency;
use crate::execute::plan::{Edge, JoinStep, VarIndex};

/// The most variables that an order may begin with.
const STARTS_MAX: usize = 8;

/// What an order depends on.
pub(super) struct Sizes {
    /// The variables of each edge.
    edges: Vec<[VarIndex; 2]>,
    /// About how many nodes each variable may be.
    pub(super) variables: Vec<f64>,
    /// For each edge how long the list of a node is, at its first and at its second endpoint.
    means: Vec<[f64; 2]>,
    /// For each edge what it costs to make the lists of its second endpoint, once: those of a
    /// function are inverted.
    inversions: Vec<f64>,
}

/// To sort a pair of an inverted function costs as much as to try about so many nodes. Estimate: a
/// sort of a million pairs compares each twenty times.
const INVERTED_NODES: f64 = 4.0;

/// An order and about how many bindings are tried in it.
pub(super) struct Order {
    pub(super) variables: Vec<VarIndex>,
    pub(super) tried: f64,
}

/// A step from some bound variables to the next one.
struct Step {
    variable: VarIndex,
    /// About how many nodes are tried for each binding, and how many of them stay.
    tried: f64,
    left: f64,
    /// What it costs once, in nodes that are tried.
    once: f64,
}

impl Reduction<'_> {
    /// The order of the variables that are left.
    pub(super) fn order(&self) -> Vec<VarIndex> {
        let sizes_of = self.candidates.iter().map(|it| it.as_ref().map(|it| it.nodes.len()));
        let sizes = Sizes::new(&self.edges, sizes_of.collect(), self.graph)
            .with_functions(self.functions.iter().map(|it| (it.from, it.to)));
        sizes.order(&self.left).map(|it| it.variables).unwrap_or_default()
    }
}

/// The steps that bind variables in an order.
pub(super) fn binding_steps(
    order: &[VarIndex],
    edges: &[Edge],
    functions: impl Iterator<Item = (VarIndex, VarIndex)>,
) -> Vec<JoinStep> {
    let pairs: Vec<_> = edges.iter().map(|it| (it.from, it.to)).chain(functions).collect();
    let step = |(at, &variable): (usize, &VarIndex)| {
        let is_neighbour =
            |it: &&VarIndex| pairs.contains(&(variable, **it)) || pairs.contains(&(**it, variable));
        let neighbours = order[..at].iter().filter(is_neighbour).copied().collect();
        JoinStep::Bind { variable, neighbours }
    };
    order.iter().enumerate().map(step).collect()
}

impl Sizes {
    /// `candidates` are the numbers of nodes of the variables that have fewer than their edges.
    pub(super) fn new(
        edges: &[Edge],
        candidates: Vec<Option<usize>>,
        graph: &dyn Adjacency,
    ) -> Sizes {
        let size = |it: &Option<usize>| it.map_or(f64::MAX, |it| it as f64);
        let mut variables: Vec<f64> = candidates.iter().map(size).collect();
        let mut means = Vec::with_capacity(edges.len());
        for edge in edges {
            means.push([edge.from, edge.to].map(|variable| {
                let parts = parts_of(edge, variable, graph);
                if candidates[variable].is_none() {
                    let count = parts.iter().map(|it| it.count()).sum::<usize>() as f64;
                    variables[variable] = variables[variable].min(count);
                }
                parts.iter().map(|it| it.mean_length()).sum()
            }));
        }
        let inversions = vec![0.0; edges.len()];
        let edges = edges.iter().map(|it| [it.from, it.to]).collect();
        Sizes { edges, variables, means, inversions }
    }

    /// The same with functions: a node has one target, which some nodes have.
    pub(super) fn with_functions(
        mut self,
        functions: impl Iterator<Item = (VarIndex, VarIndex)>,
    ) -> Sizes {
        for (from, to) in functions {
            self.edges.push([from, to]);
            self.inversions.push(INVERTED_NODES * self.variables[from]);
            self.means.push([1.0, (self.variables[from] / self.variables[to].max(1.0)).max(1.0)]);
        }
        self
    }

    /// The order of some variables with the fewest bindings that are tried: the best of those that
    /// begin at one of the smallest variables and go on to the variable with the fewest nodes.
    /// O(variables² · edges).
    pub(super) fn order(&self, left: &[VarIndex]) -> Option<Order> {
        let mut starts = left.to_vec();
        starts.sort_by(|one, other| self.variables[*one].total_cmp(&self.variables[*other]));
        starts.truncate(STARTS_MAX);
        let orders = starts.into_iter().map(|start| {
            let (mut variables, mut bindings) = (vec![start], self.variables[start]);
            let mut tried = bindings;
            while let Some(step) = self.next(left, &variables) {
                tried += bindings * step.tried + step.once;
                bindings *= step.left;
                variables.push(step.variable);
            }
            Order { variables, tried }
        });
        orders.min_by(|one, other| one.tried.total_cmp(&other.tried))
    }

    fn next(&self, left: &[VarIndex], bound: &[VarIndex]) -> Option<Step> {
        let rest = left.iter().filter(|it| !bound.contains(it));
        let steps = rest.map(|it| self.step(*it, bound));
        steps.min_by(|one, other| one.left.total_cmp(&other.left))
    }

    /// Each list leaves the part of the nodes that are in it.
    fn step(&self, variable: VarIndex, bound: &[VarIndex]) -> Step {
        let size = self.variables[variable].max(1.0);
        let (mut tried, mut left, mut once) = (size, size, 0.0);
        for ((edge, [from, to]), inversion) in
            self.edges.iter().zip(&self.means).zip(&self.inversions)
        {
            let is_second = edge[1] == variable;
            let (other, mean) = if is_second { (edge[0], *from) } else { (edge[1], *to) };
            if edge.contains(&variable) && bound.contains(&other) {
                tried = tried.min(mean);
                left *= (mean / size).min(1.0);
                once += if is_second { 0.0 } else { *inversion };
            }
        }
        Step { variable, tried, left, once }
    }
}
