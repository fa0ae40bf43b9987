//! The table of all tools.

use super::algorithms::RUN_ALGORITHM;
use super::answer::{ToolFault, answer_schema};
use super::call::{ToolDef, input_schema};
use super::check::{EXPLAIN, VALIDATE};
use super::describe::DESCRIBE;
use super::mutate::MUTATE;
use super::nodes::{NEIGHBOURS, SAMPLE};
use super::query::QUERY;
use super::search::SEARCH;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};
use std::sync::Arc;

/// All tools, in the order in which a client lists them.
pub(super) const TOOLS: &[ToolDef] =
    &[DESCRIBE, QUERY, VALIDATE, EXPLAIN, SEARCH, NEIGHBOURS, SAMPLE, RUN_ALGORITHM, MUTATE];

/// The tools for clients who may change data or not, as they are listed.
pub(super) fn listed(writes: bool) -> Vec<Tool> {
    let tools = TOOLS.iter().filter(|tool| writes || !tool.writes);
    tools.map(listed_tool).collect()
}

fn listed_tool(tool: &ToolDef) -> Tool {
    let hints = ToolAnnotations::with_title(tool.title)
        .read_only(!tool.writes)
        .destructive(tool.writes)
        .idempotent(!tool.writes)
        .open_world(false);
    Tool::new(tool.name, tool.what, Arc::new(members(input_schema(tool))))
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(members(answer_schema())))
        .with_annotations(hints)
}

fn members(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// The tool of a name.
///
/// # Errors
///
/// [`ToolFault::Params`] with the names that there are, and why `mutate` is missing where nothing
/// may change.
pub(super) fn tool_of(name: &str, writes: bool) -> Result<&'static ToolDef, ToolFault> {
    match TOOLS.iter().find(|tool| tool.name == name) {
        Some(tool) if tool.writes && !writes => {
            let message = format!(
                "{name}: the database is open read-only: `hexgraph mcp PATH --write` allows changes"
            );
            Err(ToolFault::Params(message))
        }
        Some(tool) => Ok(tool),
        None => {
            let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let message = format!("there is no tool {name:?}; there are {}", names.join(", "));
            Err(ToolFault::Params(message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_change_data_are_listed_where_they_may() {
        let names =
            |writes| listed(writes).iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>();
        assert_eq!(names(true).len(), TOOLS.len());
        assert!(!names(false).contains(&"mutate".to_owned()));
        assert!(tool_of("mutate", false).is_err() && tool_of("mutate", true).is_ok());
        assert!(tool_of("Query", true).is_err());
    }
}
