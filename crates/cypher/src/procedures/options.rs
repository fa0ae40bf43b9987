//! The values of options: their kinds, and whether they are in range.

use crate::syntax::ast::{Expr, ExprKind};
use hexgraph_base::plan::{ArgumentKind, ArgumentValue, NUMBERS_MAX, NodeList};
use hexgraph_base::types::Uid;
use hexgraph_scalar::{List, Value};
use std::sync::Arc;

/// What is wrong with a call, and what to write instead.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OptionFault {
    pub(crate) message: String,
    pub(crate) hint: String,
}

/// The values that an option can have.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OptionKind {
    /// Those of an argument of the table.
    Argument(ArgumentKind),
    /// The name of a property of relationships.
    Weight,
    /// The name of a label, or a list of them.
    Labels,
}

/// What identifies the groups of nodes. Nodes with equal values are of one group, and a node
/// without a value is a group of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeGroups {
    /// The values of a property.
    Property(Arc<str>),
    /// The value of each node.
    Pairs(Vec<(u64, Value)>),
}

/// The value of an argument of the table. `None` for null, which means the default.
pub(super) fn argument_value(
    name: &str,
    kind: ArgumentKind,
    value: &Value,
) -> Result<Option<ArgumentValue>, OptionFault> {
    if value.is_null() && !matches!(kind, ArgumentKind::Nodes { .. }) {
        return Ok(None);
    }
    let result = match (kind, value) {
        (ArgumentKind::Int { least, most, .. }, Value::Int(number)) => {
            (least..=most).contains(number).then_some(ArgumentValue::Int(*number))
        }
        (ArgumentKind::Float { least, most, .. }, value) => {
            // NaN is in no range.
            number_of(value).filter(|it| (least..=most).contains(it)).map(ArgumentValue::Float)
        }
        (ArgumentKind::Bool { .. }, Value::Bool(truth)) => Some(ArgumentValue::Bool(*truth)),
        (ArgumentKind::Choice(words), Value::String(text)) => {
            words.iter().find(|word| ***word == **text).map(|word| ArgumentValue::Word(word))
        }
        (ArgumentKind::Numbers { least, most, is_integer, .. }, value) => numbers_of(value, |it| {
            (least..=most).contains(&it) && (!is_integer || it.fract() == 0.0)
        })
        .map(ArgumentValue::Numbers),
        (ArgumentKind::Nodes { .. }, value) => nodes_of(value).map(ArgumentValue::Nodes),
        _ => None,
    };
    result.map(Some).ok_or_else(|| refused(name, value, &expected(kind)))
}

/// What identifies groups: the name of a property, or pairs of a node and a value.
pub(super) fn groups_of(name: &str, value: &Value) -> Result<NodeGroups, OptionFault> {
    let pair = |it: &Value| match it {
        Value::List(pair) => match &pair[..] {
            [node, group] => Some((node_of(node)?, group.clone())),
            _ => None,
        },
        _ => None,
    };
    let groups = match value {
        Value::String(property) => Some(NodeGroups::Property(property.clone())),
        Value::List(list) => list.iter().map(pair).collect::<Option<_>>().map(NodeGroups::Pairs),
        _ => None,
    };
    groups.ok_or_else(|| refused(name, value, &expected(ArgumentKind::Groups)))
}

/// The labels of the nodes of a graph.
pub(super) fn labels_of(name: &str, value: &Value) -> Result<Vec<Arc<str>>, OptionFault> {
    names_of(value).ok_or_else(|| refused(name, value, "a label, or a list of labels"))
}

/// The property of relationships that is their weight.
pub(super) fn weight_of(name: &str, value: &Value) -> Result<Arc<str>, OptionFault> {
    match value {
        Value::String(text) => Ok(text.clone()),
        _ => Err(refused(name, value, "the name of a property of the relationships")),
    }
}

fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// Numbers: one, or a list of them.
fn numbers_of(value: &Value, is_fine: impl Fn(f64) -> bool) -> Option<Vec<f64>> {
    let items = items_of(value);
    if !(1..=NUMBERS_MAX).contains(&items.len()) {
        return None;
    }
    items.iter().map(|it| number_of(it).filter(|it| is_fine(*it))).collect()
}

/// Nodes: one, or a list of them; null is none.
fn nodes_of(value: &Value) -> Option<NodeList> {
    let nodes = items_of(value).iter().filter(|it| !it.is_null()).map(node_of);
    let mut uids: Vec<u64> = nodes.collect::<Option<_>>()?;
    uids.sort_unstable();
    uids.dedup();
    Some(NodeList { uids, vars: Vec::new() })
}

/// A node by itself, by its `id` or by its `elementId`.
fn node_of(value: &Value) -> Option<u64> {
    match value {
        Value::Node(node) => Some(*node),
        Value::Int(id) => u64::try_from(*id).ok(),
        Value::String(text) => Uid::parse(text).map(|uid| uid.0),
        _ => None,
    }
}

/// The elements of a list; any other value is the only one.
fn items_of(value: &Value) -> &[Value] {
    match value {
        Value::List(list) => list,
        one => std::slice::from_ref(one),
    }
}

fn refused(name: &str, value: &Value, expected: &str) -> OptionFault {
    let shown = match value {
        Value::String(text) => format!("'{text}'"),
        Value::List(list) if SHOWN_MAX < list.len() => format!("a list of {} values", list.len()),
        other => other.to_string(),
    };
    let hint = format!("expected {expected}");
    OptionFault { message: format!("`{name}` can't be {shown}"), hint }
}

/// The longest list that a message shows.
const SHOWN_MAX: usize = 8;

/// The values of a kind, in words.
fn expected(kind: ArgumentKind) -> String {
    match kind {
        ArgumentKind::Int { least, most: i64::MAX, .. } => format!("an integer from {least} on"),
        ArgumentKind::Int { least, most, .. } => format!("an integer from {least} to {most}"),
        ArgumentKind::Float { least, most, .. } => format!("a number from {least} to {most}"),
        ArgumentKind::Bool { .. } => "true or false".to_owned(),
        ArgumentKind::Choice(words) => {
            let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
            format!("one of {}", quoted.join(", "))
        }
        ArgumentKind::Numbers { least, most, is_integer, .. } => {
            let kind = if is_integer { "integers" } else { "numbers" };
            format!("1 to {NUMBERS_MAX} {kind} from {least} to {most}, such as [2, 1]")
        }
        ArgumentKind::Nodes { .. } => "a node, its id, or a list of them".to_owned(),
        ArgumentKind::Groups => {
            "the name of a property, or a list of [node, value], a value for each node".to_owned()
        }
    }
}

/// The value of an expression without names; `None` for any other.
pub(crate) fn literal(expr: &Expr) -> Option<Value> {
    Some(match &expr.kind {
        ExprKind::Null => Value::Null,
        ExprKind::Boolean(truth) => Value::Bool(*truth),
        ExprKind::Integer(number) => Value::Int(i64::try_from(*number).ok()?),
        ExprKind::Float(number) => Value::Float(*number),
        ExprKind::String(text) => Value::from(&**text),
        ExprKind::Signed(is_negative, inside) => match (literal(inside)?, is_negative) {
            (Value::Int(number), true) => Value::Int(-number),
            (Value::Float(number), true) => Value::Float(-number),
            (number @ (Value::Int(_) | Value::Float(_)), false) => number,
            _ => return None,
        },
        // The lexer bounds how deep lists nest.
        ExprKind::List(items) => {
            Value::List(List::new(items.iter().map(literal).collect::<Option<_>>()?).ok()?)
        }
        _ => return None,
    })
}

/// Names: a string, or a list of strings with at least one.
pub(crate) fn names_of(value: &Value) -> Option<Vec<Arc<str>>> {
    let name = |it: &Value| match it {
        Value::String(text) => Some(text.clone()),
        _ => None,
    };
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::List(list) if !list.is_empty() => list.iter().map(name).collect(),
        _ => None,
    }
}
