//! What mutations do to the graph of the model.

use super::change::Change;
use super::filter::{Sense, passes_at_root, sense};
use super::graph::Graph;
use super::lit::Lit;
use super::naming::{Failure, Names, keys_given, refused};
use super::request::RequestedQuery;
use super::schema::Schema;

/// What came of one mutation.
pub struct Effect {
    pub kind: usize,
    pub after: Graph,
    /// What the payload shows: the nodes, in which graph.
    pub shown: Graph,
    pub nodes: Vec<usize>,
    pub count: usize,
    pub message: Option<&'static str>,
    /// Whether the order in which links are made decides.
    pub is_open: bool,
}

/// Carries a root field out.
pub fn mutate(
    graph: &Graph,
    schema: &Schema,
    requested: &RequestedQuery,
) -> Result<Effect, Failure> {
    let named = |word: &str| requested.name.strip_prefix(word).and_then(|name| schema.kind(name));
    let none = Lit::Object(Vec::new());
    if let Some(kind) = named("add") {
        let is_upsert = requested.argument("upsert") == Some(&super::lit::plain(true));
        let input = requested.argument("input").unwrap_or(&none);
        return add(graph, schema, kind, input.items(), is_upsert);
    }
    if let Some(kind) = named("update") {
        return update(graph, schema, kind, requested.argument("input").unwrap_or(&none));
    }
    let kind = named("delete").expect("mutations are of three words");
    delete(graph, schema, kind, requested.argument("filter").unwrap_or(&none))
}

/// The nodes of a kind that a filter finds. It has to ask for something, unless it is empty.
fn result(
    graph: &Graph,
    schema: &Schema,
    kind: usize,
    filter: &Lit,
) -> Result<Vec<usize>, Failure> {
    match sense(schema, kind, filter, true) {
        Sense::Wrong => return refused("a part of the filter makes no sense"),
        Sense::Open if !filter.entries().is_empty() => return refused("the filter asks nothing"),
        _ => {}
    }
    let mut nodes = graph.of_kind(schema, kind);
    nodes.retain(|node| passes_at_root(graph, schema, kind, *node, filter));
    Ok(nodes)
}

fn add(
    graph: &Graph,
    schema: &Schema,
    kind: usize,
    inputs: &[Lit],
    is_upsert: bool,
) -> Result<Effect, Failure> {
    let names = Names::noted(schema, graph, |names| {
        inputs.iter().try_for_each(|input| names.walk(kind, None, input))
    })?;
    let roots: Vec<usize> = names
        .entities
        .iter()
        .filter(|entity| entity.is_root)
        .filter_map(|root| root.there)
        .collect();
    if !roots.is_empty() && !is_upsert {
        return refused("it exists already");
    }
    if (1..roots.len()).any(|position| roots[..position].contains(&roots[position])) {
        return Err(Failure::Undecided("two roots, one node"));
    }
    let mut change = Change::new(graph, schema, names);
    let mut nodes = Vec::new();
    for input in inputs {
        nodes.push(change.root(kind, input)?);
    }
    change.finish()?;
    nodes.sort_unstable();
    nodes.dedup();
    let count = change.after.nodes.len() - graph.nodes.len();
    let (after, is_open) = (change.after, change.is_open);
    Ok(Effect { kind, shown: after.clone(), after, nodes, count, message: None, is_open })
}

fn update(graph: &Graph, schema: &Schema, kind: usize, input: &Lit) -> Result<Effect, Failure> {
    let none = Lit::Object(Vec::new());
    let set = input.given("set").unwrap_or(&none);
    let remove = input.given("remove").unwrap_or(&none);
    let names = Names::noted(schema, graph, |names| names.walk_below(kind, None, set))?;
    let keys = keys_given(schema, kind, set)?;
    if set.entries().is_empty() && remove.entries().is_empty() {
        let (after, shown) = (graph.clone(), graph.clone());
        let nodes = Vec::new();
        return Ok(Effect { kind, after, shown, nodes, count: 0, message: None, is_open: false });
    }
    let matched = result(graph, schema, kind, input.get("filter").unwrap_or(&none))?;
    check_new_keys(&names, kind, &keys, &matched)?;
    let mut change = Change::new(graph, schema, names);
    change.check_removal(kind, remove)?;
    for node in &matched {
        change.remove(kind, *node, remove)?;
    }
    change.set(kind, &matched, set, remove)?;
    change.finish()?;
    if matched.is_empty() {
        // Nothing is made for nobody.
        change.after = graph.clone();
    }
    let (after, is_open) = (change.after, change.is_open);
    let count = matched.len();
    let (shown, nodes) = (after.clone(), matched);
    Ok(Effect { kind, after, shown, nodes, count, message: None, is_open })
}

/// The values of `@id` fields that an update sets must be new, or those of the node, and set on one
/// node.
fn check_new_keys(
    names: &Names<'_>,
    kind: usize,
    keys: &[(String, serde_json::Value)],
    matched: &[usize],
) -> Result<(), Failure> {
    if keys.is_empty() {
        return Ok(());
    }
    if names.entity(kind, keys).is_some() {
        return Err(Failure::Undecided("set names a nested key"));
    }
    for key in keys {
        let field = names.schema.field(kind, &key.0).expect("keys are fields");
        if matches!(*matched, [node] if names.before.value(node, field).as_ref() == Some(&key.1)) {
            continue;
        }
        let there = names.look_up(kind, std::slice::from_ref(key))?;
        if there.is_some() {
            // Of an interface, values may be unique for each type.
            return match names.schema.kinds[kind].is_interface {
                true => Err(Failure::Undecided("interface sets a key")),
                false => refused("it exists already"),
            };
        }
    }
    match matched.len() > 1 {
        true => refused("only one node is allowed"),
        false => Ok(()),
    }
}

fn delete(graph: &Graph, schema: &Schema, kind: usize, filter: &Lit) -> Result<Effect, Failure> {
    let nodes = result(graph, schema, kind, filter)?;
    let mut after = graph.clone();
    for node in &nodes {
        forget(&mut after, schema, *node);
    }
    let message = if nodes.is_empty() { "No nodes were deleted" } else { "Deleted" };
    let (shown, count) = (graph.clone(), nodes.len());
    Ok(Effect { kind, after, shown, nodes, count, message: Some(message), is_open: false })
}

/// Takes a node away, with what leads to it as far as a field of its type knows.
fn forget(graph: &mut Graph, schema: &Schema, node: usize) {
    for field in schema.fields(graph.nodes[node].kind) {
        for target in graph.targets(node, field) {
            let back = match field.predicate.strip_prefix('~') {
                Some(forward) => Some(forward.to_owned()),
                None => schema.inverse_of(field).map(|back| back.predicate.clone()),
            };
            let edges = back.and_then(|back| graph.nodes[target].edges.get_mut(&back));
            if let Some(edges) = edges {
                edges.remove(&node);
            }
        }
    }
    let gone = &mut graph.nodes[node];
    gone.values.clear();
    gone.edges.clear();
    gone.is_gone = true;
}
