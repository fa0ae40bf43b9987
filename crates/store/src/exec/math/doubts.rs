//! Finds uses of variables that are answered, and likely mean something else, for the warnings of an answer.
//!
//! - **None of the nodes has a value**: mostly the variable is one of other nodes, above or below. The first node that has a value ends the
//!   search, which is mostly the first one that is looked at; where there is none, it costs O(the fewer · log the others).
//! - **Some nodes have none**, which counts as 0. They are counted only where an operator has met operands of different nodes.
//! - **Sums over all ways to a node**, which are taken for those of one way. An edge field has more targets than there are nodes below exactly
//!   where a node is reached more than once.
//! - **Types that an operator has no result for**, as two datetimes: where it is computed value by value, the first ones are looked at.

use super::evaluate::{Misfit, math_vars};
use crate::exec::control::context::{Context, Var};
use crate::exec::control::trace::{Doubt, Doubtful};
use crate::exec::control::tree::{EdgeField, ValueMap};
use crate::exec::select::column_var::ColumnVar;
use crate::storage::NodeSet;
use hexgraph_base::plan::{Aggregate, Argument, Call, Filter, MathExpr, Operand, VarId};
use hexgraph_base::types::{Position, stack};
use std::sync::Arc;

impl Context<'_> {
    /// Notes the variables of a filter that have no value at any of its candidates.
    pub(crate) fn note_unmet_in(&self, filter: &Filter, candidates: &NodeSet) {
        stack::require();
        match filter {
            Filter::And(parts) | Filter::Or(parts) => {
                parts.iter().for_each(|part| self.note_unmet_in(part, candidates));
            }
            Filter::Not(part) => self.note_unmet_in(part, candidates),
            Filter::Reaches(_) => {}
            Filter::Function(function) => {
                let (left, arguments) = match &function.call {
                    Call::Compare { left, arguments, .. } => (left, arguments.as_slice()),
                    Call::Between { left, .. } => (left, [].as_slice()),
                    _ => return,
                };
                if let Operand::Val(var) = left {
                    self.note_unmet(*var, candidates, function.at, true);
                }
                for argument in arguments {
                    if let Argument::Val(var) = argument {
                        self.note_unmet(*var, candidates, function.at, true);
                    }
                }
            }
        }
    }

    /// Notes the variables of an expression that have no value at any node of a block, or at some, of variables that stand for columns, as does
    /// the expression.
    pub(crate) fn note_doubts_of_columns(
        &self,
        expr: &MathExpr,
        column: &ColumnVar,
        nodes: &NodeSet,
        at: Position,
    ) {
        let mut vars = Vec::new();
        math_vars(expr, &mut vars);
        vars.sort_unstable();
        vars.dedup();
        vars.iter().for_each(|var| self.note_unmet(*var, nodes, at, false));
        if column.takes_missing_as_zero() {
            self.note_missing_of_columns(&vars, nodes, at);
        }
    }

    /// Notes a variable if none of its values is one of the nodes, which ascend, of a level.
    pub(super) fn note_unmet_at(&self, var: VarId, map: &ValueMap, nodes: &[u32], at: Position) {
        let (fewer, more) = match map.nodes.len() < nodes.len() {
            true => (map.nodes.as_slice(), nodes),
            false => (nodes, map.nodes.as_slice()),
        };
        let is_met = || fewer.iter().any(|node| more.binary_search(node).is_ok());
        if map.constant.is_none() && !nodes.is_empty() && !is_met() {
            self.note(var, at, false);
        }
    }

    fn note_unmet(&self, var: VarId, nodes: &NodeSet, at: Position, is_filter: bool) {
        let meets = |known: &NodeSet| {
            let (fewer, more) =
                if known.len() < nodes.len() { (known, nodes) } else { (nodes, known) };
            fewer.iter().any(|node| more.contains(node))
        };
        let is_met = match &self.vars[var.0 as usize] {
            Some(Var::Values(map)) if map.constant.is_none() => {
                let is_known = |node: u32| map.nodes.binary_search(&node).is_ok();
                match map.nodes.len() < nodes.len() {
                    true => map.nodes.iter().any(|node| nodes.contains(*node)),
                    false => nodes.iter().any(is_known),
                }
            }
            Some(Var::Column(column)) => meets(&column.subjects()),
            // One value for all nodes, what holds nodes, and what is not known yet.
            _ => true,
        };
        if !is_met && !nodes.is_empty() {
            self.note(var, at, is_filter);
        }
    }

    fn note(&self, var: VarId, at: Position, is_filter: bool) {
        let what = match is_filter {
            true => Doubtful::NoneToFilter(var),
            false => Doubtful::NoneToCompute(var),
        };
        self.control.note_doubt(Doubt { at, what });
    }

    /// Notes the variables that some nodes of a level lack though they have another one of the same expression. O(nodes of all).
    pub(super) fn note_missing(
        &self,
        vars: &[(VarId, Arc<ValueMap>)],
        nodes: &[u32],
        at: Position,
    ) {
        let maps: Vec<&[u32]> = vars.iter().map(|(_, map)| map.nodes.as_slice()).collect();
        let mut places = vec![0; maps.len()];
        let (mut lacking, mut computed) = (vec![0; maps.len()], 0);
        for &node in nodes {
            let mut found = 0;
            for (place, map) in places.iter_mut().zip(&maps) {
                *place = reached(map, *place, node);
                found += usize::from(map.get(*place) == Some(&node));
            }
            if found == 0 {
                continue;
            }
            computed += 1;
            if found < maps.len() {
                for ((lacking, place), map) in lacking.iter_mut().zip(&places).zip(&maps) {
                    *lacking += usize::from(map.get(*place) != Some(&node));
                }
            }
        }
        for ((var, _), lacking) in vars.iter().zip(lacking) {
            self.note_lacking(*var, lacking, computed, at);
        }
    }

    /// As [`Context::note_missing`], of variables that stand for columns, and the nodes of a block.
    fn note_missing_of_columns(&self, vars: &[VarId], nodes: &NodeSet, at: Position) {
        let set_of = |var: &VarId| match &self.vars[var.0 as usize] {
            Some(Var::Column(column)) => Some((*var, nodes.and(&column.subjects()))),
            _ => None,
        };
        let sets: Vec<(VarId, NodeSet)> = vars.iter().filter_map(set_of).collect();
        let Some((_, first)) = sets.first() else { return };
        let all = sets[1..].iter().fold(first.clone(), |all, (_, set)| all.or(set));
        for (var, set) in &sets {
            self.note_lacking(*var, all.len() - set.len(), all.len(), at);
        }
    }

    fn note_lacking(&self, var: VarId, lacking: usize, nodes: usize, at: Position) {
        // A variable that no node has is told as such.
        if 0 < lacking && lacking < nodes {
            let what = Doubtful::SomeMissing { var, lacking, nodes };
            self.control.note_doubt(Doubt { at, what });
        }
    }

    /// Notes that a variable of the level below is aggregated though its values are sums over all ways to a node.
    pub(super) fn note_shared_below(
        &self,
        var: VarId,
        op: Aggregate,
        edges: &EdgeField,
        at: Position,
    ) {
        let mut seen = edges.targets.clone();
        seen.sort_unstable();
        let twice = seen.windows(2).find(|pair| pair[0] == pair[1]);
        if let Some(pair) = twice {
            let uid = self.version.nodes.uid(pair[0]);
            self.control.note_doubt(Doubt { at, what: Doubtful::SharedBelow { var, op, uid } });
        }
    }

    /// Notes that a variable of a level above is computed with as the sum over all nodes that lead to one.
    pub(super) fn note_shared_above(&self, var: VarId, node: u32, at: Position) {
        let uid = self.version.nodes.uid(node);
        self.control.note_doubt(Doubt { at, what: Doubtful::SharedAbove { var, uid } });
    }

    /// Notes that an operator has no result for the types of its operands.
    pub(super) fn note_misfit(&self, misfit: Misfit, at: Position) {
        let Misfit { function, operands } = misfit;
        self.control.note_doubt(Doubt { at, what: Doubtful::NoResult { function, operands } });
    }
}

/// The first place from one on whose node is not before the given one. O(log of how far it is).
fn reached(nodes: &[u32], from: usize, node: u32) -> usize {
    let mut step = 1;
    let mut end = from;
    while nodes.get(end).is_some_and(|it| *it < node) {
        end = (end + step).min(nodes.len());
        step *= 2;
    }
    let start = from.max(end.saturating_sub(step));
    start + nodes[start..end].partition_point(|it| *it < node)
}
