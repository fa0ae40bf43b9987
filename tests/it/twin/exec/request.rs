//! A whole request: its blocks, in the order that their variables allow.

use super::order::cut;
use super::publish::Published;
use super::state::{BlockResult, Level, Outcome, Twin, Var, refuse};
use super::{cascade, group};
use crate::twin::graph::Graph;
use hexgraph::internals::plan::{Block, BlockKind, OrderKey, Page, Query};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// The answer to a query.
///
/// # Errors
///
/// What the specification refuses, and what it leaves undecided.
pub fn answer(graph: &Graph, query: &Query) -> Outcome<Json> {
    let mut twin = Twin { graph, vars: BTreeMap::new() };
    let mut waiting: Vec<&Block> = query.blocks.iter().collect();
    let mut results = Vec::new();
    while !waiting.is_empty() {
        let Some(next) = waiting.iter().position(|block| twin.is_ready(block)) else {
            return refuse("blocks that wait for each other");
        };
        results.push(twin.run(waiting.remove(next))?);
    }
    let position = |result: &BlockResult<'_>| {
        query.blocks.iter().position(|block| std::ptr::eq(block, result.block))
    };
    results.sort_by_key(position);
    twin.write(&results)
}

impl<'a> Twin<'a> {
    fn is_ready(&self, block: &Block) -> bool {
        let orders = block.order.iter().filter_map(|key| match key {
            OrderKey::Var { var, .. } => Some(var),
            OrderKey::Predicate { .. } => None,
        });
        let elsewhere = block.reads.iter().filter(|var| !block.defines.contains(var));
        elsewhere.chain(orders).all(|var| self.vars.contains_key(var))
    }

    fn run(&mut self, block: &'a Block) -> Outcome<BlockResult<'a>> {
        let mut result = BlockResult {
            block,
            roots: Vec::new(),
            level: Level::default(),
            groups: None,
            paths: Vec::new(),
        };
        match &block.kind {
            BlockKind::Empty => result.level = self.compute_empty(&block.fields)?,
            // Algorithms have tests of their own, against plain definitions.
            BlockKind::Algorithm(_) => return refuse("an algorithm"),
            BlockKind::Shortest(ends) => result.paths = self.shortest(block, ends)?,
            BlockKind::Visible | BlockKind::Hidden => self.run_nodes(&mut result)?,
        }
        for var in &block.defines {
            self.vars.entry(*var).or_insert_with(|| Var::Nodes(BTreeSet::new(), None));
        }
        Ok(result)
    }

    fn run_nodes(&mut self, result: &mut BlockResult<'a>) -> Outcome<()> {
        let block = result.block;
        result.roots = self.roots(block)?;
        let nodes: BTreeSet<u64> = result.roots.iter().copied().collect();
        if let Some(var) = block.var {
            self.vars.insert(var, Var::Nodes(nodes.clone(), None));
        }
        if let Some(group_by) = &block.group_by {
            let members: Vec<u64> = nodes.into_iter().collect();
            let groups = self.groups(group_by, &block.fields, &members)?;
            let mut published = Published::new();
            group::publish(&groups, group_by.keys.len(), &block.fields, &mut published)?;
            self.vars.extend(published);
            result.groups = Some(groups);
            return Ok(());
        }
        result.level = match &block.recurse {
            Some(recurse) => self.recurse(block, recurse, nodes)?,
            None => self.level(nodes, &block.fields, block.cascade.as_ref())?,
        };
        if cascade::is_in(block) {
            cascade::cascade(&mut result.level, block.cascade.as_ref());
        }
        if block.cascade.is_some() {
            result.roots.retain(|node| !result.level.dead.contains(node));
            result.roots = cut(&result.roots, Page { after: 0, ..block.page });
        }
        self.group_fields(&mut result.level)?;
        self.publish(result)?;
        self.compute(&mut result.level)
    }
}
