//! The finished trees as JSON. What is empty does not show.

use super::facets::shown;
use super::normalize::flat_objects;
use super::state::{
    BlockResult, Data, Edges, Group, GroupKey, Level, Outcome, Path, Shown, Twin, TwinOutcome,
};
use crate::twin::json;
use hexgraph::internals::plan;
use hexgraph::internals::plan::{Block, BlockKind, Field, FieldKind, GroupBy};
use serde_json::{Map, Value as Json};
use std::sync::Arc;

/// An object.
pub type Object = Map<String, Json>;

impl Twin<'_> {
    /// The answer of a request.
    pub fn write(&self, results: &[BlockResult<'_>]) -> Outcome<Json> {
        let mut answer = Object::new();
        for result in results {
            let block = result.block;
            match &block.kind {
                BlockKind::Hidden | BlockKind::Shortest(_) => {}
                _ => self.write_block(result, &mut answer)?,
            }
        }
        for result in results.iter().filter(|result| !result.paths.is_empty()) {
            let paths = result.paths.iter().map(|path| self.path(result.block, path));
            answer.insert("_path_".to_owned(), Json::Array(paths.collect()));
        }
        Ok(Json::Object(answer))
    }

    fn write_block(&self, result: &BlockResult<'_>, answer: &mut Object) -> Outcome<()> {
        let block = result.block;
        if let (Some(groups), Some(group_by)) = (&result.groups, &block.group_by) {
            if !groups.is_empty() {
                answer.insert(block.name.clone(), group_list(groups, group_by, &block.fields));
            }
            return Ok(());
        }
        let mut array = Vec::new();
        if block.kind == BlockKind::Empty {
            for hit in &result.level.fields {
                let Data::Computed(map) = &hit.data else { continue };
                let value = map.constant.as_ref().map_or(Json::Null, json::value);
                array.push(object_of(&hit.field.key, value));
            }
        } else {
            for field in counts_of(&result.level) {
                let count = Json::from(result.roots.len());
                array.push(object_of(field.alias.as_deref().unwrap_or("count"), count));
            }
            for root in &result.roots {
                let mut path = Vec::new();
                let reflex = block.ignore_reflex;
                if block.normalize {
                    array.extend(flat_objects(self, &result.level, *root, reflex, Vec::new())?);
                } else if let Some(object) = self.object(&result.level, *root, reflex, &mut path)? {
                    array.push(Json::Object(object));
                }
            }
        }
        answer.insert(block.name.clone(), Json::Array(array));
        Ok(())
    }

    /// The object of a node; `None` when nothing shows. `path` is the nodes above.
    pub fn object(
        &self,
        level: &Level,
        node: u64,
        reflex: bool,
        path: &mut Vec<u64>,
    ) -> Outcome<Option<Object>> {
        if level.dead.contains(&node) || reflex && path.contains(&node) {
            return Ok(None);
        }
        path.push(node);
        let mut object = Object::new();
        for result in &level.fields {
            let field = &result.field;
            match &result.data {
                Data::Nothing | Data::CountUid => {}
                Data::Uid => {
                    object.insert(field.key.clone(), json::uid(node));
                }
                Data::Counts(counts) => {
                    add_to_key(&mut object, &field.key, Json::from(counts[&node]));
                }
                Data::Computed(map) => {
                    let is_constant = map.constant.is_some();
                    let hidden = is_constant && matches!(field.kind, FieldKind::Val(_));
                    if let (Some(value), false) = (map.get(node), hidden) {
                        add_to_key(&mut object, &field.key, json::value(value));
                    }
                }
                Data::Values(values) => {
                    let mut all: Vec<&Shown> = values.get(&node).into_iter().flatten().collect();
                    // Untagged ones come last.
                    all.sort_by_key(|(lang, _)| lang.is_none());
                    for shown in all {
                        self.values_json(field, shown, &mut object);
                    }
                }
                Data::Edges(edges) => {
                    let result = self.edges_json(field, edges, node, reflex, path)?;
                    object.extend(result.map(|value| (field.key.clone(), value)));
                }
            }
        }
        path.pop();
        Ok(Some(object).filter(|object| !object.is_empty()))
    }

    fn values_json(&self, field: &Field, (lang, values): &Shown, object: &mut Object) {
        let FieldKind::Predicate { name, langs, .. } = &field.kind else { return };
        let star = langs.iter().any(|lang| lang == "*");
        let plain = field.alias.as_deref().unwrap_or(name);
        let key = match lang {
            Some(lang) => format!("{plain}@{lang}"),
            None if star => plain.to_owned(),
            None => field.key.clone(),
        };
        let is_list = self.definition(name).is_some_and(|definition| definition.list);
        if let Some(expected) = &field.facets {
            for (position, (_, facets)) in values.iter().enumerate() {
                for (key, value) in shown(expected, &key, facets) {
                    if !is_list {
                        // One alias for the values of several languages.
                        add_to_key(object, &key, json::value(value));
                        continue;
                    }
                    let by_position =
                        object.entry(key).or_insert_with(|| Json::Object(Object::new()));
                    by_position[position.to_string()] = json::value(value);
                }
            }
        }
        let mut all: Vec<Json> = values.iter().map(|(value, _)| json::value(value)).collect();
        let is_list = is_list || 1 < all.len();
        if is_list {
            object.insert(key, Json::Array(all));
        } else {
            // `l@en l@*` shows one value twice.
            add_to_key(object, &key, all.remove(0));
        }
    }

    fn edges_json(
        &self,
        field: &Field,
        edges: &Edges,
        node: u64,
        reflex: bool,
        path: &mut Vec<u64>,
    ) -> Outcome<Option<Json>> {
        if let (Some(groups), Some(group_by)) = (&edges.groups, &field.group_by) {
            let groups = groups.get(&node).filter(|groups| !groups.is_empty());
            return Ok(groups.map(|groups| group_list(groups, group_by, &field.fields)));
        }
        let targets = edges.lists.get(&node).map_or(&[][..], Vec::as_slice);
        let mut array = Vec::new();
        for target in targets {
            if field.normalize {
                let facets = self.edge_facets_json(field, edges, node, *target);
                array.extend(flat_objects(self, &edges.below, *target, reflex, facets)?);
                continue;
            }
            let Some(mut object) = self.object(&edges.below, *target, reflex, path)? else {
                continue;
            };
            object.extend(self.edge_facets_json(field, edges, node, *target));
            array.push(Json::Object(object));
        }
        for count in counts_of(&edges.below).filter(|_| !targets.is_empty()) {
            let key = count.alias.as_deref().unwrap_or("count");
            array.push(object_of(key, Json::from(targets.len())));
        }
        let is_list = edges.reverse
            || field.normalize
            || self.definition(&edges.name).is_some_and(|definition| definition.list)
            || counts_of(&edges.below).next().is_some();
        Ok(match array.is_empty() {
            true => None,
            false if is_list => Some(Json::Array(array)),
            false => Some(array.remove(0)),
        })
    }

    /// The facets of an edge that show in the object it leads to.
    pub fn edge_facets_json(
        &self,
        field: &Field,
        edges: &Edges,
        node: u64,
        target: u64,
    ) -> Vec<(String, Json)> {
        let Some(expected) = &field.facets else { return Vec::new() };
        let facets = self.edge_facets(&edges.name, edges.reverse, node, target);
        let all = shown(expected, &field.key, &facets);
        all.into_iter().map(|(key, value)| (key, json::value(value))).collect()
    }

    fn path(&self, block: &Block, path: &Path) -> Json {
        let mut inner: Option<(String, Json)> = None;
        for (position, node) in path.nodes.iter().enumerate().rev() {
            let mut object = Object::new();
            object.extend(inner.take());
            object.insert("uid".to_owned(), json::uid(*node));
            let Some(before) = position.checked_sub(1) else {
                object.insert("_weight_".to_owned(), Json::from(path.weight));
                return Json::Object(object);
            };
            let field = &block.fields[path.hops[before]];
            if let (Some(expected), FieldKind::Predicate { name, reverse, .. }) =
                (&field.facets, &field.kind)
            {
                let facets = self.edge_facets(name, *reverse, path.nodes[before], *node);
                let all = shown(expected, &path_key(field), &facets);
                object.extend(all.into_iter().map(|(key, value)| (key, json::value(value))));
            }
            inner = Some((path_key(field), Json::Object(object)));
        }
        Json::Null
    }
}

/// A path shows predicates, whatever their aliases.
fn path_key(field: &Field) -> String {
    match &field.kind {
        FieldKind::Predicate { name, reverse: true, .. } => format!("~{name}"),
        FieldKind::Predicate { name, .. } => name.clone(),
        _ => field.key.clone(),
    }
}

/// Fields that have one key are one array.
fn add_to_key(object: &mut Object, key: &str, value: Json) {
    match object.get_mut(key) {
        None => {
            object.insert(key.to_owned(), value);
        }
        Some(Json::Array(values)) => values.push(value),
        Some(existing) => *existing = Json::Array(vec![existing.take(), value]),
    }
}

fn object_of(key: &str, value: Json) -> Json {
    Json::Object(Object::from_iter([(key.to_owned(), value)]))
}

/// The fields `count(uid)` of a level.
fn counts_of(level: &Level) -> impl Iterator<Item = &Field> {
    let counts = |result: &&TwinOutcome| matches!(result.data, Data::CountUid);
    level.fields.iter().filter(counts).map(|result| &*result.field)
}

fn group_list(groups: &[Group], group_by: &GroupBy, body: &[Arc<Field>]) -> Json {
    let list = Json::Array(group_objects(groups, group_by, body));
    Json::Array(vec![object_of("@groupby", list)])
}

/// The objects of groups.
pub fn group_objects(groups: &[Group], group_by: &GroupBy, body: &[Arc<Field>]) -> Vec<Json> {
    let names: Vec<[String; 2]> =
        group_by.keys.iter().map(key_names).chain(body.iter().map(|it| result_names(it))).collect();
    // The short name, unless another one is the same.
    let name_of = |position: usize| {
        let [short, long] = &names[position];
        let is_only = names.iter().filter(|[other, _]| other == short).count() == 1;
        if is_only { short.clone() } else { long.clone() }
    };
    let object = |group: &Group| {
        let mut object = Object::new();
        for (position, value) in group.keys.iter().enumerate() {
            let value = match value {
                GroupKey::Node(node) => json::uid(*node),
                GroupKey::Value(value) => json::value(value),
            };
            object.insert(name_of(position), value);
        }
        for (position, value) in group.results.iter().enumerate() {
            if let Some(value) = value {
                object.insert(name_of(group.keys.len() + position), json::value(value));
            }
        }
        Json::Object(object)
    };
    groups.iter().map(object).collect()
}

fn suffix(langs: &[String]) -> String {
    if langs.is_empty() { String::new() } else { format!("@{}", langs.join(":")) }
}

/// The name of a key, without and with its languages.
fn key_names(key: &plan::GroupKey) -> [String; 2] {
    match &key.alias {
        Some(alias) => [alias.clone(), alias.clone()],
        None => [key.predicate.clone(), format!("{}{}", key.predicate, suffix(&key.langs))],
    }
}

fn result_names(field: &Field) -> [String; 2] {
    match (&field.alias, &field.kind) {
        (Some(alias), _) => [alias.clone(), alias.clone()],
        (None, FieldKind::CountUid) => ["count".to_owned(), "count".to_owned()],
        (None, FieldKind::AggregatePredicate { op, name, langs }) => {
            [op.call(name), op.call(&format!("{name}{}", suffix(langs)))]
        }
        (None, _) => [field.key.clone(), field.key.clone()],
    }
}
