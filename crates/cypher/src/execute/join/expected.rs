//! The steps of a join before it runs: those of [`Reduction`](super::reduce::Reduction), by the
//! numbers of candidates that labels, indexes and the lists of edges have.

use super::cyclic::{CoreShape, function_of, triangle_of};
use super::edge_lists::parts_of;
use super::order::{Sizes, binding_steps};
use super::reduce::{next_isolated, next_leaf};
use crate::execute::adjacency::Adjacency;
use crate::execute::plan::{Edge, JoinStep, Pattern, VarIndex};

/// The steps of a pattern without its constraints. `sizes` are the numbers of candidates; `None`
/// for all nodes.
pub(in crate::execute) fn expected_steps(
    pattern: &Pattern,
    retained: &[VarIndex],
    mut sizes: Vec<Option<usize>>,
    graph: &dyn Adjacency,
) -> Vec<JoinStep> {
    let mut edges: Vec<Edge> = pattern.edges.iter().filter(|it| !it.is_loop()).cloned().collect();
    let mut left: Vec<VarIndex> = (0..pattern.variables.len()).collect();
    let mut steps = Vec::new();
    loop {
        let size = |variable: VarIndex| sizes[variable].unwrap_or(usize::MAX);
        if let Some((at, leaf)) = next_leaf(&edges, retained, &left, size) {
            let edge = edges.swap_remove(at);
            let neighbour = edge.other(leaf);
            let of_edge = || parts_of(&edge, neighbour, graph).iter().map(|it| it.count()).sum();
            sizes[neighbour].get_or_insert_with(of_edge);
            left.retain(|it| *it != leaf);
            steps.push(JoinStep::Count { leaf, neighbour, edge });
        } else if let Some(variable) = next_isolated(&edges, retained, &left) {
            left.retain(|it| *it != variable);
            steps.push(JoinStep::Multiply(variable));
        } else {
            break;
        }
    }
    let mut shape = CoreShape::new(&edges, &left, |edge| function_of(edge, graph));
    while let Some(step) = shape.next(retained) {
        shape.apply(&step);
        steps.push(step);
    }
    let CoreShape { edges, functions, left, .. } = shape;
    if let Some(variables) = triangle_of(&edges, functions.len(), &left, retained) {
        steps.push(JoinStep::Triangles { variables, edge: edges[0].clone() });
        return steps;
    }
    let sizes = Sizes::new(&edges, sizes, graph).with_functions(functions.iter().copied());
    let order = sizes.order(&left).map(|it| it.variables);
    steps.extend(binding_steps(&order.unwrap_or_default(), &edges, functions.into_iter()));
    steps
}
