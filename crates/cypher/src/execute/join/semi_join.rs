//! Few candidates of one variable leave few of its neighbours: these are followed before conditions
//! are tested for all nodes of a label.

use super::candidates::{CHECKED_NODES, Candidates, Reserved};
use super::edge_lists::parts_of;
use crate::execute::adjacency::Adjacency;
use crate::execute::plan::{Edge, Pattern, VarIndex};
use hexgraph_base::types::Result;

/// Lists are followed where they have at most this part of the nodes that they restrict: they are
/// sorted, which costs about as much more. Graphs of tests are small.
const PART: usize = if cfg!(test) { 1 } else { 8 };

/// The other endpoints of the relationships of its neighbours' `candidates`, so far as these are
/// computed. `None` where they are many compared with `size`, the number of nodes of the variable
/// without that.
pub(super) fn near_candidates(
    pattern: &Pattern,
    variable: VarIndex,
    candidates: &[Option<Candidates>],
    size: usize,
    graph: &dyn Adjacency,
) -> Result<Option<Candidates>> {
    let mut result: Option<Candidates> = None;
    for edge in pattern.edges.iter().filter(|it| it.has(variable) && !it.is_loop()) {
        let Some(of_neighbour) = &candidates[edge.other(variable)] else { continue };
        let Some(nodes) = targets(edge, edge.other(variable), of_neighbour, size / PART, graph)?
        else {
            continue;
        };
        let nodes = Candidates { nodes, counts: None };
        match &mut result {
            Some(result) => result.intersect(&nodes)?,
            none => *none = Some(nodes),
        }
    }
    Ok(result)
}

/// The ends of an edge from some nodes, at most so many.
fn targets(
    edge: &Edge,
    from: VarIndex,
    candidates: &Candidates,
    most: usize,
    graph: &dyn Adjacency,
) -> Result<Option<Vec<u32>>> {
    if most < candidates.nodes.len() {
        return Ok(None);
    }
    let _reserved = Reserved::new(graph, most * size_of::<u32>())?;
    let mut nodes = Vec::new();
    for part in parts_of(edge, from, graph) {
        let Some(lists) = part.lists else { return Ok(None) };
        for candidates in candidates.nodes.chunks(CHECKED_NODES) {
            graph.check()?;
            for node in candidates {
                let list = lists.list(*node);
                if most < nodes.len() + list.len() {
                    return Ok(None);
                }
                nodes.extend_from_slice(&list);
            }
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    Ok(Some(nodes))
}
