//! `run_algorithm`: a graph algorithm over edges, and the nodes with the greatest numbers.

use super::answer::{Cuts, Outcome, ToolAnswer, ToolFault, ValueLimits};
use super::call::{ParamKind, SECONDS, ToolCall, ToolDef, param, required};
use super::model::{Model, objects};
use crate::cli::algo::{dql, ranked};
use crate::cli::arguments::AlgoArguments;
use crate::cli::requests::uid_of;
use crate::cli::shell::quoted;
use hexgraph::db::{
    ALGORITHMS, AlgorithmNumbers, AlgorithmTable, ArgumentKind, COMMON_ARGUMENTS, QueryRequest,
};
use hexgraph_base::types::Uid;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

pub(super) const RUN_ALGORITHM: ToolDef = ToolDef {
    name: "run_algorithm",
    title: "Run a graph algorithm",
    what: "Runs an algorithm on the graph of some edges, such as pagerank, louvain, betweenness or k_shortest, and shows the nodes with the greatest \
        numbers. The resource hexgraph://algorithms lists all with their arguments.",
    params: &[
        required("algorithm", ParamKind::Text, "the name, such as pagerank"),
        required(
            "edges",
            ParamKind::Texts,
            "the predicates whose edges are followed; ~NAME reverses them",
        ),
        param(
            "arguments",
            ParamKind::Object,
            "arguments of the algorithm, such as {\"damping\": 0.9} or {\"source\": \"0x1\"}",
        ),
        param(
            "nodes",
            ParamKind::Text,
            "the nodes of the graph as a root function in DQL, such as type(Person); default: all endpoints",
        ),
        param(
            "direction",
            ParamKind::Choice(&["default", "out", "in", "both"]),
            "the direction of edges; `default` is that of the algorithm",
        ),
        param("weight", ParamKind::Text, "the facet with the weight of an edge"),
        param("rows", ParamKind::Number(1, 1_000, 20), "the most rows"),
        param("offset", ParamKind::Number(0, 1_000_000_000, 0), "the rows to skip"),
        SECONDS,
    ],
    writes: false,
    run: run_algorithm,
};

/// The characters of a label.
const LABEL_LEN: usize = 200;

/// The numbers of a vector that are shown, and the rows of labels.
const LIMITS: ValueLimits = ValueLimits { text: LABEL_LEN, values: 16, nodes: 1_000 };

fn run_algorithm(call: &ToolCall<'_>) -> Outcome<ToolAnswer> {
    let arguments = call.arguments;
    let edge = |name: &&str| match name.strip_prefix('~') {
        Some(name) => format!("~{}", quoted(name.trim_matches(['<', '>']))),
        None => quoted(name.trim_matches(['<', '>'])),
    };
    let set = arguments
        .object("arguments")
        .map(|(name, value)| Ok(format!("{name}={}", argument(name, value)?)));
    let direction = arguments.text("direction").filter(|direction| *direction != "default");
    let given = AlgoArguments {
        name: arguments.required("algorithm").to_owned(),
        path: PathBuf::new(),
        on: arguments.texts("edges").iter().map(edge).collect(),
        top: 0,
        nodes: arguments.text("nodes").map(str::to_owned),
        weight: arguments.text("weight").map(str::to_owned),
        direction: direction.map(str::to_owned),
        set: set.collect::<Outcome<Vec<String>>>()?,
    };
    if given.on.is_empty() {
        return Err(ToolFault::Params("run_algorithm: `edges`: it is empty".to_owned()));
    }
    let text = dql(&given)?;
    let about = ToolFault::about(&text);
    let request = QueryRequest::from(text.as_str());
    let answer = call.database.query_with(&request, call.control).map_err(&about)?;
    let (commit, warnings) = (answer.commit(), answer.warnings());
    let warnings = warnings.iter().map(ToString::to_string).collect();
    let table = answer.into_algorithm(call.control).map_err(&about)?;
    let mut cuts = Cuts::default();
    let mut data = rows(call, &table, &mut cuts)?;
    data.insert("query".to_owned(), text.as_str().into());
    Ok(ToolAnswer { data, cuts, warnings, commit, ..ToolAnswer::default() })
}

/// An argument as a query has it.
fn argument(name: &str, value: &Value) -> Outcome<String> {
    Ok(match value {
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        Value::Array(list) => {
            let parts =
                list.iter().map(|value| argument(name, value)).collect::<Outcome<Vec<_>>>()?;
            format!("[{}]", parts.join(", "))
        }
        Value::Null | Value::Object(_) => {
            let fault = format!(
                "run_algorithm: `arguments`: {name}: expected a number, a text or a list of them"
            );
            return Err(ToolFault::Params(fault));
        }
    })
}

/// The rows of a page, with the labels of their nodes, and how the numbers were computed.
fn rows(
    call: &ToolCall<'_>,
    table: &AlgorithmTable,
    cuts: &mut Cuts,
) -> Outcome<Map<String, Value>> {
    let all = ranked(table);
    let start = call.arguments.number("offset").min(all.len());
    let end = (start + call.arguments.number("rows")).min(all.len());
    let shown = &all[start..end];
    if end < all.len() {
        cuts.note(format!(
            "rows: {start} to {end} of {} are shown: offset={end} shows the next",
            all.len()
        ));
    }
    let mut uids = BTreeSet::new();
    for &row in shown {
        uids.extend(table.uids.get(row));
        uids.extend(table.to.as_ref().map(|to| to[row]));
    }
    let model = call.model()?;
    let labels = labels_of(call, &model, &uids)?;
    let node = |uid: u64| {
        let mut node = json!({"uid": Uid(uid).to_string()});
        if let Some(label) = labels.get(&uid) {
            node["label"] = label.clone();
        }
        node
    };
    let mut rows = Vec::new();
    for &at in shown {
        let mut row = row(table, at, node);
        cuts.shorten(&mut row, "rows", LIMITS);
        rows.push(row);
    }
    let mut report = json!({});
    if 0 < table.report.iterations {
        report["iterations"] = table.report.iterations.into();
    }
    if let Some(converged) = table.report.converged {
        report["converged"] = converged.into();
    }
    let data = [
        ("algorithm", json!(table.name)),
        ("rows", json!(rows)),
        ("rows_in_all", json!(all.len())),
        ("report", report),
    ];
    Ok(data.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// A row with its nodes and its number.
fn row(table: &AlgorithmTable, at: usize, node: impl Fn(u64) -> Value) -> Value {
    let mut row = json!({});
    if let Some(path) = &table.path {
        row["path"] = path[at].into();
    }
    if let Some(uid) = table.uids.get(at) {
        row["node"] = node(*uid);
    }
    if let Some(to) = &table.to {
        row["to"] = node(to[at]);
    }
    match &table.numbers {
        AlgorithmNumbers::Floats(numbers) => row["value"] = json!(numbers[at]),
        AlgorithmNumbers::Ints(numbers) => row["value"] = json!(numbers[at]),
        AlgorithmNumbers::Vectors(length, numbers) => {
            let vector = numbers.chunks_exact(*length).nth(at).unwrap_or_default();
            row["value"] = json!(vector);
        }
        AlgorithmNumbers::Nothing => {}
    }
    row
}

/// The labels of some nodes.
fn labels_of(
    call: &ToolCall<'_>,
    model: &Model,
    uids: &BTreeSet<u64>,
) -> Outcome<BTreeMap<u64, Value>> {
    let labels = model.labels();
    if uids.is_empty() || labels.is_empty() {
        return Ok(BTreeMap::new());
    }
    let list: Vec<String> = uids.iter().map(|uid| Uid(*uid).to_string()).collect();
    let names: Vec<String> = labels.iter().map(|name| model.value_field(name)).collect();
    let text = format!("{{ q(func: uid({})) {{ uid {} }} }}", list.join(", "), names.join(" "));
    let blocks = objects(call.database, &text, call.control)?;
    let mut labels = BTreeMap::new();
    for node in blocks.get("q").and_then(Value::as_array).into_iter().flatten() {
        let uid = node["uid"].as_str().and_then(uid_of);
        let label = node.as_object().and_then(|node| node.iter().find(|(key, _)| *key != "uid"));
        if let (Some(uid), Some((_, label))) = (uid, label) {
            labels.insert(uid.0, label.clone());
        }
    }
    Ok(labels)
}

/// All algorithms with their arguments, as a text.
pub(super) fn algorithms_text() -> String {
    let common: Vec<&str> = COMMON_ARGUMENTS.iter().map(|argument| argument.name).collect();
    let mut text = format!(
        "The algorithms of run_algorithm, and blocks of queries: {{ pagerank(damping: 0.9) {{ knows }} }}. All have the arguments {}.\n",
        common.join(", ")
    );
    for algorithm in ALGORITHMS {
        let directions: Vec<&str> = algorithm.directions.iter().map(|it| it.name()).collect();
        let weights = if algorithm.takes_weights { "; weights" } else { "" };
        let (name, summary) = (algorithm.name, algorithm.summary);
        let gives = algorithm.gives.name();
        text += &format!(
            "\n{name}: {summary} Gives {gives}. Directions: {}{weights}.\n",
            directions.join(", ")
        );
        for argument in algorithm.arguments {
            text +=
                &format!("  {} ({}): {}\n", argument.name, values(argument.kind), argument.summary);
        }
    }
    text
}

/// The values of an argument, in words.
fn values(kind: ArgumentKind) -> String {
    match kind {
        ArgumentKind::Int { least, most, default } => {
            let default = default.map_or("none".to_owned(), |number| number.to_string());
            format!("an integer from {least} to {most}, default {default}")
        }
        ArgumentKind::Float { least, most, default } => {
            format!("a number from {least} to {most}, default {default}")
        }
        ArgumentKind::Bool { default } => format!("true or false, default {default}"),
        ArgumentKind::Choice(words) => format!("one of {}", words.join(", ")),
        ArgumentKind::Numbers { least, most, .. } => format!("numbers from {least} to {most}"),
        ArgumentKind::Nodes { is_required: true } => "uids or a variable, required".to_owned(),
        ArgumentKind::Nodes { is_required: false } => "uids or a variable".to_owned(),
        ArgumentKind::Groups => "a predicate or a variable, required".to_owned(),
    }
}
