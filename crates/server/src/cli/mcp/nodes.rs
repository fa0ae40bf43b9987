//! `sample` and `neighbours`: nodes of a type, and the nodes around one.

use super::answer::{Cuts, Outcome, ToolAnswer, ToolFault, ValueLimits};
use super::call::{ParamKind, SECONDS, ToolCall, ToolDef, param, required};
use super::model::{Model, is_edge, objects};
use super::query::{BYTES, CURSOR, TEXT_LENGTH, page};
use crate::cli::requests::uid_of;
use crate::cli::shell::quoted;
use hexgraph::db::QueryRequest;
use hexgraph_base::types::{Error, Uid, did_you_mean};
use serde_json::{Map, Value, json};

/// The nodes below an edge of a sample.
const SAMPLE_TARGETS: usize = 3;

/// The predicates that a sample shows where no type says which.
const SAMPLE_FIELDS: usize = 30;

/// The edges that are followed where none are named.
const EDGES_MAX: usize = 50;

pub(super) const SAMPLE: ToolDef = ToolDef {
    name: "sample",
    title: "Sample nodes",
    what: "Shows some nodes of a type, or with a predicate: their values, and the first nodes that their edges go to.",
    params: &[
        param("type", ParamKind::Text, "the type; or give `predicate`"),
        param("predicate", ParamKind::Text, "a predicate that the nodes have; or give `type`"),
        param("rows", ParamKind::Number(1, 100, 5), "the number of nodes"),
        BYTES,
        TEXT_LENGTH,
        CURSOR,
        SECONDS,
    ],
    writes: false,
    run: sample,
};

fn sample(call: &ToolCall<'_>) -> Outcome<ToolAnswer> {
    let model = call.model()?;
    let (root, fields) = match (call.arguments.text("type"), call.arguments.text("predicate")) {
        (Some(name), None) => {
            let name = name.trim_matches(['<', '>']);
            let Some(fields) = model.catalog.types.get(name) else {
                let hint = did_you_mean(name, model.catalog.types.keys().map(String::as_str));
                let fault = Error::query(format!("the schema has no type {name:?}"));
                return Err(fault.or_hint(hint).or_hint("`describe` lists the types").into());
            };
            (format!("type({})", quoted(name)), fields.iter().map(String::as_str).collect())
        }
        (None, Some(name)) => {
            let (name, _) = model.predicate(name)?;
            let mut all: Vec<&str> = model.counts.keys().map(String::as_str).collect();
            all.retain(|it| *it != name && model.catalog.predicates.contains_key(*it));
            all.sort_by_key(|name| u64::MAX - model.values(name));
            all.insert(0, name);
            (format!("has({})", quoted(name)), all)
        }
        _ => {
            let fault = "sample: expected either `type` or `predicate`";
            return Err(ToolFault::Params(fault.to_owned()));
        }
    };
    let labels = model.label_fields();
    let shown = &fields[..fields.len().min(SAMPLE_FIELDS)];
    let mut selection = "uid dgraph.type".to_owned();
    for name in shown {
        let definition = model.catalog.predicates.get(*name).map_or("", String::as_str);
        let field = quoted(name);
        selection += &match () {
            // Nobody reads a password.
            () if definition.starts_with("password") => continue,
            () if is_edge(definition) => {
                format!(" count({field}) {field} (first: {SAMPLE_TARGETS}) {{ {labels} }}")
            }
            () => format!(" {}", model.value_field(name)),
        };
    }
    let request = QueryRequest::from(format!("{{ sample(func: {root}) {{ {selection} }} }}"));
    let mut answer = page(call, &request)?;
    if shown.len() < fields.len() {
        let more = fields.len() - shown.len();
        answer.cuts.note(format!("fields: {more} of {} were not read", fields.len()));
    }
    note_edges(&mut answer, shown);
    Ok(answer)
}

/// Notes the edges that a sample does not show all nodes of.
fn note_edges(answer: &mut ToolAnswer, fields: &[&str]) {
    let rows = answer.data["blocks"]["sample"].as_array().map_or(&[][..], Vec::as_slice);
    let mut notes = Vec::new();
    for name in fields {
        let counts = rows.iter().filter_map(|row| row[format!("count({name})")].as_u64());
        let most = counts.max().unwrap_or_default();
        if (SAMPLE_TARGETS as u64) < most {
            notes.push(format!("{name}: {SAMPLE_TARGETS} nodes of up to {most} are shown"));
        }
    }
    notes.into_iter().for_each(|note| answer.cuts.note(note));
}

pub(super) const NEIGHBOURS: ToolDef = ToolDef {
    name: "neighbours",
    title: "Nodes around a node",
    what: "Shows the nodes that the edges of a node go to, and those whose edges point to it where the predicate has @reverse, with counts.",
    params: &[
        required("uid", ParamKind::Text, "the uid of the node, such as 0x1"),
        param("predicates", ParamKind::Texts, "the edges to follow; default: all"),
        param("direction", ParamKind::Choice(&["both", "out", "in"]), "which edges"),
        param("limit", ParamKind::Number(1, 100, 10), "the most nodes by each edge"),
        param("offset", ParamKind::Number(0, 1_000_000_000, 0), "the nodes of each edge to skip"),
        TEXT_LENGTH,
        SECONDS,
    ],
    writes: false,
    run: neighbours,
};

/// An edge that is followed: its predicate, and whether backwards.
type Followed<'n> = (&'n str, bool);

fn neighbours(call: &ToolCall<'_>) -> Outcome<ToolAnswer> {
    let model = call.model()?;
    let uid = uid(call.arguments.required("uid"))?;
    let mut cuts = Cuts::default();
    let (followed, not_followed) = edges(call, &model, &mut cuts)?;
    let (limit, offset) = (call.arguments.number("limit"), call.arguments.number("offset"));
    let labels = model.label_fields();
    let field = |(at, (name, is_reverse)): (usize, &Followed<'_>)| {
        let name = format!("{}{}", if *is_reverse { "~" } else { "" }, quoted(name));
        let page = format!("first: {limit}, offset: {offset}");
        format!(" c{at}: count({name}) e{at}: {name} ({page}) {{ {labels} }}")
    };
    let fields: String = followed.iter().enumerate().map(field).collect();
    let text = format!("{{ node(func: uid({uid})) {{ {labels}{fields} }} }}");
    let about = ToolFault::about(&text);
    let mut blocks = objects(call.database, &text, call.control).map_err(about)?;
    let node = blocks.remove("node").unwrap_or_default();
    let mut node = node.as_array().and_then(|rows| rows.first()).cloned().unwrap_or_default();
    let (mut out, mut back) = (Map::new(), Map::new());
    for (at, (name, is_reverse)) in followed.iter().enumerate() {
        let count = node[format!("c{at}")].as_u64().unwrap_or_default();
        let nodes = node.get(format!("e{at}")).cloned().unwrap_or(json!([]));
        // Of an edge to one node there is an object.
        let nodes = if nodes.is_object() { json!([nodes]) } else { nodes };
        if count == 0 {
            continue;
        }
        let shown = nodes.as_array().map_or(0, Vec::len);
        if offset + shown < count as usize {
            let tilde = if *is_reverse { "~" } else { "" };
            let end = offset + shown;
            cuts.note(format!(
                "{tilde}{name}: {offset} to {end} of {count} are shown: offset={end} shows the next"
            ));
        }
        let side = if *is_reverse { &mut back } else { &mut out };
        side.insert((*name).to_owned(), json!({"count": count, "nodes": nodes}));
    }
    if let Some(fields) = node.as_object_mut() {
        let is_ours = |key: &str| key.starts_with(['c', 'e']) && key[1..].parse::<usize>().is_ok();
        fields.retain(|key, _| !is_ours(key));
    }
    let data = [("node", node), ("out", out.into()), ("in", back.into())];
    let mut data: Map<String, Value> =
        data.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let limits =
        ValueLimits { text: call.arguments.number("text_length"), values: limit, nodes: limit };
    for (name, value) in &mut data {
        cuts.shorten(value, name, limits);
    }
    let is_empty = |name: &str| data[name].as_object().is_none_or(Map::is_empty);
    if is_empty("out") && is_empty("in") {
        let bare = data["node"].as_object().is_none_or(|node| node.keys().all(|key| key == "uid"));
        let what = if bare { "the node has no labels, types or edges" } else { "no edges" };
        data.insert("note".to_owned(), format!("{what}: none that were followed have data").into());
    }
    if !not_followed.is_empty() {
        data.insert("not_followed".to_owned(), json!(not_followed));
    }
    Ok(ToolAnswer { data, cuts, commit: model.commit, ..ToolAnswer::default() })
}

/// The edges to follow, and in words those that can't be followed backwards.
fn edges<'m>(
    call: &ToolCall<'m>,
    model: &'m Model,
    cuts: &mut Cuts,
) -> Outcome<(Vec<Followed<'m>>, Vec<String>)> {
    let given = call.arguments.texts("predicates");
    let direction = call.arguments.text("direction").unwrap_or_default();
    let mut names = Vec::new();
    for name in &given {
        let (name, definition) = model.predicate(name.trim_start_matches('~'))?;
        if !is_edge(definition) {
            let fault = format!("{name} has values, and no edges: `query` reads them");
            return Err(Error::query(fault).into());
        }
        names.push(name);
    }
    if given.is_empty() {
        names = model.edges();
        if EDGES_MAX < names.len() {
            let more = names.len() - EDGES_MAX;
            cuts.note(format!("predicates: {more} with fewer edges were not followed: name them"));
            names.truncate(EDGES_MAX);
        }
    }
    let (mut followed, mut not_followed) = (Vec::new(), Vec::new());
    for name in names {
        if direction != "in" {
            followed.push((name, false));
        }
        match model.catalog.predicates[name].contains("@reverse") {
            _ if direction == "out" => {}
            true => followed.push((name, true)),
            false => {
                not_followed.push(format!("{name}: backwards it needs @reverse in the schema"));
            }
        }
    }
    Ok((followed, not_followed))
}

/// Reads a uid, hexadecimal or decimal.
fn uid(text: &str) -> Outcome<Uid> {
    let fault = || format!("neighbours: `uid`: expected a uid such as 0x1, and not {text:?}");
    uid_of(text.trim()).ok_or_else(|| ToolFault::Params(fault()))
}
