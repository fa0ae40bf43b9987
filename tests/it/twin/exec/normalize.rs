//! `@normalize`: one flat object of the aliased fields for each choice of one node from each list.

use super::facets::shown;
use super::output::Object;
use super::state::Data;
use super::state::Failure;
use super::state::Found;
use super::state::Level;
use super::state::Outcome;
use super::state::Twin;
use crate::twin::json;
use hexgraph::plan::FieldKind;
use serde_json::Value as Json;

/// The keys and values of a flat object; a key may come several times.
type Row = Vec<(String, Json)>;

/// More objects are refused by the engine, and take too long here.
const ROWS_MAX: usize = 2_000;

/// The flat objects of a node.
pub fn flat_objects(twin: &Twin<'_>, level: &Level, node: u64, reflex: bool) -> Outcome<Vec<Json>> {
    let rows = rows(twin, level, node, reflex, &mut Vec::new())?;
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
    path: &mut Vec<u64>,
) -> Outcome<Vec<Row>> {
    if level.dead.contains(&node) || reflex && path.contains(&node) {
        return Ok(Vec::new());
    }
    path.push(node);
    let mut all: Vec<Row> = vec![Row::new()];
    for found in &level.fields {
        let mut choices: Vec<Row> = Vec::new();
        if let Data::Edges(edges) = &found.data {
            for target in edges.lists.get(&node).into_iter().flatten() {
                for mut row in rows(twin, &edges.below, *target, reflex, path)? {
                    if !row.is_empty() {
                        row.extend(twin.edge_facets_json(&found.field, edges, node, *target));
                        choices.push(row);
                    }
                }
            }
        } else {
            choices.push(own(twin, found, node));
        }
        if !choices.is_empty() {
            let join = |row: &Row| {
                let joined = choices.iter().map(|choice| [row.as_slice(), choice].concat());
                joined.collect::<Vec<Row>>()
            };
            all = all.iter().flat_map(join).collect();
        }
        if ROWS_MAX < all.len() {
            return Err(Failure::Undecided);
        }
    }
    path.pop();
    Ok(all)
}

/// What a field without edges adds: only under an alias.
fn own(twin: &Twin<'_>, found: &Found, node: u64) -> Row {
    let field = &found.field;
    let Some(alias) = field.alias.clone() else { return Row::new() };
    match &found.data {
        Data::Uid => vec![(alias, json::uid(node))],
        Data::Counts(counts) => vec![(alias, Json::from(counts[&node]))],
        Data::Computed(map) => {
            map.get(node).map(|value| (alias, json::value(value))).into_iter().collect()
        }
        Data::Values(values) => {
            let FieldKind::Predicate { name, .. } = &field.kind else { return Row::new() };
            let is_list = twin.definition(name).is_some_and(|definition| definition.list);
            let mut row = Row::new();
            for (lang, values) in values.get(&node).into_iter().flatten() {
                let key = match lang {
                    Some(lang) => format!("{alias}@{lang}"),
                    None => alias.clone(),
                };
                let mut all: Vec<Json> =
                    values.iter().map(|(value, _)| json::value(value)).collect();
                if is_list {
                    row.push((key, Json::Array(all)));
                    continue;
                }
                if let Some(wanted) = &field.facets {
                    let facets = shown(wanted, &key, &values[0].1);
                    row.extend(facets.into_iter().map(|(key, value)| (key, json::value(value))));
                }
                row.push((key, all.remove(0)));
            }
            row
        }
        _ => Row::new(),
    }
}
