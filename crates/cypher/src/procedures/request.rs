//! A call with the values of its arguments.

use super::options::{
    NodeGroups, OptionFault, OptionKind, argument_value, groups_of, labels_of, weight_of,
};
use super::signature::Procedure;
use hexgraph_base::plan::{AlgorithmCall, ArgumentKind, ArgumentValue, Direction};
use hexgraph_base::types::Position;
use hexgraph_scalar::Value;
use std::sync::Arc;

/// A call of an algorithm on the relationships of some types.
#[derive(Debug, Clone, PartialEq)]
pub struct AlgorithmRequest {
    /// The algorithm and its arguments. Nodes are ids, without variables; groups are not among
    /// them.
    pub call: AlgorithmCall,
    /// The ids of the types, in ascending order.
    pub types: Vec<u32>,
    /// The property of relationships that is their weight; `None` where each weighs 1.
    pub weight: Option<Arc<str>>,
    /// Labels: each node of the graph has one of them; `None` for all nodes.
    pub labels: Option<Vec<Arc<str>>>,
    /// The groups of nodes, of an algorithm that needs them.
    pub groups: Option<NodeGroups>,
    /// Where the call is in the text, for warnings.
    pub at: Position,
}

impl AlgorithmRequest {
    /// A call without relationships and with all defaults.
    pub(crate) fn new(signature: Procedure, at: Position) -> AlgorithmRequest {
        AlgorithmRequest {
            call: AlgorithmCall::new(signature.algorithm),
            types: Vec::new(),
            weight: None,
            labels: None,
            groups: None,
            at,
        }
    }

    /// The bytes of the nodes that it names.
    pub(crate) fn byte_len(&self) -> usize {
        let nodes: usize = self.call.node_lists().map(|it| size_of_val(&it.uids[..])).sum();
        match &self.groups {
            Some(NodeGroups::Pairs(pairs)) => nodes + size_of_val(&pairs[..]),
            _ => nodes,
        }
    }

    /// Sets an option.
    pub(crate) fn set(&mut self, name: &str, value: &Value) -> Result<(), OptionFault> {
        let algorithm = self.call.algorithm;
        let option = Procedure { algorithm }.option(name)?;
        match option {
            OptionKind::Weight if value.is_null() => self.weight = None,
            OptionKind::Labels if value.is_null() => self.labels = None,
            OptionKind::Weight => self.weight = Some(weight_of(name, value)?),
            OptionKind::Labels => self.labels = Some(labels_of(name, value)?),
            OptionKind::Argument(ArgumentKind::Groups) => {
                self.groups = Some(groups_of(name, value)?);
            }
            OptionKind::Argument(kind) => {
                let value = argument_value(name, kind, value)?;
                match algorithm.argument(name) {
                    Some(index) => self.call.given[index] = value,
                    None => self.set_common(name, value)?,
                }
            }
        }
        Ok(())
    }

    /// Sets an argument that all algorithms have.
    fn set_common(&mut self, name: &str, value: Option<ArgumentValue>) -> Result<(), OptionFault> {
        let algorithm = self.call.algorithm;
        match (name, value) {
            ("nodes", Some(ArgumentValue::Nodes(list))) => self.call.nodes = Some(list),
            ("threads", Some(ArgumentValue::Int(most))) => self.call.threads = Some(most as usize),
            ("seed", Some(ArgumentValue::Int(seed))) => self.call.seed = seed as u64,
            (_, Some(ArgumentValue::Word(word))) => {
                let possible = algorithm.directions.iter().find(|it| it.name() == word);
                self.call.direction =
                    *possible.ok_or_else(|| impossible(word, algorithm.directions))?;
            }
            // Null is the default.
            _ => {}
        }
        Ok(())
    }

    /// The fault of a call that lacks an option. `is_given` says which options are given otherwise.
    pub(crate) fn missing(&self, is_given: impl Fn(&str) -> bool) -> Option<OptionFault> {
        let AlgorithmCall { algorithm, given, .. } = &self.call;
        let mut arguments = algorithm.arguments.iter().zip(given);
        let (argument, _) = arguments.find(|(argument, value)| {
            let has_groups = argument.kind == ArgumentKind::Groups && self.groups.is_some();
            let is_there = value.is_some() || has_groups || is_given(argument.name);
            argument.kind.is_required() && !is_there
        })?;
        let name = argument.name;
        let hint = match argument.kind {
            ArgumentKind::Groups => {
                format!(
                    "write `{{{name}: 'team'}}`, or `{{{name}: collect([node, community])}}` in a `WITH` before"
                )
            }
            _ => format!("write `{{{name}: node}}` with a variable of `MATCH`, or an id"),
        };
        let procedure = Procedure { algorithm }.name();
        Some(OptionFault { message: format!("`{procedure}` needs the option `{name}`"), hint })
    }
}

fn impossible(word: &str, directions: &[Direction]) -> OptionFault {
    let possible: Vec<String> = directions.iter().map(|it| format!("'{}'", it.name())).collect();
    OptionFault {
        message: format!("`direction` can't be '{word}' for this algorithm"),
        hint: format!("possible are {}", possible.join(", ")),
    }
}
