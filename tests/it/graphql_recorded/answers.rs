//! Two answers made comparable: what only one of the languages says is left out, what is one node
//! in one and a list of one in the other is a list in both.

use super::world::World;
use regex::Regex;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Reads the answers to one operation.
pub struct Reader<'a> {
    world: &'a World,
    /// The keys of fields that aggregate.
    aggregates: BTreeSet<String>,
    /// The words of the operation: what is none of them was not asked for.
    words: BTreeSet<String>,
}

static AGGREGATE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"AggregateResult\.\w+?_\w+?\.(\w+) :").unwrap());

impl<'a> Reader<'a> {
    pub fn new(world: &'a World, dql: &str, operation: &str) -> Reader<'a> {
        let aggregates = AGGREGATE.captures_iter(dql).map(|result| result[1].to_owned()).collect();
        // An argument is no field.
        let words = operation.replace("(id: \"", "").replace("(postID: \"", "");
        let words = words.split(|c: char| !c.is_alphanumeric() && c != '_');
        Reader { world, aggregates, words: words.map(str::to_owned).collect() }
    }

    /// A value that GraphQL answered; null for one that is as good as none.
    pub fn graphql(&self, value: &Value) -> Value {
        match value {
            Value::Array(items) if items.is_empty() => Value::Null,
            Value::Array(items) => items.iter().map(|item| self.element(item)).collect(),
            Value::Object(_) => json!([self.element(value)]),
            value => scalar(value),
        }
    }

    fn element(&self, value: &Value) -> Value {
        let Value::Object(map) = value else { return scalar(value) };
        let mut result = Map::new();
        for (key, value) in map.iter().filter(|(key, _)| *key != "__typename") {
            let value = self.graphql(value);
            let is_aggregate = self.aggregates.contains(key) || key.ends_with("Aggregate");
            let is_empty = is_aggregate && value == json!([{}]);
            if !value.is_null() && !is_empty {
                result.insert(key.clone(), value);
            }
        }
        Value::Object(result)
    }

    /// A value that DQL answered.
    pub fn dql(&self, value: &Value) -> Value {
        match value {
            Value::Array(items) if items.is_empty() => Value::Null,
            Value::Array(items) => {
                let items = items.iter().map(|item| match item {
                    Value::Object(map) => self.node(map),
                    value => scalar(value),
                });
                items.collect()
            }
            Value::Object(map) => match map.get("coordinates") {
                Some(coordinates) => json!([geometry(&map["type"], coordinates)]),
                None => json!([self.node(map)]),
            },
            value => scalar(value),
        }
    }

    fn node(&self, map: &Map<String, Value>) -> Value {
        let mut result = Map::new();
        for (key, value) in map {
            let (ty, key) = key.split_once('.').unwrap_or(("", key));
            if ty == "dgraph" || !self.is_of(map, ty) {
                continue;
            }
            if let Some((key, field)) =
                key.split_once('_').filter(|_| ty.ends_with("AggregateResult"))
            {
                let field = field.split_once('.').unwrap().1;
                let inner = result.entry(field).or_insert_with(|| json!([{}]));
                inner[0][key] = scalar(value);
            } else if !self.aggregates.contains(key) && self.words.contains(key) {
                let value = self.dql(value);
                if !value.is_null() {
                    result.insert(key.to_owned(), value);
                }
            }
        }
        for key in &self.aggregates {
            // Null is nothing.
            if let Some(inner) = result.get_mut(key) {
                let inner = inner[0].as_object_mut().unwrap();
                inner.retain(|_, value| !value.is_null());
                if inner.is_empty() {
                    result.remove(key);
                }
            }
        }
        Value::Object(result)
    }

    /// Whether a node whose types are told is of a type.
    fn is_of(&self, map: &Map<String, Value>, ty: &str) -> bool {
        let name = self.world.model.get(ty).map(|def| def.dgraph_type.as_str());
        match (map.get("dgraph.type").and_then(Value::as_array), name) {
            (Some(types), Some(name)) => types.iter().any(|ty| ty == name),
            _ => true,
        }
    }
}

/// The parts of a root aggregate, which come as objects of one value.
pub fn gathered(value: &Value) -> Value {
    let parts = value.as_array().into_iter().flatten().filter_map(Value::as_object);
    let full: Map<String, Value> = parts.flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
    json!([full])
}

fn scalar(value: &Value) -> Value {
    value.as_f64().map_or_else(|| value.clone(), |number| json!(number))
}

/// A geometry as GraphQL tells it.
fn geometry(kind: &Value, coordinates: &Value) -> Value {
    let items = |value: &Value| value.as_array().unwrap().clone();
    let point =
        |value: &Value| json!({"longitude": scalar(&value[0]), "latitude": scalar(&value[1])});
    let polygon = |value: &Value| {
        let rings = items(value)
            .iter()
            .map(|ring| json!({"points": items(ring).iter().map(point).collect::<Vec<_>>()}))
            .collect::<Vec<_>>();
        json!({ "coordinates": rings })
    };
    match kind.as_str().unwrap() {
        "Point" => point(coordinates),
        "Polygon" => polygon(coordinates),
        _ => json!({"polygons": items(coordinates).iter().map(polygon).collect::<Vec<_>>()}),
    }
}
