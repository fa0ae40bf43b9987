//! Values of arguments as the messages and the checks need them.

use apollo_compiler::Node;
use apollo_compiler::ast::Value;
use hexgraph_base::types::stack;

use crate::syntax::{Place, Places};
use hexgraph_base::types::quote;

/// The text of a scalar value, whatever it is; nothing for lists and objects.
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

/// The value as GraphQL text.
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

/// The entry of a name, where the value is an object.
pub(in crate::sdl) fn entry<'a>(value: &'a Value, name: &str) -> Option<&'a Node<Value>> {
    match value {
        Value::Object(entries) => {
            entries.iter().find(|(found, _)| found == name).map(|(_, value)| value)
        }
        _ => None,
    }
}

/// The items of a list; of any other value none.
pub(in crate::sdl) fn items(value: &Value) -> &[Node<Value>] {
    match value {
        Value::List(items) => items,
        _ => &[],
    }
}

/// Where messages about a value point: of a string behind the opening quotes.
pub(in crate::sdl) fn place(value: &Node<Value>, places: &Places<'_>) -> Option<Place> {
    let start = value.location()?.offset();
    let quotes = match &**value {
        Value::String(_) if is_block(value, places) => 3,
        Value::String(_) => 1,
        _ => 0,
    };
    Some(places.at(start + quotes))
}

/// True for a string in three quotes.
pub(super) fn is_block(value: &Node<Value>, places: &Places<'_>) -> bool {
    let start = value.location().map(|span| span.offset());
    start
        .and_then(|start| places.text().get(start..))
        .is_some_and(|rest| rest.starts_with("\"\"\""))
}

/// A truth value in one of the spellings that the reference reads.
pub(in crate::sdl) fn go_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}
