//! Finds uses of variables at nodes none of which has a value of them: mostly the variable is one of other nodes, above or below.
//!
//! Such a use is answered all the same, and told as a warning. The first node that has a value ends the search, which is mostly
//! the first one that is looked at; where there is none, it costs O(the fewer · log the others).

use super::aggregate::math_vars;
use crate::exec::control::context::{Context, Var};
use crate::exec::control::trace::Unmet;
use crate::exec::control::tree::ValueMap;
use crate::storage::NodeSet;
use hexgraph_base::plan::{Argument, Call, Filter, MathExpr, Operand, VarId};
use hexgraph_base::types::{Position, stack};

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

    /// Notes the variables of an expression that have no value at any node of a block, of variables that stand for columns.
    pub(crate) fn note_unmet_of_columns(&self, expr: &MathExpr, nodes: &NodeSet, at: Position) {
        let mut vars = Vec::new();
        math_vars(expr, &mut vars);
        for var in vars {
            self.note_unmet(var, nodes, at, false);
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
        let name = self.var_name(var).to_owned();
        self.control.note_unmet(Unmet { name, at, is_filter });
    }
}
