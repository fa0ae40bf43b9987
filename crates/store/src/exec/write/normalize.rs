//! `@normalize`: each node's nested lists multiplied out into flat objects of the aliased fields.

use super::answer_writer::{AnswerWriter, Edge, chosen, counts_of};
use super::groups::{GroupList, group_labels};
use crate::exec::control::limits::past_limit;
use crate::exec::control::tree::{
    EdgeField, FieldData, FieldResult, Group, GroupValue, Level, ValueField,
};
use crate::exec::select::read::{Langs, typed};
use crate::graph::ValueList;
use hexgraph_base::plan::{Facets, Field, FieldKind};
use hexgraph_base::types::{Error, Result, Uid, Value, ValueRef, ValueType, stack};
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
    /// The groups of the nodes that an edge field with `@groupby` leads to.
    Groups(Arc<Groups>),
}

/// Groups, with the labels of their keys and results.
struct Groups {
    labels: Vec<String>,
    groups: Vec<Group>,
}

impl Groups {
    /// The groups of a node's edge field; `None` where there are none.
    fn of(result: &FieldResult, edges: &EdgeField, place: usize) -> Option<Arc<Groups>> {
        let found = edges.groups.as_ref()?.get(place).filter(|groups| !groups.is_empty())?;
        let group_by = result.field.group_by.as_ref()?;
        let labels = group_labels(group_by, &result.field.fields);
        Some(Arc::new(Groups { labels, groups: found.clone() }))
    }

    fn heap_size(&self) -> usize {
        let of_key = |key: &GroupValue| match key {
            GroupValue::Value(value) => value.heap_size(),
            GroupValue::Node(_) => 0,
        };
        let of_group = |group: &Group| {
            let keys: usize = group.keys.iter().map(of_key).sum();
            let results = group.results.iter().flatten().map(Value::heap_size).sum::<usize>();
            let cells = size_of_val(&*group.keys) + size_of_val(&*group.results);
            size_of::<Group>() + cells + keys + results
        };
        self.groups.iter().map(of_group).sum()
    }
}

impl Item {
    /// The bytes that it has beside itself.
    fn heap_size(&self) -> usize {
        let of = |value: &Value| size_of::<Value>() + value.heap_size();
        match self {
            Item::Value(value) => value.heap_size(),
            Item::List(values) => values.iter().map(of).sum(),
            Item::Places(values) => values.iter().map(|(_, value)| 8 + of(value)).sum(),
            Item::Uid(_) | Item::Int(_) => 0,
            Item::Groups(groups) => groups.heap_size(),
        }
    }
}

/// One flat object: keys in the order of the query, a key may come several times.
type Row = Vec<(Arc<str>, Item)>;

/// Writes the flat objects of the node at a place; `edge` is the one that led to it, where its
/// facets are wanted.
pub(crate) fn write_flat(
    writer: &mut AnswerWriter<'_, '_>,
    level: &Level,
    place: usize,
    edge: Option<&Edge<'_>>,
) -> Result<()> {
    if !level.is_alive(place) {
        return Ok(());
    }
    for row in rows(writer, level, place, edge, &mut Vec::new())? {
        if !row.is_empty() {
            write_row(writer, &row);
        }
    }
    Ok(())
}

fn write_row(writer: &mut AnswerWriter<'_, '_>, row: &Row) {
    writer.sink.begin_object();
    let mut written: Vec<&str> = Vec::with_capacity(row.len());
    for (key, item) in row {
        if written.contains(&&**key) {
            continue;
        }
        written.push(key);
        let same: Vec<&Item> =
            row.iter().filter(|(other, _)| other == key).map(|(_, item)| item).collect();
        writer.sink.key(key);
        if 1 < same.len() {
            writer.sink.begin_array();
            same.into_iter().for_each(|item| write_item(writer, item, true));
            writer.sink.end_array();
        } else {
            write_item(writer, item, false);
        }
    }
    writer.sink.end_object();
}

/// Writes an item; the elements of a list alone where it stands inside of an array.
fn write_item(writer: &mut AnswerWriter<'_, '_>, item: &Item, inside: bool) {
    let opens = !inside && matches!(item, Item::List(_) | Item::Groups(_));
    if opens {
        writer.sink.begin_array();
    }
    match item {
        Item::Value(value) => writer.sink.value(value.as_ref()),
        Item::Uid(uid) => writer.sink.uid(*uid),
        Item::Int(number) => writer.sink.int(*number),
        Item::Places(values) => {
            writer.sink.begin_object();
            for (place, value) in values {
                writer.sink.key(&place.to_string());
                writer.sink.value(value.as_ref());
            }
            writer.sink.end_object();
        }
        Item::List(values) => values.iter().for_each(|value| writer.sink.value(value.as_ref())),
        Item::Groups(found) => {
            let groups = GroupList::Rows(&found.groups);
            writer.group_objects(groups, 0..found.groups.len(), &found.labels);
        }
    }
    if opens {
        writer.sink.end_array();
    }
}

/// The flat objects of a node: the product of its own fields, with the facets of the edge that led
/// to it, and those of each nested list.
fn rows(
    writer: &mut AnswerWriter<'_, '_>,
    level: &Level,
    place: usize,
    edge: Option<&Edge<'_>>,
    path: &mut Vec<u32>,
) -> Result<Vec<Row>> {
    stack::require();
    let node = level.nodes[place];
    path.push(node);
    let mut own = Row::new();
    let mut lists = Vec::new();
    for result in &level.fields {
        match &result.data {
            FieldData::Edges(edges) if edges.groups.is_some() => {
                let groups = Groups::of(result, edges, place);
                lists.extend(groups.map(|it| vec![vec![("@groupby".into(), Item::Groups(it))]]));
            }
            FieldData::Edges(edges) => {
                let below = rows_below(writer, result, edges, (node, place), path)?;
                if !below.is_empty() {
                    lists.push(below);
                }
            }
            _ => own.extend(items(writer, level, place, result)?),
        }
    }
    path.pop();
    // An empty row and not none: facets of the edge alone make no object, and callers leave it out.
    if own.is_empty() && lists.is_empty() {
        return Ok(vec![own]);
    }
    if writer.options.debug && own.iter().all(|(key, _)| &**key != "uid") {
        own.push(("uid".into(), Item::Uid(writer.version.nodes.uid(node))));
    }
    own.extend(edge.into_iter().flat_map(|edge| edge_facets(edge, node)));
    if lists.is_empty() {
        return Ok(vec![own]);
    }
    let mut all = vec![own];
    for below in lists {
        let most = writer.options.normalize;
        if most < all.len().saturating_mul(below.len()) as u64 {
            return Err(too_many(most));
        }
        let (ours, theirs) = (bytes_of(&all), bytes_of(&below));
        let joined = ours.saturating_mul(below.len()) + theirs.saturating_mul(all.len());
        // The lists of the levels above, those that are multiplied, and what comes out.
        writer.hold(ours + theirs + joined.saturating_mul(2));
        all = product(&all, &below);
    }
    all.iter_mut().for_each(flatten);
    Ok(all)
}

/// The flat objects of a nested list.
fn rows_below(
    writer: &mut AnswerWriter<'_, '_>,
    result: &FieldResult,
    edges: &EdgeField,
    (node, place): (u32, usize),
    path: &mut Vec<u32>,
) -> Result<Vec<Row>> {
    let (mut below, mut bytes) = (Vec::<Row>::new(), 0);
    let edge = Edge::of(&result.field, edges, node);
    let targets = edges.targets_of(place);
    for &target in targets {
        let Some(place) = edges.level.place(target) else { continue };
        let again = writer.path.is_some() && path.contains(&target);
        if !edges.level.is_alive(place) || again {
            continue;
        }
        let found = rows(writer, &edges.level, place, edge.as_ref(), path)?;
        let known = below.len();
        below.extend(found.into_iter().filter(|row| !row.is_empty()));
        bytes += bytes_of(&below[known..]);
        writer.hold(2 * bytes);
        if writer.options.normalize < below.len() as u64 {
            return Err(too_many(writer.options.normalize));
        }
    }
    if !targets.is_empty() {
        let counts = counts_of(&edges.level).filter_map(|count| count.alias.as_deref());
        let count = targets.len() as i64;
        below.extend(counts.map(|alias| vec![(Arc::from(alias), Item::Int(count))]));
    }
    Ok(below)
}

/// Sorts the keys of an object that is a product of nested ones.
///
/// A uid without an alias goes, unless the object began with it, or with a key behind it in the
/// order: the reference looks for it from that key on.
fn flatten(row: &mut Row) {
    let keeps_uid = row.first().is_none_or(|(key, _)| "uid" <= &**key);
    row.sort_by(|(one, _), (other, _)| one.cmp(other));
    if !keeps_uid {
        row.retain(|(key, item)| !(&**key == "uid" && matches!(item, Item::Uid(_))));
    }
}

fn too_many(most: u64) -> Error {
    past_limit(&format!("@normalize would make more than {most} objects of one node"), "normalize")
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

/// The bytes that flat objects take in memory.
fn bytes_of(rows: &[Row]) -> usize {
    let in_row = |row: &Row| {
        let items = row.iter().map(|(_, item)| item.heap_size());
        size_of::<Row>() + row.len() * size_of::<(Arc<str>, Item)>() + items.sum::<usize>()
    };
    rows.iter().map(in_row).sum()
}

fn edge_facets(edge: &Edge<'_>, target: u32) -> Row {
    let found = edge.stored.all(edge.node, target);
    let facets = chosen(edge.facets, edge.key(), &found).into_iter();
    facets.map(|(key, value)| (key.into(), Item::Value(value.to_value()))).collect()
}

/// Returns what a field, which is no edge field, adds to a flat object: with an alias what it would add to any object;
/// else a uid, whether a password agrees, the values in all languages, and the facets of values.
fn items(
    writer: &AnswerWriter<'_, '_>,
    level: &Level,
    place: usize,
    result: &FieldResult,
) -> Result<Row> {
    let field = &result.field;
    let node = level.nodes[place];
    let shown = field.alias.is_some();
    let item = match &result.data {
        FieldData::Uid => Some(Item::Uid(writer.version.nodes.uid(node))),
        FieldData::Passwords(answers) => Some(Item::Value(Value::Bool(answers[place]))),
        FieldData::Counts(counts) if shown => Some(Item::Int(counts[place] as i64)),
        FieldData::Column(map) if shown => map.get(node).map(|value| Item::Value(value.to_value())),
        FieldData::Values(values) => return value_items(field, values, node),
        _ => None,
    };
    let key: Arc<str> = field.key.as_str().into();
    Ok(item.map(|item| (key, item)).into_iter().collect())
}

/// Returns what a field of values adds to a flat object.
fn value_items(field: &Field, values: &ValueField, node: u32) -> Result<Row> {
    let FieldKind::Predicate { name, langs, .. } = &field.kind else { return Ok(Row::new()) };
    let predicate = &values.predicate;
    if values.is_hidden(node) || predicate.def.value_type == ValueType::Password {
        return Ok(Row::new());
    }
    if langs.iter().any(|lang| lang == "*") {
        return all_langs(field, values, field.alias.as_deref().unwrap_or(name), node);
    }
    let shown = field.alias.is_some();
    if !shown && field.facets.is_none() {
        return Ok(Row::new());
    }
    let key: Arc<str> = field.key.as_str().into();
    if langs.is_empty() && field.facets.is_none() && 1 < predicate.untagged().len() {
        let mut found = predicate.untagged_values(node)?;
        let item = match found.len() {
            0 => return Ok(Row::new()),
            1 if !predicate.def.list => Item::Value(found.remove(0).as_ref().to_value()),
            _ => Item::List(found.iter().map(|value| value.as_ref().to_value()).collect()),
        };
        return Ok(vec![(key, item)]);
    }
    let convert = |value: ValueRef<'_>| {
        typed(value, predicate.def.value_type).map(|value| value.as_ref().to_value())
    };
    let Some((_, list)) = predicate.values_in(Langs::First(langs), node) else {
        return Ok(Row::new());
    };
    let places = values.places(node, list.len());
    let mut row = match &field.facets {
        Some(facets) => value_facets(facets, &field.key, predicate.def.list, &list, places.clone()),
        None => Row::new(),
    };
    if !shown {
        return Ok(row);
    }
    let item = match predicate.def.list {
        true => {
            let shown = places.map(|place| convert(list.get(place)));
            Item::List(shown.collect::<Result<_>>()?)
        }
        false => Item::Value(convert(list.get(0))?),
    };
    row.push((key, item));
    Ok(row)
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

fn all_langs(field: &Field, values: &ValueField, alias: &str, node: u32) -> Result<Row> {
    let mut row = Row::new();
    for (part, list) in values.in_all_langs(node) {
        let key: Arc<str> = match &*part.lang {
            "" => alias.into(),
            lang => format!("{alias}@{lang}").into(),
        };
        if let Some(facets) = &field.facets {
            row.extend(value_facets(facets, &key, false, &list, 0..1));
        }
        let value = typed(list.get(0), values.predicate.def.value_type)?;
        row.push((key, Item::Value(value.as_ref().to_value())));
    }
    Ok(row)
}
