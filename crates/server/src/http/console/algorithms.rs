//! `GET /console/algorithms`: the table of all algorithms on graphs, from which the console makes
//! its form. It is the table that the languages read, with the names of Python's `algorithms()`; it
//! holds no data.

use crate::http::app::App;
use crate::http::message::reply::Reply;
use crate::http::route::Bare;
use hexgraph::db::{ALGORITHMS, Algorithm, ArgumentDef, ArgumentKind, COMMON_ARGUMENTS};
use serde_json::{Map, Value, json};

/// Answers with the algorithms in the order of the documentation, each with its own arguments and
/// then the common ones.
pub(in crate::http) fn algorithms(_: &App, _: &Bare<'_>) -> Reply {
    let rows: Vec<Value> = ALGORITHMS.iter().map(row).collect();
    let reply = Reply::json(json!({ "algorithms": rows }).to_string());
    reply.with_header("cache-control", "no-cache")
}

fn row(algorithm: &Algorithm) -> Value {
    let directions = algorithm.directions.iter().map(|direction| direction.name());
    let arguments = algorithm.arguments.iter().chain(COMMON_ARGUMENTS);
    json!({
        "name": algorithm.name,
        "summary": algorithm.summary,
        "gives": algorithm.gives.name(),
        "weights": algorithm.takes_weights,
        "directions": directions.collect::<Vec<_>>(),
        "source": algorithm.source,
        "arguments": arguments.map(argument_row).collect::<Vec<_>>(),
    })
}

/// An argument: `kind`, and, where its kind has them, `range` (the bounds, or the words of a
/// choice), `default` and `required`.
fn argument_row(argument: &ArgumentDef) -> Value {
    let (kind, more) = match argument.kind {
        ArgumentKind::Int { least, most, default } => {
            ("int", json!({ "range": [least, most], "default": default }))
        }
        ArgumentKind::Float { least, most, default } => {
            ("float", json!({ "range": [least, most], "default": default }))
        }
        ArgumentKind::Bool { default } => ("bool", json!({ "default": default })),
        ArgumentKind::Choice(words) => {
            ("choice", json!({ "range": words, "default": words.first() }))
        }
        ArgumentKind::Numbers { least, most, is_integer, default } => {
            let kind = if is_integer { "ints" } else { "floats" };
            (kind, json!({ "range": [least, most], "default": default }))
        }
        ArgumentKind::Nodes { is_required } => ("nodes", json!({ "required": is_required })),
        ArgumentKind::Groups => ("groups", json!({ "required": true })),
    };
    let mut row = Map::new();
    row.insert("name".to_owned(), argument.name.into());
    row.insert("summary".to_owned(), argument.summary.into());
    row.insert("kind".to_owned(), kind.into());
    if let Value::Object(more) = more {
        row.extend(more);
    }
    Value::Object(row)
}
