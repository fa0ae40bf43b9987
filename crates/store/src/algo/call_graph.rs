//! The compact graph of a call, with what its errors say.

use super::cache::Lookup;
use super::compact::graph::Graph;
use super::estimate::Estimate;
use std::sync::Arc;

/// The compact graph of a call.
pub struct CallGraph {
    /// The graph.
    pub graph: Arc<Graph>,
    /// Where it comes from.
    pub lookup: Lookup,
    /// What its weights are called.
    pub weights: String,
    /// The memory that the call needs; `None` where other arguments or the threads decide.
    pub estimate: Option<Estimate>,
}
