//! Reads the values of directives' arguments.

use apollo_compiler::Node;
use apollo_compiler::ast::Value;
use hexgraph_base::types::stack;

use crate::syntax::{Position, Positions};
use hexgraph_base::types::quote;

/// Returns the text of a scalar of any type, without quotes; empty for lists and objects.
pub(in crate::sdl) fn bare(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Enum(name) | Value::Variable(name) => name.to_string(),
        Value::String(text) => text.clone(),
        Value::Float(number) => number.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::List(_) | Value::Object(_) => String::new(),
    }
}

/// Prints a value as GraphQL text.
pub(in crate::sdl) fn written(value: &Value) -> String {
    stack::require();
    match value {
        Value::String(text) => quote(text),
        Value::Variable(name) => format!("${name}"),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| written(item)).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(name, value)| format!("{name}:{}", written(value))).collect();
            format!("{{{}}}", entries.join(","))
        }
        scalar => bare(scalar),
    }
}

/// Returns the entry of a name when the value is an object.
pub(in crate::sdl) fn entry<'a>(value: &'a Value, name: &str) -> Option<&'a Node<Value>> {
    match value {
        Value::Object(entries) => {
            entries.iter().find(|(result, _)| result == name).map(|(_, value)| value)
        }
        _ => None,
    }
}

/// Returns the items of a list; none of any other value.
pub(in crate::sdl) fn items(value: &Value) -> &[Node<Value>] {
    match value {
        Value::List(items) => items,
        _ => &[],
    }
}

/// Returns the position that messages about a value point at: of a string the one after its
/// opening quotes.
pub(in crate::sdl) fn position(value: &Node<Value>, positions: &Positions<'_>) -> Option<Position> {
    let start = value.location()?.offset();
    let quotes = match &**value {
        Value::String(_) if is_block(value, positions) => 3,
        Value::String(_) => 1,
        _ => 0,
    };
    Some(positions.at(start + quotes))
}

/// Returns true for a string in triple quotes.
pub(super) fn is_block(value: &Node<Value>, positions: &Positions<'_>) -> bool {
    let start = value.location().map(|span| span.offset());
    start
        .and_then(|start| positions.text().get(start..))
        .is_some_and(|rest| rest.starts_with("\"\"\""))
}

/// Reads a truth value in one of the spellings that Go's `strconv.ParseBool` accepts, as the
/// reference does.
pub(in crate::sdl) fn go_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}
