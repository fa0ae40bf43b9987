//! Random schemas, graphs and changes.

use super::graph::{Change, Facets, Graph, Object, Triple};
use super::schema::{Definition, Schema};
use super::words;
use super::words::{chance, one_of};
use fastrand::Rng;
use hexgraph::types::{Value, ValueType};

/// The predicates with the indexes that each may have.
const PREDICATES: &[(&str, ValueType, bool, &[&[&str]])] = &[
    (
        "name",
        ValueType::String,
        false,
        &[
            &["exact", "term"],
            &["hash", "trigram", "fulltext"],
            &["exact", "term", "trigram", "fulltext", "ngram"],
        ],
    ),
    (
        "title",
        ValueType::String,
        false,
        &[&["term", "exact"], &["hash"], &["trigram", "exact", "fulltext"], &["fulltext", "ngram"]],
    ),
    ("plain", ValueType::String, false, &[]),
    ("note", ValueType::Default, false, &[]),
    ("age", ValueType::Int, false, &[&["int"], &["int"]]),
    ("size", ValueType::Int, false, &[&["int"]]),
    ("score", ValueType::Float, false, &[&["float"], &["float"]]),
    ("alive", ValueType::Bool, false, &[&["bool"]]),
    ("born", ValueType::DateTime, false, &[&["year"], &["month"], &["day"], &["hour"]]),
    ("nick", ValueType::String, true, &[&["exact"], &["hash", "term", "trigram"]]),
    ("lucky", ValueType::Int, true, &[&["int"]]),
    ("friend", ValueType::Uid, true, &[]),
    ("likes", ValueType::Uid, true, &[]),
    ("boss", ValueType::Uid, false, &[]),
    ("owns", ValueType::Uid, true, &[]),
];

/// The facets, each of one type wherever it is.
const FACETS: &[(&str, ValueType)] = &[
    ("w", ValueType::Float),
    ("n", ValueType::Int),
    ("since", ValueType::DateTime),
    ("ok", ValueType::Bool),
    ("why", ValueType::String),
];

/// A facet's name with its type.
pub fn facet(rng: &mut Rng) -> (&'static str, ValueType) {
    if chance(rng, 40) { FACETS[0] } else { *one_of(rng, FACETS) }
}

/// A schema of most predicates, with random directives.
pub fn schema(rng: &mut Rng) -> Schema {
    let mut schema = Schema::default();
    for (name, value_type, list, indexes) in PREDICATES {
        if chance(rng, 8) {
            continue;
        }
        let definition = Definition { list: *list, ..Definition::new(name, *value_type) };
        schema.predicates.insert((*name).to_owned(), definition);
        let definition = schema.predicates.get_mut(*name).unwrap();
        definition.lang = *name == "name";
        direct(rng, definition, indexes);
    }
    let types = Definition {
        list: true,
        indexes: vec!["exact"],
        ..Definition::new("dgraph.type", ValueType::String)
    };
    schema.predicates.insert("dgraph.type".to_owned(), types);
    let back = schema.get("friend").is_some_and(|definition| definition.reverse);
    for (name, fields) in [
        ("Person", &["name", "age", "nick", "friend", "boss"][..]),
        ("Thing", &["title", "score", "note", "likes"]),
        ("Back", &["size", "~friend"]),
    ] {
        let existing = |field: &&&str| match field.strip_prefix('~') {
            Some(_) => back,
            None => schema.get(field).is_some(),
        };
        let fields = fields.iter().filter(existing).map(|field| (*field).to_owned()).collect();
        schema.types.insert(name.to_owned(), fields);
    }
    schema
}

fn direct(rng: &mut Rng, definition: &mut Definition, indexes: &[&[&'static str]]) {
    if !indexes.is_empty() && chance(rng, 85) {
        definition.indexes = one_of(rng, indexes).to_vec();
    }
    let many = definition.list || definition.is_edges();
    definition.reverse = definition.is_edges() && definition.name != "owns" && chance(rng, 70);
    definition.count = many && chance(rng, 60);
}

/// The same predicates with other directives, or lists where there were single values. Types whose
/// fields need `@reverse` keep it, and those with a field that was dropped go without.
pub fn altered(rng: &mut Rng, schema: &Schema) -> Schema {
    let mut schema = schema.clone();
    let existing: Vec<String> = schema.predicates.keys().cloned().collect();
    for fields in schema.types.values_mut() {
        fields.retain(|field| existing.iter().any(|name| field.trim_start_matches('~') == name));
    }
    for (name, value_type, _, indexes) in PREDICATES {
        let Some(definition) = schema.predicates.get_mut(*name) else { continue };
        if chance(rng, 30) {
            let reverse = definition.reverse && definition.name == "friend";
            let indexes = if definition.value_type == *value_type { *indexes } else { &[] };
            definition.indexes.clear();
            direct(rng, definition, indexes);
            definition.reverse |= reverse;
            let can_be_many = !definition.lang && definition.value_type != ValueType::Bool;
            definition.list |= can_be_many && chance(rng, 10);
        }
        if definition.name == "name" && chance(rng, 15) {
            definition.lang = !definition.lang;
        }
        // What was typed is text from then on.
        let is_single = !definition.list && !definition.is_edges() && !definition.lang;
        if is_single && definition.name != "name" && chance(rng, 6) {
            definition.value_type = ValueType::Default;
        }
        if definition.value_type == ValueType::Default {
            definition.indexes.clear();
        }
    }
    schema
}

/// The uids of a graph: mostly small, some of which nothing is known but their number.
pub fn uids(rng: &mut Rng) -> Vec<u64> {
    let count = if chance(rng, 12) { rng.usize(100..350) } else { rng.usize(5..60) };
    let spread = *one_of(rng, &[1, 2, 7, 500]);
    (0..count as u64)
        .map(|position| match rng.u32(..20) {
            0 => 0x8000_0000 + position * 3,
            1 => 0xfedc_ba98_0000_0000 + position,
            _ => 1 + position * spread,
        })
        .collect()
}

/// The triples that a graph starts with.
pub fn first_triples(rng: &mut Rng, schema: &Schema, uids: &[u64]) -> Vec<Triple> {
    let density = rng.u32(20..90);
    let mut triples = Vec::new();
    for uid in uids {
        for definition in schema.predicates.values() {
            let count = match (definition.list, chance(rng, density)) {
                (_, false) => 0,
                (true, true) => rng.usize(1..4),
                (false, true) => 1,
            };
            for _ in 0..count {
                triples.push(triple(rng, definition, *uid, uids));
            }
            if definition.lang && chance(rng, 40) {
                triples.push(triple(rng, definition, *uid, uids));
            }
        }
    }
    triples
}

/// A change of a graph: some triples go, some come.
pub fn change(rng: &mut Rng, graph: &Graph, uids: &[u64]) -> Change {
    let definitions: Vec<_> = graph.schema.predicates.values().collect();
    let all = triples_of(graph);
    let mut change = Change::default();
    for _ in 0..rng.usize(..12).min(all.len()) {
        let mut gone = one_of(rng, &all).clone();
        gone.facets.clear();
        // Values in a language that can't be named any more go with all others.
        if !gone.lang.is_empty() && !graph.schema.predicates[&gone.predicate].lang {
            gone = Triple { lang: String::new(), object: Object::Star, ..gone };
        }
        match rng.u32(..12) {
            0 if !graph.types_of(gone.subject).contains(&"Back".to_owned()) => {
                gone = Triple {
                    predicate: "*".into(),
                    lang: String::new(),
                    object: Object::Star,
                    ..gone
                };
            }
            1 | 2 => gone.object = Object::Star,
            3 => gone = Triple { lang: String::new(), object: Object::Star, ..gone },
            4 => gone.subject = *one_of(rng, uids),
            _ => {}
        }
        change.delete.push(gone);
    }
    let most = if chance(rng, 20) { 200 } else { 15 };
    for _ in 0..rng.usize(..most) {
        let definition = *one_of(rng, &definitions);
        let subject = *one_of(rng, uids);
        change.set.push(triple(rng, definition, subject, uids));
    }
    change
}

/// The triples of a graph, without facets.
fn triples_of(graph: &Graph) -> Vec<Triple> {
    let mut all = Vec::new();
    for ((subject, predicate, lang), values) in &graph.values {
        for (value, _) in values {
            let Ok(Value::String(text)) = value.as_ref().convert(ValueType::String) else {
                continue;
            };
            all.push(Triple {
                subject: *subject,
                predicate: predicate.clone(),
                lang: lang.clone(),
                object: Object::Text(text),
                facets: Facets::new(),
            });
        }
    }
    for ((subject, predicate), targets) in &graph.edges {
        all.extend(targets.keys().map(|target| Triple {
            subject: *subject,
            predicate: predicate.clone(),
            lang: String::new(),
            object: Object::Node(*target),
            facets: Facets::new(),
        }));
    }
    all
}

/// A triple of a predicate.
fn triple(rng: &mut Rng, definition: &Definition, subject: u64, uids: &[u64]) -> Triple {
    let object = match (definition.is_edges(), definition.name.as_str()) {
        (true, _) => Object::Node(*one_of(rng, uids)),
        (false, "dgraph.type") => {
            Object::Text((*one_of(rng, &["Person", "Thing", "Back", "Ghost"])).to_owned())
        }
        _ => Object::Text(words::literal(rng, definition.value_type)),
    };
    let lang = if definition.lang { *one_of(rng, words::LANGS) } else { "" };
    let mut facets = Facets::new();
    let has_facets = if definition.is_edges() { 50 } else { 15 };
    if definition.name != "dgraph.type" && chance(rng, has_facets) {
        for _ in 0..rng.usize(1..4) {
            let (name, value_type) = facet(rng);
            facets.insert(name.to_owned(), facet_value(rng, value_type));
        }
    }
    Triple { subject, predicate: definition.name.clone(), lang: lang.to_owned(), object, facets }
}

fn facet_value(rng: &mut Rng, value_type: ValueType) -> Value {
    match value_type {
        // Ties among weights leave paths undecided.
        ValueType::Float => Value::Float(rng.i32(1..400) as f64 / 16.0 + 0.001),
        ValueType::Int => Value::Int(rng.i64(-2..9)),
        ValueType::DateTime => {
            Value::parse(&words::literal(rng, ValueType::DateTime), value_type).unwrap()
        }
        ValueType::Bool => Value::Bool(rng.bool()),
        _ => Value::String(words::phrase(rng)),
    }
}
