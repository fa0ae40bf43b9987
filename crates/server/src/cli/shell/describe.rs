//! `\describe`: what a database has, or one type or predicate of it.

use super::catalog::{Catalog, quoted};
use hexgraph::db::{Database, QueryRequest, RequestContext};
use hexgraph::tables::{PlainColumn, RecordBatch, plain_rows};
use hexgraph_base::types::{Error, Result, did_you_mean};
use serde_json::Value;
use std::collections::BTreeMap;

/// A table with a line above it.
pub(super) type Titled = (String, RecordBatch);

/// The types with their nodes, and the predicates with the nodes that have them.
///
/// # Errors
///
/// As [`Database::stats`] and [`Database::query`].
pub(super) fn describe_all(
    database: &Database,
    catalog: &Catalog,
    control: &RequestContext,
) -> Result<Vec<Titled>> {
    let names: Vec<&String> = catalog.types.keys().collect();
    let nodes = type_counts(database, &names, control)?;
    let fields = names.iter().map(|name| catalog.types[*name].join(" "));
    let types = plain_rows(vec![
        ("type", PlainColumn::Texts(names.iter().map(|name| quoted(name)).collect())),
        ("nodes", PlainColumn::Numbers(nodes)),
        ("fields", PlainColumn::Texts(fields.collect())),
    ])?;
    let predicates = predicate_rows(database, catalog, catalog.predicates.keys())?;
    Ok(vec![("types".to_owned(), types), ("predicates".to_owned(), predicates)])
}

/// The fields of a type, or the definition of a predicate with the types that have it.
///
/// # Errors
///
/// `Query` for a name that the schema does not have; as [`describe_all`].
pub(super) fn describe_one(
    database: &Database,
    catalog: &Catalog,
    name: &str,
    control: &RequestContext,
) -> Result<Vec<Titled>> {
    let name = name.trim_matches(['<', '>']);
    let mut all = Vec::new();
    if let Some(fields) = catalog.types.get(name) {
        let nodes = type_counts(database, &[&name.to_owned()], control)?[0];
        let rows = predicate_rows(database, catalog, fields.iter())?;
        all.push((format!("type {}, {nodes} nodes", quoted(name)), rows));
    }
    if let Some(definition) = catalog.predicates.get(name) {
        let types = catalog.types.iter().filter(|(_, fields)| fields.iter().any(|it| it == name));
        let types: Vec<String> = types.map(|(name, _)| quoted(name)).collect();
        let of = if types.is_empty() { "no type".to_owned() } else { types.join(", ") };
        let rows = predicate_rows(database, catalog, [name.to_owned()].iter())?;
        all.push((format!("{}: {definition} . (in {of})", quoted(name)), rows));
    }
    if all.is_empty() {
        let names = catalog.types.keys().chain(catalog.predicates.keys()).map(String::as_str);
        let fault = Error::query(format!("the schema has neither a type nor a predicate {name:?}"));
        return Err(fault.with_hint(did_you_mean(name, names)));
    }
    Ok(all)
}

fn predicate_rows<'n>(
    database: &Database,
    catalog: &Catalog,
    names: impl Iterator<Item = &'n String> + Clone,
) -> Result<RecordBatch> {
    let stats = database.stats()?;
    let stats: BTreeMap<&str, (u64, u64)> =
        stats.predicates.iter().map(|it| (&*it.name, (it.subjects, it.values))).collect();
    let counts = |name: &String| stats.get(name.as_str()).copied().unwrap_or_default();
    let definition = |name: &String| catalog.predicates.get(name).cloned().unwrap_or_default();
    plain_rows(vec![
        ("predicate", PlainColumn::Texts(names.clone().map(|name| quoted(name)).collect())),
        ("nodes", PlainColumn::Numbers(names.clone().map(|it| counts(it).0 as i64).collect())),
        ("values", PlainColumn::Numbers(names.clone().map(|it| counts(it).1 as i64).collect())),
        ("definition", PlainColumn::Texts(names.map(definition).collect())),
    ])
}

/// The number of nodes of each type.
///
/// # Errors
///
/// As [`Database::query`].
pub(in crate::cli) fn type_counts(
    database: &Database,
    names: &[&String],
    control: &RequestContext,
) -> Result<Vec<i64>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let block = |(at, name): (usize, &&String)| {
        format!("t{at}(func: type({})) {{ count(uid) }}", quoted(name))
    };
    let blocks: String = names.iter().enumerate().map(block).collect();
    let request = QueryRequest { text: format!("{{ {blocks} }}"), ..QueryRequest::default() };
    let (json, _) = database.query_with(&request, control)?.to_json_with(control)?;
    let answer: Value =
        serde_json::from_str(&json).map_err(|error| Error::internal(error.to_string()))?;
    let count = |at: usize| answer[format!("t{at}")][0]["count"].as_i64().unwrap_or_default();
    Ok((0..names.len()).map(count).collect())
}
