//! A graph in memory, made from the `graph` of a scenario.

use crate::ast::Direction;
use crate::execute::Graph;
use hexgraph_base::types::{Error, Result};
use hexgraph_scalar::{Map, Relationship, Value, function};
use serde_json::Value as Json;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Default)]
struct NodeData {
    labels: Vec<Arc<str>>,
    properties: Option<Map>,
    outgoing: Vec<Relationship>,
    incoming: Vec<Relationship>,
}

/// Nodes by their ids, with limits that stop a query.
#[derive(Debug)]
pub(crate) struct MemoryGraph {
    nodes: BTreeMap<u64, NodeData>,
    types: Vec<Arc<str>>,
    relationships: BTreeMap<(u64, u32, u64), Map>,
    /// How often [`Graph::check`] may be called.
    pub(crate) checks_left: Cell<u64>,
    /// The memory that may be reserved.
    pub(crate) bytes_left: Cell<usize>,
}

/// Nodes in a batch: a small number, so that tests see several batches.
const BATCH: usize = 3;

fn key(it: Relationship) -> (u64, u32, u64) {
    (it.subject, it.type_id, it.object)
}

fn map(json: &Json) -> Map {
    let entries = json.as_object().unwrap().iter();
    Map::new(entries.map(|(key, value)| (key.as_str().into(), decode(value))).collect()).unwrap()
}

/// Reads a value as the scenarios write it.
pub(crate) fn decode(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(int) => Value::Int(int),
            None => Value::Float(number.as_f64().unwrap()),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(decode).collect()).unwrap(),
        Json::Object(object) => match object.iter().next() {
            Some((kind, body)) if kind == "map" => Value::Map(map(body)),
            Some((kind, body)) if kind == "float" => match body.as_str().unwrap() {
                "NaN" => Value::Float(f64::NAN),
                "Infinity" => Value::Float(f64::INFINITY),
                _ => Value::Float(f64::NEG_INFINITY),
            },
            Some((kind, body)) => {
                let text = Value::from(body.as_str().unwrap());
                function(kind).unwrap().call(&[text], &super::context()).unwrap()
            }
            None => panic!("no value: {json}"),
        },
    }
}

impl MemoryGraph {
    /// Creates a graph from `{"nodes": [...], "edges": [...]}`.
    pub(crate) fn new(graph: &Json) -> MemoryGraph {
        let mut result = MemoryGraph {
            nodes: BTreeMap::new(),
            types: Vec::new(),
            relationships: BTreeMap::new(),
            checks_left: Cell::new(u64::MAX),
            bytes_left: Cell::new(64 << 20),
        };
        for node in graph["nodes"].as_array().unwrap() {
            let mut labels: Vec<Arc<str>> = Vec::new();
            labels.extend(
                node["labels"].as_array().unwrap().iter().map(|it| it.as_str().unwrap().into()),
            );
            labels.sort();
            let data =
                NodeData { labels, properties: Some(map(&node["props"])), ..NodeData::default() };
            result.nodes.insert(node["id"].as_u64().unwrap(), data);
        }
        for edge in graph["edges"].as_array().unwrap() {
            let (subject, object) = (edge["src"].as_u64().unwrap(), edge["dst"].as_u64().unwrap());
            let type_id = result.type_id(edge["type"].as_str().unwrap());
            let it = Relationship { subject, object, type_id };
            result.relationships.insert(key(it), map(&edge["props"]));
            result.nodes.entry(subject).or_default().outgoing.push(it);
            result.nodes.entry(object).or_default().incoming.push(it);
        }
        result
    }

    fn type_id(&mut self, name: &str) -> u32 {
        let index = self.types.iter().position(|it| &**it == name).unwrap_or_else(|| {
            self.types.push(name.into());
            self.types.len() - 1
        });
        index as u32
    }

    fn batch(&self, after: Option<u64>, into: &mut Vec<u64>, has: impl Fn(&NodeData) -> bool) {
        let from = after.map_or(0, |it| it + 1);
        let matching = self.nodes.range(from..).filter(|(_, data)| has(data));
        into.extend(matching.take(BATCH).map(|(id, _)| *id));
    }
}

fn has(data: &NodeData, label: &str) -> bool {
    data.labels.iter().any(|it| &**it == label)
}

impl Graph for MemoryGraph {
    fn nodes(&self, after: Option<u64>, into: &mut Vec<u64>) -> Result<()> {
        self.batch(after, into, |_| true);
        Ok(())
    }

    fn node_count(&self) -> Result<u64> {
        Ok(self.nodes.len() as u64)
    }

    fn nodes_with_label(&self, label: &str, after: Option<u64>, into: &mut Vec<u64>) -> Result<()> {
        self.batch(after, into, |data| has(data, label));
        Ok(())
    }

    fn label_count(&self, label: &str) -> Result<u64> {
        Ok(self.nodes.values().filter(|data| has(data, label)).count() as u64)
    }

    /// The properties whose names begin with `i` have an index.
    fn find(&self, _: Option<&str>, property: &str, value: &Value) -> Result<Option<Vec<u64>>> {
        if !property.starts_with('i') {
            return Ok(None);
        }
        let ids = self.nodes.iter().filter(|(_, data)| {
            data.properties.as_ref().and_then(|it| it.get(property)).is_some_and(|it| it == value)
        });
        Ok(Some(ids.map(|(id, _)| *id).collect()))
    }

    fn labels(&self, node: u64) -> Result<Vec<Arc<str>>> {
        Ok(self.nodes[&node].labels.clone())
    }

    fn has_label(&self, node: u64, label: &str) -> Result<bool> {
        Ok(has(&self.nodes[&node], label))
    }

    fn property(&self, node: u64, name: &str) -> Result<Value> {
        let properties = self.nodes[&node].properties.as_ref();
        Ok(properties.and_then(|it| it.get(name)).cloned().unwrap_or(Value::Null))
    }

    fn properties(&self, node: u64) -> Result<Map> {
        Ok(self.nodes[&node].properties.clone().unwrap_or_else(|| map(&serde_json::json!({}))))
    }

    fn relationship_types(&self) -> Result<Vec<Arc<str>>> {
        Ok(self.types.clone())
    }

    fn expand(
        &self,
        node: u64,
        direction: Direction,
        types: Option<&[u32]>,
        into: &mut Vec<(Relationship, u64)>,
    ) -> Result<()> {
        let data = &self.nodes[&node];
        let passes = |it: &Relationship| types.is_none_or(|types| types.contains(&{ it.type_id }));
        if direction != Direction::In {
            let outgoing = data.outgoing.iter().filter(|it| passes(it));
            into.extend(outgoing.map(|it| (*it, it.object)));
        }
        if direction != Direction::Out {
            let is_new = |it: &Relationship| direction == Direction::In || it.subject != it.object;
            let incoming = data.incoming.iter().filter(|it| passes(it) && is_new(it));
            into.extend(incoming.map(|it| (*it, it.subject)));
        }
        Ok(())
    }

    fn has_relationship(&self, relationship: Relationship) -> Result<bool> {
        Ok(self.relationships.contains_key(&key(relationship)))
    }

    fn relationship_property(&self, relationship: Relationship, name: &str) -> Result<Value> {
        let properties = &self.relationships[&key(relationship)];
        Ok(properties.get(name).cloned().unwrap_or(Value::Null))
    }

    fn relationship_properties(&self, relationship: Relationship) -> Result<Map> {
        Ok(self.relationships[&key(relationship)].clone())
    }

    fn check(&self) -> Result<()> {
        let left = self.checks_left.get().checked_sub(1);
        let limit = || Error::Limit { message: "the query is beyond timeout".to_owned() };
        self.checks_left.set(left.ok_or_else(limit)?);
        Ok(())
    }

    fn reserve(&self, bytes: usize) -> Result<()> {
        let left = self.bytes_left.get().checked_sub(bytes);
        let limit = || Error::Limit { message: "the query is beyond query_memory".to_owned() };
        self.bytes_left.set(left.ok_or_else(limit)?);
        Ok(())
    }

    fn release(&self, bytes: usize) {
        self.bytes_left.set(self.bytes_left.get() + bytes);
    }
}

#[test]
fn a_node_is_expanded_in_each_direction() {
    let graph = MemoryGraph::new(&serde_json::json!({
        "nodes": [{"id": 0, "labels": ["A"], "props": {}}, {"id": 1, "labels": [], "props": {}}],
        "edges": [{"src": 0, "dst": 1, "type": "T", "props": {}}, {"src": 0, "dst": 0, "type": "U", "props": {}}],
    }));
    let count = |direction, types| {
        let mut into = Vec::new();
        graph.expand(0, direction, types, &mut into).unwrap();
        into.len()
    };
    assert_eq!(count(Direction::Either, None), 2);
    assert_eq!((count(Direction::Out, None), count(Direction::In, None)), (2, 1));
    assert_eq!(count(Direction::Either, Some(&[0])), 1);
    assert_eq!(graph.types_named("U").unwrap(), [1]);
}
