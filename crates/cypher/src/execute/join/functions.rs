//! Edges with at most one target for each node, as tables: functions of a node.

use super::candidates::{CHECKED_NODES, Lookup, Reserved, collect, is_dense, span_of};
use crate::execute::adjacency::{Adjacency, Lists};
use crate::execute::plan::VarIndex;
use hexgraph_base::types::Result;
use std::sync::Arc;

/// A list of one target is read in about so many nanoseconds. Estimate: lists of neighbouring nodes
/// are contiguous.
const TARGET_NANOS: usize = 6;

/// What a node without a target has instead: no node has this number.
const NONE: u32 = u32::MAX;

/// The target of each node.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FunctionTable {
    start: u32,
    targets: Vec<u32>,
}

/// An edge between two variables that is a function of the first one.
#[derive(Debug, Clone)]
pub(super) struct Function {
    pub(super) from: VarIndex,
    pub(super) to: VarIndex,
    pub(super) table: Arc<FunctionTable>,
}

/// Variables that have the same target: of a variable that was eliminated.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) members: Vec<(VarIndex, Arc<FunctionTable>)>,
}

impl FunctionTable {
    /// The targets of some ascending nodes so far as they are candidates. `None` where a node has
    /// several, or where a table of the nodes would have too many gaps.
    pub(super) fn read(
        lists: &dyn Lists,
        nodes: &[u32],
        candidates: &Lookup,
        graph: &dyn Adjacency,
        reserved: &mut Reserved<'_>,
    ) -> Result<Option<FunctionTable>> {
        let _while_read = Reserved::new(graph, size_of_val(nodes))?;
        let parts = collect(graph, nodes.len(), TARGET_NANOS, |range| {
            let nodes = &nodes[range];
            let (mut targets, mut has_several) = (vec![NONE; nodes.len()], false);
            for (start, nodes) in (0..).step_by(CHECKED_NODES).zip(nodes.chunks(CHECKED_NODES)) {
                graph.check()?;
                lists.each(nodes, &mut |at, list| match list {
                    [target] if candidates.get(*target) != 0 => targets[start + at] = *target,
                    [] | [_] => {}
                    _ => has_several = true,
                });
                if has_several {
                    return Ok(None);
                }
            }
            Ok(Some(targets))
        })?;
        let Some(parts) = parts.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        FunctionTable::new(nodes, parts.into_iter().flatten(), reserved)
    }

    /// The table of ascending nodes and their targets. `None` where it would have too many gaps.
    fn new(
        nodes: &[u32],
        targets: impl Iterator<Item = u32>,
        reserved: &mut Reserved<'_>,
    ) -> Result<Option<FunctionTable>> {
        let (start, span) = span_of(nodes);
        let bytes = span * size_of::<u32>();
        if !is_dense(bytes, nodes.len()) {
            return Ok(None);
        }
        reserved.grow(bytes)?;
        let mut table = vec![NONE; span];
        for (node, target) in nodes.iter().zip(targets) {
            table[(node - start) as usize] = target;
        }
        Ok(Some(FunctionTable { start, targets: table }))
    }

    /// The same for each target the target of that.
    pub(super) fn then(
        &self,
        next: &FunctionTable,
        reserved: &mut Reserved<'_>,
    ) -> Result<FunctionTable> {
        reserved.grow(self.targets.len() * size_of::<u32>())?;
        // No table has a target of NONE.
        let targets = self.targets.iter().map(|it| next.get(*it).unwrap_or(NONE)).collect();
        Ok(FunctionTable { start: self.start, targets })
    }

    /// The target of a node.
    #[inline]
    pub(super) fn get(&self, node: u32) -> Option<u32> {
        let target = self.targets.get(node.wrapping_sub(self.start) as usize).copied();
        target.filter(|it| *it != NONE)
    }

    /// The target of a node as a list.
    #[inline]
    pub(super) fn list(&self, node: u32) -> &[u32] {
        match self.targets.get(node.wrapping_sub(self.start) as usize) {
            Some(target) if *target != NONE => std::slice::from_ref(target),
            _ => &[],
        }
    }

    /// Each target with a node, in ascending order.
    pub(super) fn inverse_pairs(&self) -> Vec<(u32, u32)> {
        let nodes = (self.start..).zip(&self.targets).filter(|(_, target)| **target != NONE);
        let mut pairs: Vec<(u32, u32)> = nodes.map(|(node, target)| (*target, node)).collect();
        pairs.sort_unstable();
        pairs
    }

    pub(super) fn len(&self) -> usize {
        self.targets.len()
    }
}

impl Key {
    /// The tables of two variables; `None` where it is not about both.
    pub(super) fn between(
        &self,
        one: VarIndex,
        other: VarIndex,
    ) -> Option<(&FunctionTable, &FunctionTable)> {
        let table = |variable: VarIndex| self.members.iter().find(|it| it.0 == variable);
        Some((&*table(one)?.1, &*table(other)?.1))
    }
}
