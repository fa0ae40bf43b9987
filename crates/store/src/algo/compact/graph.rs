//! A compact graph: nodes numbered from 0 on in the order of their uids, and the edges between
//! them.

use super::numbering::Numbering;
use super::rows::Rows;
use crate::algo::task::Task;
use hexgraph_base::budget::Held;
use hexgraph_base::types::Result;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The edges of some predicates between some nodes, as algorithms read them.
pub struct Graph {
    numbering: Arc<Numbering>,
    /// The edges as they were made.
    rows: Rows,
    /// True if edges have no direction, and rows have each in both directions.
    is_undirected: bool,
    /// The transposed edges, cached on first use.
    transposed: OnceLock<Rows>,
    /// The memory of the cached graph, reserved in the budget of the process.
    held: Mutex<Option<Held>>,
}

impl Graph {
    /// The graph of nodes and their edges. Without a direction the rows have each edge in both
    /// directions.
    pub(in crate::algo) fn new(
        numbering: Arc<Numbering>,
        rows: Rows,
        is_undirected: bool,
    ) -> Graph {
        let (transposed, held) = (OnceLock::new(), Mutex::new(None));
        Graph { numbering, rows, is_undirected, transposed, held }
    }

    /// As [`Graph::new`], with the transposed edges if `transposed` has them.
    pub(super) fn with_inverted(
        numbering: Arc<Numbering>,
        rows: Rows,
        transposed: Option<Rows>,
        is_undirected: bool,
    ) -> Graph {
        let graph = Graph::new(numbering, rows, is_undirected);
        transposed.into_iter().for_each(|rows| drop(graph.transposed.set(rows)));
        graph
    }

    /// The nodes by their numbers.
    pub(super) fn numbering(&self) -> &Arc<Numbering> {
        &self.numbering
    }

    /// The transposed edges, if computed.
    pub fn transposed_rows(&self) -> Option<&Rows> {
        self.transposed.get()
    }

    /// Holds the memory reserved for it until it is dropped.
    pub(in crate::algo) fn hold(&self, held: Held) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.numbering.nodes.len()
    }

    /// True for a graph without nodes.
    pub fn is_empty(&self) -> bool {
        self.numbering.nodes.is_empty()
    }

    /// The node ids, ascending; a node's number is its position.
    pub fn nodes(&self) -> &[u32] {
        &self.numbering.nodes
    }

    /// The number of a node; `None` for one that is not in the graph.
    pub fn number(&self, node: u32) -> Option<u32> {
        self.numbering.number(node)
    }

    /// True if edges have no direction, and rows have each in both directions.
    pub fn is_undirected(&self) -> bool {
        self.is_undirected
    }

    /// The edges that leave each node.
    pub fn outgoing(&self) -> &Rows {
        &self.rows
    }

    /// The incoming edges of each node: the outgoing ones, if edges have no direction. Else the
    /// first call transposes them, which costs O(edges).
    ///
    /// # Errors
    ///
    /// `Limit` without enough memory, or if the computation is cancelled.
    pub fn incoming(&self, task: &Task<'_>) -> Result<&Rows> {
        if self.is_undirected { Ok(&self.rows) } else { self.transposed(task) }
    }

    fn transposed(&self, task: &Task<'_>) -> Result<&Rows> {
        if let Some(rows) = self.transposed.get() {
            return Ok(rows);
        }
        let bytes = self.rows.byte_len();
        let _capacity = task.capacity(bytes, 1)?;
        // Nobody waits for another who does the same: both make them, and one is retained.
        let made = self.rows.transposed(task)?;
        if let Some(held) = &mut *self.held.lock().unwrap_or_else(PoisonError::into_inner) {
            held.grow(bytes as u64)?;
        }
        // Where another request was faster, its edges are the same.
        Ok(self.transposed.get_or_init(|| made))
    }

    /// The bytes that it takes now.
    pub fn byte_len(&self) -> usize {
        let transposed = self.transposed.get().map_or(0, Rows::byte_len);
        self.numbering.byte_len() + self.rows.byte_len() + transposed
    }
}
