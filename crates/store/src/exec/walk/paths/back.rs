//! The edges of a field read in reverse: from targets to sources.
//!
//! With `@reverse` they are stored so. Without it, they are transposed after a search has read many
//! of them, as for algorithms ([`crate::algo`]): that costs about as much as a search over some of
//! them, and is retained for the next paths and algorithms.

use crate::algo::{EdgeSelection, Graph, GraphCache, Requested, Task};
use crate::exec::control::context::Context;
use crate::exec::cost;
use crate::graph::{Direction, Predicate};
use hexgraph_base::plan;
use hexgraph_base::types::Result;
use std::sync::Arc;

/// A search reads one in so many edges of a predicate before these are transposed: reading an edge
/// costs some times what transposing one does.
const EDGES_A_TURN: usize = cost::CELL.per(cost::ENTRY);

/// The bytes that transposing an edge needs: twice its result, and a temporary buffer.
const TURN_BYTES: usize = 16;

/// The edges of a field in the other direction.
pub(super) enum Back<'s> {
    /// As they are stored.
    Stored(&'s Direction),
    /// Transposed, by the numbers of nodes in this graph.
    Inverted(Arc<Graph>),
    /// They are not there yet.
    Missing,
    /// They can't be had: there is no memory for them.
    Refused,
}

impl<'s> Back<'s> {
    /// The stored ones.
    pub(super) fn stored(edges: Option<&'s Direction>) -> Back<'s> {
        edges.map_or(Back::Missing, Back::Stored)
    }

    /// Transposes the edges of a predicate where that was not done before, if `cost` edges that a
    /// search has read say that it is worth while. Returns how many it has to read else, and `None`
    /// when the edges are there.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Limit`] when the request has to stop.
    pub(super) fn turn(
        &mut self,
        context: &Context<'_>,
        predicate: &Arc<Predicate>,
        cost: usize,
    ) -> Result<Option<usize>> {
        match self {
            Back::Stored(_) | Back::Inverted(_) => return Ok(None),
            Back::Refused => return Ok(Some(usize::MAX)),
            Back::Missing => {}
        }
        let control = context.control;
        let uid = |node| context.version.nodes.uid(node);
        let parts = vec![EdgeSelection { predicate, reverse: false, weight: None, far: None }];
        let expected = Requested { parts, nodes: None, direction: plan::Direction::Out, uid: &uid };
        let task = Task::new(control, None);
        let edges = predicate.direction(false).map_or(0, |edges| edges.total() as usize);
        if !control.affords(TURN_BYTES.saturating_mul(edges)) {
            *self = Back::Refused;
            return Ok(Some(usize::MAX));
        }
        let graph = if cost < edges / EDGES_A_TURN {
            match control.graphs().map(|cache| cache.at_hand(&expected, &task)).transpose()? {
                Some(Some(graph)) => graph,
                _ => return Ok(Some(edges / EDGES_A_TURN)),
            }
        } else {
            GraphCache::get(control.graphs(), &expected, &task)?.0
        };
        graph.incoming(&task)?;
        *self = Back::Inverted(graph);
        Ok(None)
    }

    /// Calls `visit` with the sources of edges to `node`, in ascending order.
    pub(super) fn each(&self, node: u32, visit: impl FnMut(u32)) {
        match self {
            Back::Stored(edges) => edges.targets(node).iter().copied().for_each(visit),
            Back::Inverted(graph) => {
                let rows = graph.transposed_rows();
                if let (Some(rows), Some(number)) = (rows, graph.number(node)) {
                    let nodes = graph.nodes();
                    rows.of(number).iter().map(|from| nodes[*from as usize]).for_each(visit);
                }
            }
            Back::Missing | Back::Refused => {}
        }
    }
}
