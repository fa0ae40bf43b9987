//! All that a database holds, as lines; what two such graphs differ in, new nodes being the same
//! when all around them is; and the way back to a graph.

use super::record::quoted;
use super::world::World;
use hexgraph::internals::graphql::model::{Kind, Language, Model};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The predicates of a schema.
pub struct Predicates {
    values: BTreeSet<String>,
    edges: BTreeSet<String>,
    vectors: BTreeSet<String>,
}

impl Predicates {
    pub fn of(model: &Model) -> Predicates {
        let (mut values, mut edges) = (BTreeSet::new(), BTreeSet::new());
        let mut vectors = BTreeSet::new();
        for field in model.stored_types().flat_map(|def| &def.fields) {
            let Some(predicate) = &field.predicate else { continue };
            if model.get(field.ty.name()).is_some_and(|def| def.kind != Kind::Enum) {
                edges.insert(predicate.name.clone());
            } else if predicate.language == Language::Untagged {
                values.insert(predicate.name.clone());
            } else {
                values.insert(format!("{}@*", predicate.name));
            }
            if field.embedding {
                vectors.insert(predicate.name.clone());
            }
        }
        Predicates { values, edges, vectors }
    }

    /// The DQL that asks for everything about the nodes from the beginning, and about later ones
    /// that have a type.
    pub fn query(&self, existing: &BTreeSet<u64>) -> String {
        let values = self.values.iter().map(|name| format!("<{name}>").replace("@*>", ">@*"));
        let edges = self.edges.iter().map(|name| format!("<{name}> {{ uid }}"));
        let all: Vec<String> = values.chain(edges).collect();
        let selection = format!("{{ uid dgraph.type {} }}", all.join("\n"));
        let uids: Vec<String> = existing.iter().map(|uid| format!("{uid:#x}")).collect();
        let (uids, last) = (uids.join(", "), existing.last().unwrap());
        let new = format!("r(func: has(dgraph.type), after: {last:#x})");
        format!("{{ q(func: uid({uids})) {selection} {new} {selection} }}")
    }

    /// The graph that the query finds.
    pub fn read(&self, result: &Value) -> Graph {
        let mut graph = Graph::default();
        let blocks = ["q", "r"].iter().filter_map(|block| result[*block].as_array());
        for node in blocks.flatten().filter_map(Value::as_object) {
            let uid = uid_of(&node["uid"]);
            for (predicate, value) in node.iter().filter(|(name, _)| *name != "uid") {
                let is_vector = self.vectors.contains(predicate);
                let values = match value {
                    Value::Array(items) if !is_vector => items.as_slice(),
                    value => std::slice::from_ref(value),
                };
                for value in values {
                    let end = match value.get("uid") {
                        Some(uid) => End::Node(uid_of(uid)),
                        None => End::Value(value.to_string()),
                    };
                    graph.0.insert((uid, predicate.clone(), end));
                }
            }
        }
        graph
    }
}

fn uid_of(value: &Value) -> u64 {
    let text = value.as_str().and_then(|text| text.strip_prefix("0x"));
    u64::from_str_radix(text.unwrap(), 16).unwrap()
}

/// Where a line leads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    Node(u64),
    /// As JSON.
    Value(String),
}

/// Subject, predicate and end.
type Line = (u64, String, End);

/// Lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph(pub BTreeSet<Line>);

impl Graph {
    /// The nodes that something is known of.
    pub fn subjects(&self) -> BTreeSet<u64> {
        self.0.iter().map(|(subject, ..)| *subject).collect()
    }

    /// The nodes of a value.
    pub fn with(&self, predicate: &str, value: &str) -> Vec<u64> {
        let value = End::Value(quoted(value));
        let result = self.0.iter().filter(|(_, name, end)| name == predicate && *end == value);
        result.map(|(subject, ..)| *subject).collect()
    }

    /// The lines that are not in another graph and those about nodes that `old` does not have, with
    /// names for these nodes: those that nothing tells apart have one name.
    fn lines(&self, other: &Graph, old: &BTreeSet<u64>) -> Vec<String> {
        let is_new = |uid: &u64| !old.contains(uid);
        let leads = |end: &End| matches!(end, End::Node(uid) if is_new(uid));
        let lines = self
            .0
            .iter()
            .filter(|line| is_new(&line.0) || leads(&line.2) || !other.0.contains(line));
        let lines: Vec<&Line> = lines.collect();
        let names = names(&lines, self.subjects().into_iter().filter(is_new));
        let shown = |(subject, predicate, end): &Line| {
            let subject = shown(&End::Node(*subject), &names);
            format!("{subject} {predicate} {}", shown(end, &names))
        };
        let mut lines: Vec<String> = lines.into_iter().map(shown).collect();
        lines.sort();
        lines
    }

    /// The lines that only one of two graphs has, both made from an older one.
    pub fn difference(&self, other: &Graph, old: &BTreeSet<u64>) -> (Vec<String>, Vec<String>) {
        let mut here = self.lines(other, old);
        let mut there = Vec::new();
        for line in other.lines(self, old) {
            match here.iter().position(|existing| *existing == line) {
                Some(position) => drop(here.remove(position)),
                None => there.push(line),
            }
        }
        (here, there)
    }

    /// The N-Quads to delete and to set to make this graph of another.
    pub fn way_from(&self, other: &Graph) -> (String, String) {
        let changed = self.0.symmetric_difference(&other.0);
        let key = |(subject, predicate, _): &Line| {
            (*subject, predicate.split('@').next().unwrap().to_owned())
        };
        let changed: BTreeSet<(u64, String)> = changed.map(key).collect();
        let (mut delete, mut set) = (String::new(), String::new());
        for (subject, predicate) in &changed {
            writeln!(delete, "<{subject:#x}> <{predicate}> * .").unwrap();
        }
        for line in self.0.iter().filter(|line| changed.contains(&key(line))) {
            set += &nquad(line);
        }
        (delete, set)
    }
}

/// Names of nodes by what is around them, to a distance.
fn names(lines: &[&Line], new: impl Iterator<Item = u64>) -> BTreeMap<u64, u64> {
    let mut names: BTreeMap<u64, u64> = new.map(|uid| (uid, 0)).collect();
    for _ in 0..4 {
        let mut around: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for (subject, predicate, end) in lines {
            if names.contains_key(subject) {
                let line = format!("{predicate} {}", shown(end, &names));
                around.entry(*subject).or_default().push(line);
            }
            if let End::Node(uid) = end
                && names.contains_key(uid)
            {
                let line = format!("{} {predicate}", shown(&End::Node(*subject), &names));
                around.entry(*uid).or_default().push(line);
            }
        }
        for (uid, mut lines) in around {
            lines.sort();
            let mut hasher = DefaultHasher::new();
            lines.hash(&mut hasher);
            names.insert(uid, hasher.finish());
        }
    }
    names
}

/// A line as it is given to the engine.
fn nquad((subject, predicate, end): &Line) -> String {
    let (name, language) = predicate.split_once('@').unwrap_or((predicate, ""));
    let end = match end {
        End::Node(uid) => format!("<{uid:#x}>"),
        End::Value(text) => match serde_json::from_str(text).unwrap() {
            Value::String(text) if language.is_empty() => quoted(&text),
            Value::String(text) => format!("{}@{language}", quoted(&text)),
            Value::Object(_) => format!("{}^^<geo:geojson>", quoted(text)),
            _ => quoted(text),
        },
    };
    format!("<{subject:#x}> <{name}> {end} .\n")
}

fn shown(end: &End, names: &BTreeMap<u64, u64>) -> String {
    match end {
        End::Node(uid) => match names.get(uid) {
            Some(name) => format!("_:{name:x}"),
            None => format!("{uid:#x}"),
        },
        End::Value(text) => now(text),
    }
}

/// A moment of today as the records have it.
fn now(text: &str) -> String {
    let year = text.trim_matches('"').get(..5).and_then(|text| text.strip_suffix('-'));
    match year.and_then(|year| year.parse::<u32>().ok()) {
        Some(year) if year > 2025 => "\"2000-01-01T00:00:00Z\"".to_owned(),
        _ => text.to_owned(),
    }
}

/// All that is in a world.
pub fn graph(world: &World, predicates: &Predicates, existing: &BTreeSet<u64>) -> Graph {
    let query = predicates.query(existing);
    let result = super::record::dql(&world.db, &query, &Default::default()).unwrap();
    predicates.read(&result)
}
