//! `@normalize`: each node's nested lists multiplied out into flat objects of the aliased fields.

use super::facets::EdgeFacets;
use super::output::Edge;
use super::output::Writer;
use super::output::chosen;
use super::output::counts_of;
use super::read::Langs;
use super::settings::past_limit;
use super::tree::FieldData;
use super::tree::FieldResult;
use super::tree::Level;
use crate::graph::ValueList;
use crate::plan::Facets;
use crate::plan::FieldKind;
use crate::types::Result;
use crate::types::Uid;
use crate::types::Value;
use crate::types::ValueRef;
use std::sync::Arc;

/// A value of a flat object.
#[derive(Clone)]
enum Item {
    Value(Value),
    List(Vec<Value>),
    /// A facet of the values of a list, by their places.
    Places(Vec<(usize, Value)>),
    Uid(Uid),
    Int(i64),
}

/// One flat object: keys in the order of the query, a key may come several times.
type Row = Vec<(Arc<str>, Item)>;

/// Writes the flat objects of the node at a place.
pub(crate) fn write_flat(writer: &mut Writer<'_, '_>, level: &Level, place: usize) -> Result<()> {
    if !level.is_alive(place) {
        return Ok(());
    }
    let mut nested = false;
    let mut path = Vec::new();
    for mut row in rows(writer, level, place, &mut nested, &mut path)? {
        if row.is_empty() {
            continue;
        }
        if nested {
            row.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        write_row(writer, &row);
    }
    Ok(())
}

fn write_row(writer: &mut Writer<'_, '_>, row: &Row) {
    let sink = &mut *writer.sink;
    sink.begin_object();
    let mut written: Vec<&str> = Vec::with_capacity(row.len());
    for (key, item) in row {
        if written.contains(&&**key) {
            continue;
        }
        written.push(key);
        let same: Vec<&Item> =
            row.iter().filter(|(other, _)| other == key).map(|(_, item)| item).collect();
        sink.key(key);
        if 1 < same.len() {
            sink.begin_array();
            same.into_iter().for_each(|item| write_item(sink, item, true));
            sink.end_array();
        } else {
            write_item(sink, item, false);
        }
    }
    sink.end_object();
}

fn write_item(sink: &mut dyn crate::types::Sink, item: &Item, inside: bool) {
    match item {
        Item::Value(value) => sink.value(value.as_ref()),
        Item::Uid(uid) => sink.uid(*uid),
        Item::Int(number) => sink.int(*number),
        Item::Places(values) => {
            sink.begin_object();
            for (place, value) in values {
                sink.key(&place.to_string());
                sink.value(value.as_ref());
            }
            sink.end_object();
        }
        Item::List(values) => {
            if !inside {
                sink.begin_array();
            }
            values.iter().for_each(|value| sink.value(value.as_ref()));
            if !inside {
                sink.end_array();
            }
        }
    }
}

/// The flat objects of a node: the product of its own fields and those of each nested list.
fn rows(
    writer: &Writer<'_, '_>,
    level: &Level,
    place: usize,
    nested: &mut bool,
    path: &mut Vec<u32>,
) -> Result<Vec<Row>> {
    let mut all: Vec<Row> = vec![Row::new()];
    path.push(level.nodes[place]);
    for result in &level.fields {
        if let FieldData::Edges(edges) = &result.data {
            let mut below: Vec<Row> = Vec::new();
            let facets = result.field.facets.as_ref().and_then(|facets| {
                let stored = EdgeFacets::new(&edges.predicate, edges.reverse)?;
                Some(Edge { field: &result.field, facets, stored, node: level.nodes[place] })
            });
            for &target in edges.targets_of(place) {
                let Some(place) = edges.level.place(target) else { continue };
                let again = writer.path.is_some() && path.contains(&target);
                if !edges.level.is_alive(place) || again {
                    continue;
                }
                let mut found = rows(writer, &edges.level, place, nested, path)?;
                if let Some(edge) = &facets {
                    add_edge_facets(edge, target, &mut found);
                }
                below.extend(found.into_iter().filter(|row| !row.is_empty()));
            }
            if !edges.targets_of(place).is_empty() {
                let counts = counts_of(&edges.level).filter_map(|count| count.alias.as_deref());
                let count = edges.targets_of(place).len() as i64;
                below.extend(counts.map(|alias| vec![(Arc::from(alias), Item::Int(count))]));
            }
            if !below.is_empty() {
                *nested = true;
                let most = writer.options.normalize;
                if most < all.len().saturating_mul(below.len()) as u64 {
                    let what =
                        format!("@normalize would make more than {most} objects of one node");
                    return Err(past_limit(&what, "normalize"));
                }
                all = product(&all, &below);
            }
            continue;
        }
        let items = items(writer, level, place, result)?;
        for row in &mut all {
            row.extend(items.iter().cloned());
        }
    }
    path.pop();
    Ok(all)
}

fn product(all: &[Row], below: &[Row]) -> Vec<Row> {
    let joined = all.iter().flat_map(|row| {
        below.iter().map(|more| {
            let mut joined = row.clone();
            joined.extend(more.iter().cloned());
            joined
        })
    });
    joined.collect()
}

fn add_edge_facets(edge: &Edge<'_>, target: u32, rows: &mut [Row]) {
    for (key, value) in chosen(edge.facets, edge.key(), &edge.stored.all(edge.node, target)) {
        let key: Arc<str> = key.into();
        for row in rows.iter_mut().filter(|row| !row.is_empty()) {
            row.push((Arc::clone(&key), Item::Value(value.to_value())));
        }
    }
}

/// What a field that is no edge adds to a flat object: only with an alias.
fn items(
    writer: &Writer<'_, '_>,
    level: &Level,
    place: usize,
    result: &FieldResult,
) -> Result<Row> {
    let field = &result.field;
    let node = level.nodes[place];
    let Some(alias) = &field.alias else { return Ok(Row::new()) };
    let key: Arc<str> = alias.as_str().into();
    let item = match &result.data {
        FieldData::Uid => Some(Item::Uid(writer.version.nodes.uid(node))),
        FieldData::Counts(counts) => Some(Item::Int(counts[place] as i64)),
        FieldData::Column(map) => map.get(node).map(|value| Item::Value(value.to_value())),
        FieldData::Passwords(answers) => Some(Item::Value(Value::Bool(answers[place]))),
        FieldData::Values(values) => {
            let FieldKind::Predicate { langs, .. } = &field.kind else { return Ok(Row::new()) };
            if values.is_hidden(node) {
                return Ok(Row::new());
            }
            let predicate = &values.predicate;
            if langs.iter().any(|lang| lang == "*") {
                return all_langs(predicate, alias, node);
            }
            let wanted = predicate.def.value_type;
            let convert = |value: ValueRef<'_>| {
                super::read::typed(value, wanted).map(|value| value.as_ref().to_value())
            };
            let Some((_, list)) = predicate.values_in(Langs::First(langs), node) else {
                return Ok(Row::new());
            };
            let places = values.places(node, list.len());
            let mut row = match &field.facets {
                Some(facets) => {
                    value_facets(facets, alias, predicate.def.list, &list, places.clone())
                }
                None => Row::new(),
            };
            let item = match predicate.def.list {
                true => {
                    let shown = places.map(|place| convert(list.get(place)));
                    Item::List(shown.collect::<Result<_>>()?)
                }
                false => Item::Value(convert(list.get(0))?),
            };
            row.push((key, item));
            return Ok(row);
        }
        _ => None,
    };
    Ok(item.map(|item| (key, item)).into_iter().collect())
}

fn value_facets(
    facets: &Facets,
    alias: &str,
    is_list: bool,
    list: &ValueList<'_>,
    places: impl Iterator<Item = usize>,
) -> Row {
    let mut row = Row::new();
    for (shown, place) in places.enumerate() {
        for (key, value) in chosen(facets, alias, &list.facets(place)) {
            let value = value.to_value();
            if !is_list {
                row.push((key.into(), Item::Value(value)));
                continue;
            }
            match row.iter_mut().find(|(other, _)| **other == *key) {
                Some((_, Item::Places(values))) => values.push((shown, value)),
                _ => row.push((key.into(), Item::Places(vec![(shown, value)]))),
            }
        }
    }
    row
}

fn all_langs(predicate: &crate::graph::Predicate, alias: &str, node: u32) -> Result<Row> {
    let mut row = Row::new();
    for part in predicate.langs() {
        let list = part.values(node);
        if list.is_empty() {
            continue;
        }
        let key: Arc<str> = match &*part.lang {
            "" => alias.into(),
            lang => format!("{alias}@{lang}").into(),
        };
        row.push((key, Item::Value(list.get(0).to_value())));
    }
    Ok(row)
}
