//! Whatever mutations do, both ends of a link are there or none is, and an end for one node has
//! one.

use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{Database, QueryRequest, RequestContext};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;
use std::collections::BTreeSet;

const SCHEMA: &str = "
type A {
    id: ID!
    name: String
    one: B @hasInverse(field: one)
    parent: B @hasInverse(field: children)
    children: [B] @hasInverse(field: parent)
    many: [B] @hasInverse(field: many)
    friends: [A] @hasInverse(field: friends)
    spouse: A @hasInverse(field: spouse)
}
type B { id: ID! name: String one: A parent: A children: [A] many: [A] }
";

/// The fields that lead to nodes: type, name, the type there, its field, whether it is a list.
const FIELDS: [(&str, &str, &str, &str, bool); 10] = [
    ("A", "one", "B", "one", false),
    ("A", "parent", "B", "children", false),
    ("A", "children", "B", "parent", true),
    ("A", "many", "B", "many", true),
    ("A", "friends", "A", "friends", true),
    ("A", "spouse", "A", "spouse", false),
    ("B", "one", "A", "one", false),
    ("B", "parent", "A", "children", false),
    ("B", "children", "A", "parent", true),
    ("B", "many", "A", "many", true),
];

/// A mutation about some nodes and a field; numbers choose among what is there.
#[derive(Debug, Clone)]
enum Step {
    Add(Index, Vec<Index>, bool),
    Set(Index, Vec<Index>, Vec<Index>, bool),
    Remove(Index, Vec<Index>, Vec<Index>),
    Clear(Index, Vec<Index>),
    Delete(Index, Index),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let some = || prop::collection::vec(any::<Index>(), 0..4);
    let field = any::<Index>;
    let step = prop_oneof![
        4 => (field(), some(), any::<bool>()).prop_map(|(f, t, n)| Step::Add(f, t, n)),
        4 => (field(), some(), some(), any::<bool>()).prop_map(|(f, s, t, n)| Step::Set(f, s, t, n)),
        2 => (field(), some(), some()).prop_map(|(f, s, t)| Step::Remove(f, s, t)),
        1 => (field(), some()).prop_map(|(f, s)| Step::Clear(f, s)),
        1 => (field(), field()).prop_map(|(f, s)| Step::Delete(f, s)),
    ];
    prop::collection::vec(step, 1..20)
}

fn dql(db: &Database, text: &str) -> Value {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let answer = db.query_with(&request, &RequestContext::new()).unwrap();
    serde_json::from_str(&answer.to_json().unwrap().0).unwrap()
}

fn nodes(db: &Database, ty: &str) -> Vec<String> {
    let result = dql(db, &format!("{{ q(func: type({ty})) {{ uid }} }}"));
    let nodes = result["q"].as_array().unwrap();
    nodes.iter().map(|node| node["uid"].as_str().unwrap().to_owned()).collect()
}

/// Some of the nodes of a type, quoted.
fn chosen(db: &Database, ty: &str, numbers: &[Index]) -> BTreeSet<String> {
    let nodes = nodes(db, ty);
    let numbers = numbers.iter().filter(|_| !nodes.is_empty());
    numbers.map(|number| format!("\"{}\"", nodes[number.index(nodes.len())])).collect()
}

/// Objects that name the nodes, and a new one; as many as the field takes.
fn objects(db: &Database, ty: &str, numbers: &[Index], is_new: bool, is_list: bool) -> String {
    let nodes = chosen(db, ty, numbers).into_iter().map(|node| format!("{{id: {node}}}"));
    let new = is_new.then(|| "{name: \"n\"}".to_owned());
    let mut objects: Vec<String> = nodes.chain(new).collect();
    if is_list {
        return format!("[{}]", objects.join(", "));
    }
    objects.pop().unwrap_or_else(|| "null".to_owned())
}

fn text(db: &Database, step: &Step) -> String {
    let (Step::Add(field, ..)
    | Step::Set(field, ..)
    | Step::Remove(field, ..)
    | Step::Clear(field, ..)
    | Step::Delete(field, ..)) = step;
    let (ty, name, target, _, is_list) = FIELDS[field.index(FIELDS.len())];
    let filter = |sources: &[Index]| {
        let sources = Vec::from_iter(chosen(db, ty, sources));
        format!("filter: {{id: [{}]}}", sources.join(", "))
    };
    match step {
        Step::Add(_, targets, is_new) => {
            let objects = objects(db, target, targets, *is_new, is_list);
            format!(
                "mutation {{ add{ty}(input: [{{name: \"x\", {name}: {objects}}}]) {{ numUids }} }}"
            )
        }
        Step::Set(_, sources, targets, is_new) => {
            let (filter, objects) =
                (filter(sources), objects(db, target, targets, *is_new, is_list));
            format!(
                "mutation {{ update{ty}(input: {{{filter}, set: {{{name}: {objects}}}}}) {{ numUids }} }}"
            )
        }
        Step::Remove(_, sources, targets) => {
            let (filter, objects) = (filter(sources), objects(db, target, targets, false, is_list));
            format!(
                "mutation {{ update{ty}(input: {{{filter}, remove: {{{name}: {objects}}}}}) {{ numUids }} }}"
            )
        }
        Step::Clear(_, sources) => {
            let filter = filter(sources);
            format!(
                "mutation {{ update{ty}(input: {{{filter}, remove: {{{name}: null}}}}) {{ numUids }} }}"
            )
        }
        Step::Delete(_, source) => {
            let filter = filter(&[*source]);
            format!("mutation {{ delete{ty}({filter}) {{ numUids }} }}")
        }
    }
}

/// The edges of a field.
fn edges(db: &Database, ty: &str, name: &str) -> BTreeSet<(String, String)> {
    let text = format!("{{ q(func: has({ty}.{name})) {{ uid t: {ty}.{name} {{ uid }} }} }}");
    let mut edges = BTreeSet::new();
    for node in dql(db, &text)["q"].as_array().unwrap() {
        let targets = match &node["t"] {
            Value::Array(targets) => targets.clone(),
            one => vec![one.clone()],
        };
        for target in targets {
            let uid = |node: &Value| node["uid"].as_str().unwrap().to_owned();
            edges.insert((uid(node), uid(&target)));
        }
    }
    edges
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn links_have_both_ends(steps in steps()) {
        let db = Database::in_memory();
        db.set_graphql_schema(SCHEMA).unwrap();
        for step in &steps {
            let text = text(&db, step);
            let response = db.graphql_with(&Request::new(text.clone()), &Headers::new(), &RequestContext::new());
            prop_assert!(response.errors.is_empty(), "{text}: {:?}", response.errors);
            for (ty, name, target, back, is_list) in FIELDS {
                let there = edges(&db, ty, name);
                let ends = edges(&db, target, back).into_iter().map(|(one, other)| (other, one));
                prop_assert_eq!(&there, &ends.collect(), "{}.{} after {}", ty, name, &text);
                let sources: BTreeSet<_> = there.iter().map(|(source, _)| source).collect();
                prop_assert!(is_list || sources.len() == there.len());
            }
        }
    }
}
