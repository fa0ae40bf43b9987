//! `shortest`: the paths of least weight between two nodes.
//!
//! One path is searched breadth first if no edge has a weight ([`super::breadth`]), else by weight
//! ([`super::lightest`]); several are searched one after the other ([`super::several`]).

use super::breadth::Way;
use super::lightest::lightest;
use super::path_edges::{PathEdges, weight_facet};
use super::root_paths::Frontier;
use super::several::several;
use crate::exec::control::context::{Context, UidVar, Var};
use crate::exec::control::tree::Path;
use crate::storage::NodeSet;
use hexgraph_base::plan::{Block, Endpoint, ShortestPath};
use hexgraph_base::types::{Error, Result, Uid};
use std::sync::Arc;

impl Context<'_> {
    /// Computes the paths of a `shortest` block and sets its variable to the first one's nodes.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when an end is missing or is more than one node.
    pub(crate) fn shortest(&mut self, block: &Block, ends: &ShortestPath) -> Result<Vec<Path>> {
        let from = self.endpoint(ends.from, "from")?;
        let to = self.endpoint(ends.to, "to")?;
        let paths = match (from, to) {
            // Only of several paths the weight is bounded.
            (Some(from), Some(to)) if from == to => {
                let is_too_light =
                    1 < ends.paths && ends.weight_min.is_some_and(|least| 0.0 < least);
                let is_none = is_too_light || ends.depth == Some(0);
                let path = Path { nodes: vec![from], hops: Vec::new(), weight: 0.0 };
                if is_none { Vec::new() } else { vec![path] }
            }
            (Some(from), Some(to)) => self.paths(block, ends, from, to)?,
            _ => Vec::new(),
        };
        if let Some(var) = block.var {
            let path = paths.first().map(|path| path.nodes.clone()).unwrap_or_default();
            let mut nodes = path.clone();
            nodes.sort_unstable();
            let set = NodeSet::from(nodes);
            self.set_var(var, Var::Uids(UidVar { set, path: Some(Arc::new(path)) }));
        }
        Ok(paths)
    }

    fn endpoint(&self, end: Option<Endpoint>, name: &str) -> Result<Option<u32>> {
        match end {
            None => {
                let message = format!("a `shortest` block without `{name}`");
                Err(Error::query(message)
                    .with_hint(format!("write `{name}: 0x1` or `{name}: uid(x)`")))
            }
            Some(Endpoint::Uid(uid)) => Ok(self.version.nodes.node(Uid(uid))),
            Some(Endpoint::Var(var)) => {
                let nodes = self.uid_var(var);
                if 1 < nodes.len() {
                    let message = format!(
                        "`{name}` of a path must be one node, and variable `{}` holds {}",
                        self.var_name(var),
                        nodes.len()
                    );
                    let hint = "choose one with `first: 1` where it is defined";
                    return Err(Error::query(message).with_hint(hint));
                }
                Ok(nodes.iter().next())
            }
        }
    }

    /// The paths between two different nodes.
    fn paths(&self, block: &Block, ends: &ShortestPath, from: u32, to: u32) -> Result<Vec<Path>> {
        self.check()?;
        let ways = self.unweighted_ways(block)?;
        if ends.depth.is_some_and(|depth| depth <= 0) {
            return Ok(Vec::new());
        }
        if let Some(ways) = ways.filter(|_| ends.paths <= 1) {
            let depth = ends.depth.map_or(usize::MAX, |depth| depth.max(0) as usize);
            return Ok(self.fewest_edges(&ways, from, to, depth)?.into_iter().collect());
        }
        let mut edges = PathEdges::new(self, block, from, ends.depth)?;
        if ends.paths <= 1 {
            return Ok(lightest(&mut edges, from, to)?.path.into_iter().collect());
        }
        let most = self.control.limits().frontier as usize;
        let frontier = match ends.frontier_max {
            Some(requested) => {
                Frontier { max: requested.max(1) as usize, setting: "maxfrontiersize" }
            }
            None => Frontier { max: most, setting: "frontier" },
        };
        several(&mut edges, ends, frontier, from, to)
    }

    /// The edge fields of the block, when none of them has weights.
    fn unweighted_ways<'s>(&'s self, block: &'s Block) -> Result<Option<Vec<Way<'s>>>> {
        let mut ways = Vec::new();
        for (field, walk) in self.edge_fields(block)? {
            if weight_facet(walk.field)?.is_some() {
                return Ok(None);
            }
            let back = walk.predicate.direction(!walk.reverse).filter(|_| walk.takes_all());
            ways.push(Way { field, walk, back });
        }
        Ok(Some(ways))
    }
}
