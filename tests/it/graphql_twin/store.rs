//! What the engine holds, and whether it is the graph of the model.
//!
//! The model does not know which numbers the engine gives to new nodes. They are found out by what
//! the nodes hold and what they lead to: colours, refined along the edges. Nodes of one colour can
//! stand for each other.

use super::graph::{Graph, Node, compare};
use super::schema::{Of, Scalar, Schema};
use hexgraph::db::{Database, QueryRequest, RequestContext};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// How often colours are refined.
const ROUNDS: usize = 4;

/// Predicates by name, with what they hold.
fn predicates(schema: &Schema) -> BTreeMap<String, Of> {
    let fields = schema.kinds.iter().flat_map(|kind| &kind.own);
    let stored = fields.filter(|field| !field.is_id() && !field.is_reverse());
    stored.map(|field| (field.predicate.clone(), field.of)).collect()
}

/// The graph of the engine; a node whose type is unknown or which should not be there is an error.
pub fn read(db: &Database, schema: &Schema) -> Result<Graph, String> {
    let all = predicates(schema);
    let shown = all
        .iter()
        .map(|(name, of)| if of.is_edge() { format!("{name} {{ uid }}") } else { name.clone() });
    let shown: Vec<String> = shown.collect();
    let bare: BTreeSet<&str> =
        all.keys().map(|name| name.split('@').next().unwrap_or_default()).collect();
    let strays = bare.iter().enumerate();
    let strays: Vec<String> = strays
        .map(|(position, name)| format!("s{position}(func: has({name})) {{ uid }}"))
        .collect();
    let text = format!(
        "{{ q(func: has(dgraph.type)) {{ uid dgraph.type {} }} {} }}",
        shown.join(" "),
        strays.join(" ")
    );
    let request = QueryRequest { text, ..QueryRequest::default() };
    let result =
        db.query_with(&request, &RequestContext::new()).and_then(|answer| answer.to_json());
    let result = result.map_err(|error| format!("the store can't be read: {error}"))?.0;
    let result: Json = serde_json::from_str(&result).map_err(|error| error.to_string())?;
    graph(schema, &all, &result)
}

fn graph(
    schema: &Schema,
    predicates: &BTreeMap<String, Of>,
    result: &Json,
) -> Result<Graph, String> {
    let mut graph = Graph::default();
    let rows = result["q"].as_array().map_or(&[][..], Vec::as_slice);
    let own = |row: &&Json| !row["dgraph.type"].to_string().contains("dgraph.graphql");
    let rows: Vec<&Json> = rows.iter().filter(own).collect();
    for row in &rows {
        let kind = kind_of(schema, &row["dgraph.type"])?;
        let uid = Some(uid(&row["uid"]));
        graph.nodes.push(Node { kind, uid, ..Node::default() });
    }
    for (key, block) in result.as_object().into_iter().flatten() {
        let stray = block.as_array().into_iter().flatten();
        let mut stray = stray.map(|row| uid(&row["uid"]));
        if let Some(uid) = stray.find(|uid| key != "q" && graph.by_uid(*uid).is_none()) {
            return Err(format!("{uid:#x} has values ({key}) and no type"));
        }
    }
    for (position, row) in rows.iter().enumerate() {
        for (name, of) in predicates {
            let value = &row[name];
            if value.is_null() {
                continue;
            }
            let items = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
            if of.is_edge() {
                let targets = items.iter().map(|item| position_of(&mut graph, uid(&item["uid"])));
                let targets: BTreeSet<usize> = targets.collect();
                graph.nodes[position].edges.insert(name.clone(), targets);
            } else {
                let items = items.into_iter().map(|item| shown(*of, item)).collect();
                graph.nodes[position].values.insert(name.clone(), items);
            }
        }
    }
    Ok(graph)
}

/// The place of a node; of one that is only led to, a place of a node that is gone.
fn position_of(graph: &mut Graph, uid: u64) -> usize {
    graph.by_uid(uid).unwrap_or_else(|| {
        graph.nodes.push(Node { uid: Some(uid), is_gone: true, ..Node::default() });
        graph.nodes.len() - 1
    })
}

fn uid(value: &Json) -> u64 {
    let text = value.as_str().unwrap_or_default();
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_default()
}

/// A value as GraphQL shows it.
fn shown(of: Of, value: Json) -> Json {
    match of {
        Of::Scalar(Scalar::Float) => json!(value.as_f64()),
        Of::Scalar(Scalar::Point) => {
            let part = |position: usize| value["coordinates"][position].as_f64();
            json!({"longitude": part(0), "latitude": part(1)})
        }
        _ => value,
    }
}

/// The kind of a node by its types, which have to be all of the kind and no other.
fn kind_of(schema: &Schema, types: &Json) -> Result<usize, String> {
    let types: BTreeSet<&str> =
        types.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    let fits = |kind: &usize| {
        let parents = schema.kinds[*kind].parents.iter().copied();
        let all = parents.chain([*kind]).map(|kind| schema.kinds[kind].stored());
        all.collect::<BTreeSet<_>>() == types
    };
    schema.objects().find(fits).ok_or_else(|| format!("no type has the types {types:?}"))
}

/// Gives the new nodes of the model their numbers, and compares.
pub fn settle(model: &mut Graph, engine: &Graph, schema: &Schema) -> Result<(), String> {
    let existing: BTreeSet<u64> = model.nodes.iter().filter_map(|node| node.uid).collect();
    let (ours, theirs) = (colours(model, &existing), colours(engine, &existing));
    let mut free: Vec<usize> = (0..engine.nodes.len())
        .filter(|position| !existing.contains(&engine.uid(*position)))
        .collect();
    let new = model.nodes.iter_mut().zip(ours).filter(|(node, _)| node.uid.is_none());
    for (node, colour) in new.filter(|(node, _)| !node.is_gone) {
        let at = free.iter().position(|other| theirs[*other] == colour);
        node.uid = at.map(|at| engine.uid(free.remove(at)));
    }
    let (ours, theirs) = (lines(model, schema), lines(engine, schema));
    let extra: Vec<&String> = theirs.difference(&ours).collect();
    let missing: Vec<&String> = ours.difference(&theirs).collect();
    if extra.is_empty() && missing.is_empty() {
        return Ok(());
    }
    Err(format!("the store holds\n{extra:#?}\ninstead of\n{missing:#?}"))
}

/// A number for each node that says what it holds and leads to. Known nodes have their own.
fn colours(graph: &Graph, existing: &BTreeSet<u64>) -> Vec<u64> {
    let base = |node: &Node| match node.uid.filter(|uid| existing.contains(uid)) {
        Some(uid) => hash(&("known", uid)),
        None => hash(&(node.kind, values(node))),
    };
    let mut colours: Vec<u64> = graph.nodes.iter().map(base).collect();
    for _ in 0..ROUNDS {
        let (mut next, mut coming) = (colours.clone(), vec![0_u64; colours.len()]);
        for (position, node) in graph.nodes.iter().enumerate() {
            for (name, targets) in node.edges.iter().filter(|(_, targets)| !targets.is_empty()) {
                let mut seen: Vec<u64> = targets.iter().map(|target| colours[*target]).collect();
                seen.sort_unstable();
                next[position] = hash(&(next[position], name, seen));
                for target in targets {
                    // The order in which edges come in must not matter.
                    coming[*target] =
                        coming[*target].wrapping_add(hash(&(name, colours[position])));
                }
            }
        }
        let is_known = |node: &Node| node.uid.is_some_and(|uid| existing.contains(&uid));
        for position in (0..graph.nodes.len()).filter(|position| !is_known(&graph.nodes[*position]))
        {
            colours[position] = hash(&(next[position], coming[position]));
        }
    }
    colours
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// What a node holds, as text.
fn values(node: &Node) -> String {
    let mut text = String::new();
    for (name, values) in &node.values {
        let mut values: Vec<Json> = values.iter().map(even).collect();
        values.sort_by(compare);
        if !values.is_empty() {
            text += &format!(" {name}={values:?}");
        }
    }
    text
}

/// Numbers that are the same are written the same.
fn even(value: &Json) -> Json {
    match value {
        Json::Number(number) if number.as_i64().is_none() => {
            let number = number.as_f64().unwrap_or_default();
            if number.fract() == 0.0 && number.abs() < 1e15 {
                json!(number as i64)
            } else {
                json!(number)
            }
        }
        Json::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), even(value))).collect()
        }
        other => other.clone(),
    }
}

/// The graph as lines.
pub fn lines(graph: &Graph, schema: &Schema) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for node in graph.nodes.iter().filter(|node| !node.is_gone) {
        let uid = node.uid.map_or("new".to_owned(), |uid| format!("{uid:#x}"));
        let mut line = format!("{uid} {}{}", schema.kinds[node.kind].name, values(node));
        for (name, targets) in node.edges.iter().filter(|(_, targets)| !targets.is_empty()) {
            let mut uids: Vec<u64> = targets.iter().map(|target| graph.uid(*target)).collect();
            uids.sort_unstable();
            line += &format!(" {name}->{uids:x?}");
        }
        lines.insert(line);
    }
    lines
}

/// The graph of the engine in the places of the model.
pub fn adopt(model: &mut Graph, engine: &Graph) {
    let positions: Vec<usize> = (0..engine.nodes.len())
        .map(|position| {
            let uid = engine.uid(position);
            model.by_uid(uid).unwrap_or_else(|| {
                model.nodes.push(Node { uid: Some(uid), ..Node::default() });
                model.nodes.len() - 1
            })
        })
        .collect();
    for node in &mut model.nodes {
        *node = Node { uid: node.uid, kind: node.kind, is_gone: true, ..Node::default() };
    }
    for (from, to) in positions.iter().enumerate() {
        let mut node = engine.nodes[from].clone();
        for targets in node.edges.values_mut() {
            *targets = targets.iter().map(|target| positions[*target]).collect();
        }
        model.nodes[*to] = node;
    }
    model.nodes.iter_mut().filter(|node| node.uid.is_none()).for_each(|node| node.is_gone = true);
}

/// Where the two ends of a link do not agree, or an end that leads to one node leads to several.
pub fn torn_link(graph: &Graph, schema: &Schema) -> Option<String> {
    for position in (0..graph.nodes.len()).filter(|position| !graph.nodes[*position].is_gone) {
        for field in schema.fields(graph.nodes[position].kind) {
            let targets = graph.targets(position, field);
            if !field.is_list() && targets.len() > 1 {
                return Some(format!("{:#x} has several {}", graph.uid(position), field.predicate));
            }
            let Some(back) = schema.inverse_of(field) else { continue };
            let is_torn = |target: &&usize| !graph.targets(**target, back).contains(&position);
            if let Some(target) = targets.iter().find(is_torn) {
                let (one, other) = (graph.uid(position), graph.uid(*target));
                return Some(format!("{one:#x} {} {other:#x}, and not back", field.predicate));
            }
        }
    }
    None
}
