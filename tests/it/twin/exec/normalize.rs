//! `@normalize`: one flat object for each choice of one node from each list.

use super::facets::shown;
use super::output::{Object, group_objects};
use super::state::{Data, Failure, Level, Outcome, Twin, TwinOutcome};
use crate::twin::json;
use hexgraph::internals::plan::FieldKind;
use serde_json::Value as Json;

/// The keys and values of a flat object; a key may come several times.
pub type Row = Vec<(String, Json)>;

/// More objects are refused by the engine, and take too long here.
const ROWS_MAX: usize = 2_000;

/// The flat objects of a node, with the facets of the edge that led to it.
pub fn flat_objects(
    twin: &Twin<'_>,
    level: &Level,
    node: u64,
    reflex: bool,
    facets: Row,
) -> Outcome<Vec<Json>> {
    let rows = rows(twin, level, node, reflex, facets, &mut Vec::new())?;
    Ok(rows.into_iter().filter(|row| !row.is_empty()).map(object).collect())
}

/// Values under the same key become an array, lists among them spread out.
fn object(row: Row) -> Json {
    let mut object = Object::new();
    for (key, _) in &row {
        let same: Vec<Json> =
            row.iter().filter(|(other, _)| other == key).map(|(_, value)| value.clone()).collect();
        let value = match same.as_slice() {
            [one] => one.clone(),
            _ => Json::Array(same.into_iter().flat_map(spread).collect()),
        };
        object.insert(key.clone(), value);
    }
    Json::Object(object)
}

fn spread(value: Json) -> Vec<Json> {
    match value {
        Json::Array(values) => values,
        value => vec![value],
    }
}

fn rows(
    twin: &Twin<'_>,
    level: &Level,
    node: u64,
    reflex: bool,
    facets: Row,
    path: &mut Vec<u64>,
) -> Outcome<Vec<Row>> {
    if level.dead.contains(&node) || reflex && path.contains(&node) {
        return Ok(Vec::new());
    }
    path.push(node);
    let mut start = Row::new();
    let mut lists: Vec<Vec<Row>> = Vec::new();
    for result in &level.fields {
        let Data::Edges(edges) = &result.data else {
            start.extend(own(twin, result, node));
            continue;
        };
        if let (Some(groups), Some(group_by)) = (&edges.groups, &result.field.group_by) {
            if let Some(groups) = groups.get(&node).filter(|groups| !groups.is_empty()) {
                let objects = group_objects(groups, group_by, &result.field.fields);
                lists.push(vec![vec![("@groupby".to_owned(), Json::Array(objects))]]);
            }
            continue;
        }
        let mut choices: Vec<Row> = Vec::new();
        for target in edges.lists.get(&node).into_iter().flatten() {
            let facets = twin.edge_facets_json(&result.field, edges, node, *target);
            let below = rows(twin, &edges.below, *target, reflex, facets, path)?;
            choices.extend(below.into_iter().filter(|row| !row.is_empty()));
        }
        lists.extend(Some(choices).filter(|choices| !choices.is_empty()));
    }
    path.pop();
    if start.is_empty() && lists.is_empty() {
        return Ok(Vec::new());
    }
    start.extend(facets);
    let is_flat = lists.is_empty();
    let mut all = vec![start];
    for choices in lists {
        let join = |row: &Row| {
            let joined = choices.iter().map(|choice| [row.as_slice(), choice].concat());
            joined.collect::<Vec<Row>>()
        };
        all = all.iter().flat_map(join).collect();
        if ROWS_MAX < all.len() {
            return Err(Failure::Undecided);
        }
    }
    Ok(if is_flat { all } else { all.into_iter().map(in_order).collect() })
}

/// An object that others were multiplied into: its keys in their order. The plain uids after its
/// first key are gone, unless that is one of them.
fn in_order(row: Row) -> Row {
    let first = row[0].0.clone();
    let mut sorted = row;
    sorted.sort_by(|(one, _), (other, _)| one.cmp(other));
    if first.as_str() < "uid" {
        sorted.retain(|(key, _)| key != "uid");
    }
    sorted
}

/// What a field without edges adds: what it has under an alias; else its facets, or a uid.
fn own(twin: &Twin<'_>, result: &TwinOutcome, node: u64) -> Row {
    let field = &result.field;
    let key = field.key.clone();
    let shows = field.alias.is_some();
    match &result.data {
        Data::Uid => vec![(key, json::uid(node))],
        Data::Counts(counts) if shows => vec![(key, Json::from(counts[&node]))],
        Data::Computed(map) if shows => {
            map.get(node).map(|value| (key, json::value(value))).into_iter().collect()
        }
        Data::Values(values) => {
            let FieldKind::Predicate { name, langs, .. } = &field.kind else { return Row::new() };
            let is_list = twin.definition(name).is_some_and(|definition| definition.list);
            let star = langs.iter().any(|lang| lang == "*");
            let key = if star { field.alias.clone().unwrap_or_else(|| name.clone()) } else { key };
            let mut row = Row::new();
            for (lang, values) in values.get(&node).into_iter().flatten() {
                let key = match lang {
                    Some(lang) => format!("{key}@{lang}"),
                    None => key.clone(),
                };
                let mut all: Vec<Json> =
                    values.iter().map(|(value, _)| json::value(value)).collect();
                let facets = field.facets.as_ref().filter(|_| !is_list);
                if let Some(expected) = facets {
                    let facets = shown(expected, &key, &values[0].1);
                    row.extend(facets.into_iter().map(|(key, value)| (key, json::value(value))));
                }
                if shows || star {
                    let is_list = is_list || 1 < all.len();
                    row.push((key, if is_list { Json::Array(all) } else { all.remove(0) }));
                }
            }
            row
        }
        _ => Row::new(),
    }
}
