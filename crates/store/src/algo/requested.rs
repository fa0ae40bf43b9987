//! The requested graph: its predicates, nodes and weights.

use crate::graph::Predicate;
use hexgraph_base::plan::Direction;
use hexgraph_base::types::Uid;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The edges of one predicate.
pub struct EdgeSelection<'v> {
    /// The predicate, which has edges.
    pub predicate: &'v Arc<Predicate>,
    /// True for inverted edges (`~name`). They need no reverse edges in the schema.
    pub reverse: bool,
    /// The facet that edges weigh; an edge without it weighs 1. `None` where each weighs 1.
    pub weight: Option<&'v str>,
    /// The allowed targets in the direction of use, ascending; `None` for all.
    pub far: Option<Vec<u32>>,
}

/// A graph that is requested.
pub struct Requested<'v> {
    /// The edges: the union of all parts. An edge that is in several weighs what it weighs in all
    /// of them together.
    pub parts: Vec<EdgeSelection<'v>>,
    /// The nodes, ascending; `None` for all that the edges join.
    pub nodes: Option<Vec<u32>>,
    /// The direction of edges.
    pub direction: Direction,
    /// The uid of a node, for errors.
    pub uid: &'v (dyn Fn(u32) -> Uid + Sync),
}

impl Requested<'_> {
    /// What the weights of edges are called, for errors: the names of the facets, each once.
    pub fn weights(&self) -> String {
        let names: BTreeSet<&str> = self.parts.iter().filter_map(|part| part.weight).collect();
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        quoted.join(", ")
    }
}
