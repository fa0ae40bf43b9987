//! The twin's graph: plain maps from node, predicate and language to values, and from node and
//! predicate to targets. Nothing is derived from them: who wants incoming edges looks at all edges.

use super::schema::Schema;
use hexgraph::types::{Value, ValueType};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The facets of an edge or value, by key.
pub type Facets = BTreeMap<String, Value>;

/// A graph.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    pub schema: Schema,
    /// By node, predicate and language (empty: untagged).
    pub values: BTreeMap<(u64, String, String), Vec<(Value, Facets)>>,
    /// By node and predicate.
    pub edges: BTreeMap<(u64, String), BTreeMap<u64, Facets>>,
}

/// What a triple leads to.
#[derive(Debug, Clone, PartialEq)]
pub enum Object {
    /// A node.
    Node(u64),
    /// A literal.
    Text(String),
    /// `*`, in a delete.
    Star,
}

/// A triple, as it stands in N-Quads.
#[derive(Debug, Clone, PartialEq)]
pub struct Triple {
    pub subject: u64,
    /// `*` in a delete of a whole node.
    pub predicate: String,
    pub lang: String,
    pub object: Object,
    pub facets: Facets,
}

/// Triples that go, then triples that come.
#[derive(Debug, Clone, Default)]
pub struct Change {
    pub delete: Vec<Triple>,
    pub set: Vec<Triple>,
}

impl Graph {
    /// Applies a change; its triples fit the schema.
    pub fn apply(&mut self, change: &Change) {
        // The types before the request tell what `S * *` means.
        let types: BTreeMap<u64, Vec<String>> =
            change.delete.iter().map(|it| (it.subject, self.types_of(it.subject))).collect();
        change.delete.iter().for_each(|triple| self.delete(triple, &types[&triple.subject]));
        change.set.iter().for_each(|triple| self.set(triple));
    }

    fn set(&mut self, triple: &Triple) {
        let definition = &self.schema.predicates[&triple.predicate];
        match &triple.object {
            Object::Node(target) => {
                let edges =
                    self.edges.entry((triple.subject, triple.predicate.clone())).or_default();
                if !definition.list {
                    edges.clear();
                }
                edges.insert(*target, triple.facets.clone());
            }
            Object::Text(text) => {
                let value = Value::parse(text, definition.value_type).unwrap();
                let key = (triple.subject, triple.predicate.clone(), triple.lang.clone());
                let values = self.values.entry(key).or_default();
                if !definition.list {
                    values.clear();
                }
                values.retain(|(existing, _)| *existing != value);
                values.push((value, triple.facets.clone()));
            }
            Object::Star => panic!("`*` can't be set"),
        }
    }

    fn delete(&mut self, triple: &Triple, types: &[String]) {
        let (subject, name) = (triple.subject, triple.predicate.as_str());
        if name == "*" {
            let fields: BTreeSet<String> = types
                .iter()
                .filter_map(|name| self.schema.types.get(name))
                .flatten()
                .cloned()
                .collect();
            fields.iter().for_each(|field| self.delete_all(subject, field));
            return self.delete_all(subject, "dgraph.type");
        }
        match &triple.object {
            Object::Star if triple.lang.is_empty() => self.delete_all(subject, name),
            Object::Star => {
                self.values.remove(&(subject, name.to_owned(), triple.lang.clone()));
            }
            Object::Node(target) => {
                let key = (subject, name.to_owned());
                if let Some(edges) = self.edges.get_mut(&key) {
                    edges.remove(target);
                }
                self.edges.retain(|_, edges| !edges.is_empty());
            }
            Object::Text(text) => {
                let kind = self.schema.predicates[name].value_type;
                let value = Value::parse(text, kind).unwrap();
                let key = (subject, name.to_owned(), triple.lang.clone());
                if let Some(values) = self.values.get_mut(&key) {
                    let shown = |existing: &Value| match kind {
                        ValueType::Default => as_text(existing),
                        _ => existing.clone(),
                    };
                    values.retain(|(existing, _)| shown(existing) != value);
                }
                self.values.retain(|_, values| !values.is_empty());
            }
        }
    }

    fn delete_all(&mut self, subject: u64, name: &str) {
        self.values.retain(|(node, predicate, _), _| *node != subject || predicate != name);
        self.edges.retain(|(node, predicate), _| *node != subject || predicate != name);
    }

    /// Drops a predicate.
    pub fn forget(&mut self, name: &str) {
        self.schema.predicates.remove(name);
        self.values.retain(|(_, predicate, _), _| predicate != name);
        self.edges.retain(|(_, predicate), _| predicate != name);
    }

    /// The types of a node.
    pub fn types_of(&self, node: u64) -> Vec<String> {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => panic!("{other:?} is no type"),
        };
        self.values(node, "dgraph.type", "").iter().map(|(value, _)| text(value)).collect()
    }

    /// The values of a node in one language, in the type of the schema, ascending.
    pub fn values(&self, node: u64, name: &str, lang: &str) -> Vec<(Value, Facets)> {
        let result = self.values.get(&(node, name.to_owned(), lang.to_owned()));
        let mut values = result.cloned().unwrap_or_default();
        if self.schema.get(name).is_some_and(|it| it.value_type == ValueType::Default) {
            values.iter_mut().for_each(|(value, _)| *value = as_text(value));
        }
        values.sort_by(|(one, _), (other, _)| {
            one.as_ref().compare(other.as_ref()).unwrap_or(std::cmp::Ordering::Equal)
        });
        values
    }

    /// The languages in which a node has values, the untagged one first.
    pub fn langs(&self, node: u64, name: &str) -> Vec<String> {
        let own =
            |(other, predicate, _): &&(u64, String, String)| *other == node && predicate == name;
        self.values.keys().filter(own).map(|(_, _, lang)| lang.clone()).collect()
    }

    /// The targets of a node's edges, or the sources of those that lead to it, with the facets.
    pub fn targets(&self, node: u64, name: &str, reverse: bool) -> BTreeMap<u64, Facets> {
        if !reverse {
            return self.edges.get(&(node, name.to_owned())).cloned().unwrap_or_default();
        }
        let mut result = BTreeMap::new();
        for ((from, predicate), targets) in &self.edges {
            if let (true, Some(facets)) = (predicate == name, targets.get(&node)) {
                result.insert(*from, facets.clone());
            }
        }
        result
    }

    /// Every node that is in a triple.
    pub fn nodes(&self) -> BTreeSet<u64> {
        let subjects = self.values.keys().map(|(node, _, _)| *node);
        let sources = self.edges.keys().map(|(node, _)| *node);
        let targets = self.edges.values().flat_map(|targets| targets.keys().copied());
        subjects.chain(sources).chain(targets).collect()
    }
}

/// A line of N-Quads.
impl fmt::Display for Triple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{:#x}> ", self.subject)?;
        match self.predicate.as_str() {
            "*" => f.write_str("*")?,
            name if self.object == Object::Star && !self.lang.is_empty() => {
                write!(f, "<{name}@{}>", self.lang)?;
            }
            name => write!(f, "<{name}>")?,
        }
        match &self.object {
            Object::Node(target) => write!(f, " <{target:#x}>")?,
            Object::Star => f.write_str(" *")?,
            Object::Text(text) => {
                let text = text.replace('\\', "\\\\").replace('"', "\\\"");
                write!(f, " \"{text}\"")?;
                if !self.lang.is_empty() {
                    write!(f, "@{}", self.lang)?;
                }
            }
        }
        if !self.facets.is_empty() {
            let facets: Vec<String> = self
                .facets
                .iter()
                .map(|(key, value)| format!("{key}={}", facet_text(value)))
                .collect();
            write!(f, " ({})", facets.join(", "))?;
        }
        f.write_str(" .")
    }
}

/// A value of any type as the text that a predicate of type default shows.
fn as_text(value: &Value) -> Value {
    match value.as_ref().convert(ValueType::String) {
        Ok(Value::String(text)) => Value::Default(text),
        other => panic!("{value:?} has no text: {other:?}"),
    }
}

/// A facet's value as N-Quads have it.
fn facet_text(value: &Value) -> String {
    match value {
        Value::Int(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Bool(truth) => truth.to_string(),
        Value::DateTime(time) => super::json::time_text(*time),
        Value::String(text) => format!("\"{text}\""),
        other => panic!("{other:?} is no facet"),
    }
}

/// The lines of some triples.
pub fn lines(triples: &[Triple]) -> String {
    triples.iter().map(|triple| format!("{triple}\n")).collect()
}
