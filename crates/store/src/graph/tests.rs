//! The entire graph: loads and mutations, and what can then be read.

mod altering;
mod loading;
mod model;
mod mutating;
mod persisting;
mod replaying;
mod nearest;
mod bulk;
mod names;

use super::{
    Binding, Bindings, Changes, LoadOptions, LoadReport, LoadSource, MutationReport, MutationTexts,
    Passwords, Stager, Statements, Thresholds, Version, alter, load, stage,
};
use crate::graph::persist;
use crate::graph::version::predicate::PredicateData;
use crate::storage::{FileAccess, Identity};
use hexgraph_base::schema::Actor;
use hexgraph_base::types::{Error, Result, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::path::Path;

/// Passwords at once.
struct Plain;

impl Passwords for Plain {
    fn hash(&self, plain: &str) -> Result<Value> {
        Value::hash_password(plain).map_err(Error::query)
    }

    fn verify(&self, hash: &str, plain: &str) -> Result<bool> {
        Value::verify_password(hash, plain).map_err(Error::query)
    }
}

fn stager() -> Stager<'static> {
    Stager { actor: Actor::Client, passwords: &Plain, charge: &|_| Ok(()) }
}

/// The version after one mutation in N-Quads.
fn apply(version: &Version, set: &str, delete: &str) -> Result<(Version, MutationReport)> {
    mutate(version, &[(Statements::NQuads(set), Statements::NQuads(delete))], &Bindings::default())
}

/// The version after a request: what each mutation sets, and what it deletes.
fn mutate(
    version: &Version,
    mutations: &[(Statements<'_>, Statements<'_>)],
    bindings: &Bindings,
) -> Result<(Version, MutationReport)> {
    let (changes, report) = staged(version, mutations, bindings)?;
    Ok((changes.apply(version)?, report))
}

/// What mutations change in a version.
fn staged(
    version: &Version,
    mutations: &[(Statements<'_>, Statements<'_>)],
    bindings: &Bindings,
) -> Result<(Changes, MutationReport)> {
    let trees = mutations.iter().map(|(set, delete)| MutationTexts::new(&[*set], &[*delete]));
    let trees: Vec<MutationTexts<'_>> = trees.collect();
    let mut new_nodes = 0;
    let statements = trees.iter().map(|tree| tree.statements(&mut new_nodes, &()));
    stage(version, statements.collect::<Result<_>>()?, bindings, stager())
}

type Facets = Vec<(String, Value)>;

/// All that a version holds, by predicate, language and uid.
#[derive(Debug, Default, PartialEq)]
struct Contents {
    values: BTreeMap<(String, String, u64), Vec<(Value, Facets)>>,
    edges: BTreeMap<(String, u64, u64), Facets>,
    reverse: BTreeSet<(String, u64, u64)>,
}

fn owned(facets: Vec<(&str, hexgraph_base::types::ValueRef<'_>)>) -> Facets {
    facets.into_iter().map(|(key, value)| (key.to_owned(), value.to_value())).collect()
}

/// Reads everything through the interface that queries use.
fn contents(version: &Version) -> Contents {
    let mut all = Contents::default();
    let uid = |node| version.nodes.uid(node).0;
    for (name, predicate) in &version.predicates {
        let name = name.to_string();
        match &predicate.data {
            PredicateData::Values(langs) => {
                for values in langs {
                    for node in values.subjects().iter() {
                        assert!(values.has(node));
                        let list = values.values(node);
                        let row = (0..list.len()).map(|position| {
                            (list.get(position).to_value(), owned(list.facets(position)))
                        });
                        let row: Vec<_> = row.collect();
                        assert!(!row.is_empty());
                        all.values.insert((name.clone(), values.lang.to_string(), uid(node)), row);
                    }
                }
            }
            PredicateData::Edges(edges) => {
                let forward = &edges.forward;
                for node in forward.subjects().iter() {
                    let targets = forward.targets(node);
                    assert_eq!(targets.len(), forward.count(node));
                    assert!(!targets.is_empty() && forward.has(node));
                    for &target in targets.iter() {
                        let facets = owned(forward.facets(node, target));
                        all.edges.insert((name.clone(), uid(node), uid(target)), facets);
                    }
                }
                if let Some(reverse) = &edges.reverse {
                    for node in reverse.subjects().iter() {
                        assert!(!reverse.targets(node).is_empty());
                        for &target in reverse.targets(node).iter() {
                            all.reverse.insert((name.clone(), uid(node), uid(target)));
                        }
                    }
                }
            }
        }
    }
    all
}

/// A graph without data with low thresholds for compaction, replay and vector search.
fn empty() -> Version {
    Version { thresholds: Thresholds::small(), ..Version::empty() }
}

/// Opens a file as [`empty`] begins.
fn opened(path: &Path) -> Result<Version> {
    persist::open_of(path, Identity::NONE, FileAccess::Map, Thresholds::small())
}

fn with_schema(text: &str) -> Version {
    alter(&empty(), text).unwrap()
}

fn try_load_text(
    version: &Version,
    text: &str,
    options: &LoadOptions<'_>,
) -> Result<(Version, LoadReport)> {
    let reader = Box::new(Cursor::new(text.to_owned()));
    load(version, vec![LoadSource { name: "test.rdf".to_owned(), reader }], options)
}

fn load_text(version: &Version, text: &str) -> Version {
    try_load_text(version, text, &LoadOptions::default()).unwrap().0
}

/// The values of a node as text, with `|key=value` for facets.
fn values_of(version: &Version, name: &str, lang: &str, uid: u64) -> Vec<String> {
    let key = (name.to_owned(), lang.to_owned(), uid);
    let row = contents(version).values.remove(&key).unwrap_or_default();
    let text = |value: &Value| {
        let text = value.as_ref().convert(hexgraph_base::types::ValueType::String).unwrap();
        let Value::String(text) = text else { panic!("{text:?}") };
        text
    };
    let with_facets = |(value, facets): &(Value, Facets)| {
        let facets = facets.iter().map(|(key, value)| format!("|{key}={}", text(value)));
        text(value) + &facets.collect::<String>()
    };
    row.iter().map(with_facets).collect()
}

/// The targets of a node, through the edges in one direction.
fn targets_of(version: &Version, name: &str, reverse: bool, uid: u64) -> Vec<u64> {
    let predicate = version.predicate(name).unwrap();
    let direction = predicate.direction(reverse).unwrap();
    let Some(node) = version.nodes.node(hexgraph_base::types::Uid(uid)) else { return Vec::new() };
    direction.targets(node).iter().map(|&node| version.nodes.uid(node).0).collect()
}
