//! The order in which the variables of a core are bound.

use super::edge_lists::parts_of;
use super::reduce::Reduction;
use crate::execute::plan::VarIndex;

/// A step from some bound variables to the next one.
struct Step {
    variable: VarIndex,
    /// About how many nodes are tried for each binding, and how many of them stay.
    tried: f64,
    left: f64,
}

impl Reduction<'_> {
    /// The order with the lowest estimated number of bindings that are tried: the best of those that begin at each
    /// variable and go on to the variable with the fewest nodes.
    pub(super) fn order(&self) -> Vec<VarIndex> {
        let mut best: Option<(f64, Vec<VarIndex>)> = None;
        for &start in &self.left {
            let (mut order, mut bindings) = (vec![start], self.size(start));
            let mut cost = bindings;
            while let Some(step) = self.next(&order) {
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

    fn next(&self, bound: &[VarIndex]) -> Option<Step> {
        let rest = self.left.iter().filter(|it| !bound.contains(it));
        rest.map(|it| self.step(*it, bound)).min_by(|one, other| one.left.total_cmp(&other.left))
    }

    /// Each list leaves the part of the nodes that are in it.
    fn step(&self, variable: VarIndex, bound: &[VarIndex]) -> Step {
        let size = self.size(variable).max(1.0);
        let (mut tried, mut left) = (size, size);
        for edge in self.edges.iter().filter(|it| it.has(variable)) {
            let other = edge.other(variable);
            if bound.contains(&other) {
                let parts = parts_of(edge, other, self.graph);
                let mean: f64 = parts.iter().map(|it| it.mean_length()).sum();
                tried = tried.min(mean);
                left *= (mean / size).min(1.0);
            }
        }
        Step { variable, tried, left }
    }

    /// About how many nodes a variable may be.
    fn size(&self, variable: VarIndex) -> f64 {
        if let Some(candidates) = &self.candidates[variable] {
            return candidates.nodes.len() as f64;
        }
        let edges = self.edges.iter().filter(|it| it.has(variable));
        let sizes = edges.map(|edge| {
            let parts = parts_of(edge, variable, self.graph);
            parts.iter().map(|it| it.count()).sum::<usize>() as f64
        });
        sizes.fold(f64::MAX, f64::min)
    }
}
