//! The order in which the variables of a core are bound.

use super::edge_lists::parts_of;
use super::reduce::Reduction;
use crate::execute::plan::VarIndex;

/// The most variables that an order may begin with.
const STARTS_MAX: usize = 8;

/// What the order depends on.
struct Sizes {
    /// About how many nodes each variable may be.
    variables: Vec<f64>,
    /// For each edge how long the list of a node is, at its first and at its second endpoint.
    edges: Vec<[f64; 2]>,
}

/// A step from some bound variables to the next one.
struct Step {
    variable: VarIndex,
    /// About how many nodes are tried for each binding, and how many of them stay.
    tried: f64,
    left: f64,
}

impl Reduction<'_> {
    /// The order with the lowest estimated number of bindings that are tried: the best of those that begin at one of the
    /// smallest variables and go on to the variable with the fewest nodes. O(variables² · edges).
    pub(super) fn order(&self) -> Vec<VarIndex> {
        let sizes = self.sizes();
        let mut starts = self.left.clone();
        starts.sort_by(|one, other| sizes.variables[*one].total_cmp(&sizes.variables[*other]));
        starts.truncate(STARTS_MAX);
        let mut best: Option<(f64, Vec<VarIndex>)> = None;
        for start in starts {
            let (mut order, mut bindings) = (vec![start], sizes.variables[start]);
            let mut cost = bindings;
            while let Some(step) = self.next(&order, &sizes) {
                cost += bindings * step.tried;
                bindings *= step.left;
                order.push(step.variable);
            }
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, order));
            }
        }
        best.map(|(_, order)| order).unwrap_or_default()
    }

    fn next(&self, bound: &[VarIndex], sizes: &Sizes) -> Option<Step> {
        let rest = self.left.iter().filter(|it| !bound.contains(it));
        let steps = rest.map(|it| self.step(*it, bound, sizes));
        steps.min_by(|one, other| one.left.total_cmp(&other.left))
    }

    /// Each list leaves the part of the nodes that are in it.
    fn step(&self, variable: VarIndex, bound: &[VarIndex], sizes: &Sizes) -> Step {
        let size = sizes.variables[variable].max(1.0);
        let (mut tried, mut left) = (size, size);
        for (edge, [from, to]) in self.edges.iter().zip(&sizes.edges) {
            if edge.has(variable) && bound.contains(&edge.other(variable)) {
                let mean = if edge.to == variable { *from } else { *to };
                tried = tried.min(mean);
                left *= (mean / size).min(1.0);
            }
        }
        Step { variable, tried, left }
    }

    fn sizes(&self) -> Sizes {
        let mut variables: Vec<f64> = self
            .candidates
            .iter()
            .map(|it| match it {
                Some(candidates) => candidates.nodes.len() as f64,
                None => f64::MAX,
            })
            .collect();
        let mut edges = Vec::with_capacity(self.edges.len());
        for edge in &self.edges {
            edges.push([edge.from, edge.to].map(|variable| {
                let parts = parts_of(edge, variable, self.graph);
                if self.candidates[variable].is_none() {
                    let count = parts.iter().map(|it| it.count()).sum::<usize>() as f64;
                    variables[variable] = variables[variable].min(count);
                }
                parts.iter().map(|it| it.mean_length()).sum()
            }));
        }
        Sizes { variables, edges }
    }
}
