//! An edge of any type leaves out the types that its endpoints cannot have: `(:City)-->(x)` reads
//! only what begins at a city, and then `x` is at the end of such an edge.

use super::candidates::{CHECKED_NODES, Candidates};
use crate::execute::adjacency::{Adjacency, Lists};
use crate::execute::plan::{Constraint, Edge, Pattern, VarIndex};
use hexgraph_base::types::Result;

/// The pattern with fewer types and with fewer candidates of the variables between its edges;
/// `None` where all edges have one type, or none is left out.
pub(super) fn pruned(
    pattern: &Pattern,
    candidates: &mut [Option<Candidates>],
    graph: &dyn Adjacency,
) -> Result<Option<Pattern>> {
    let is_several = |edge: &Edge| 1 < edge.types.len() && !edge.either;
    if !pattern.edges.iter().any(is_several) {
        return Ok(None);
    }
    let mut result = pattern.clone();
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for edge in result.edges.iter_mut().filter(|edge| is_several(edge)) {
            let before = edge.types.len();
            let mut types = Vec::with_capacity(before);
            for &type_id in edge.types.iter() {
                if has_lists(edge.from, graph.lists(type_id, false), candidates, graph)?
                    && has_lists(edge.to, graph.lists(type_id, true), candidates, graph)?
                {
                    types.push(type_id);
                }
            }
            has_changed |= types.len() < before;
            edge.types = types.into();
            let [type_id] = edge.types[..] else { continue };
            for (variable, inverse) in [(edge.from, false), (edge.to, true)] {
                if candidates[variable].is_none()
                    && let Some(lists) = graph.lists(type_id, inverse)
                {
                    candidates[variable] = Some(Candidates { nodes: lists.nodes(), counts: None });
                }
            }
        }
    }
    let Pattern { edges, constraints, .. } = &mut result;
    constraints.retain(|it| match it {
        Constraint::Unique(one, other) => {
            edges[*one].types.iter().any(|it| edges[*other].types.contains(it))
        }
        Constraint::Differ(..) | Constraint::NoEdge(_) => true,
    });
    Ok(Some(result))
}

/// Whether a candidate of a variable has a list. Without candidates or lists it may.
fn has_lists(
    variable: VarIndex,
    lists: Option<&dyn Lists>,
    candidates: &[Option<Candidates>],
    graph: &dyn Adjacency,
) -> Result<bool> {
    let (Some(lists), Some(candidates)) = (lists, &candidates[variable]) else { return Ok(true) };
    if lists.count() < candidates.nodes.len() {
        graph.check()?;
        let is_candidate = |node: &u32| candidates.nodes.binary_search(node).is_ok();
        return Ok(lists.nodes().iter().any(is_candidate));
    }
    for nodes in candidates.nodes.chunks(CHECKED_NODES) {
        graph.check()?;
        if nodes.iter().any(|node| !lists.list(*node).is_empty()) {
            return Ok(true);
        }
    }
    Ok(false)
}
