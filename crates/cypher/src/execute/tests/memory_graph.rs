//! A graph in memory, made from the `graph` of a scenario.

use crate::ast::Direction;
use crate::execute::{
    Adjacency, Cell, Dictionary, Graph, IndexAccess, IndexEstimate, IndexTest, Lists,
    PropertyColumn, Vector,
};
use crate::procedures::{AlgorithmColumn, AlgorithmRequest, AlgorithmRows, NameList};
use hexgraph_base::types::{DateTime, Error, Result};
use hexgraph_scalar::{Map, Relationship, TextTest, Value, compare, equals, function, text_test};
use serde_json::Value as Json;
use std::borrow::Cow;
use std::cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex};

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
    pub(crate) checks_left: cell::Cell<u64>,
    /// The memory that may be reserved.
    pub(crate) bytes_left: cell::Cell<usize>,
    /// How many algorithms ran.
    pub(crate) runs: cell::Cell<usize>,
    lists: Option<MemoryLists>,
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
            checks_left: cell::Cell::new(u64::MAX),
            bytes_left: cell::Cell::new(64 << 20),
            runs: cell::Cell::new(0),
            lists: None,
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

/// The lists of a [`MemoryGraph`], where the number of a node is its id.
#[derive(Debug, Default)]
pub(crate) struct MemoryLists {
    labels: BTreeMap<Arc<str>, Vec<u32>>,
    nodes: Vec<u32>,
    /// By type and whether they are inverse; odd types have none from objects to subjects.
    lists: BTreeMap<(u32, bool), NodeLists>,
    properties: BTreeMap<u32, Map>,
    /// By subject, type and object.
    relationships: BTreeMap<(u64, u32, u64), Map>,
    /// How often [`Adjacency::check`] may be called, and the memory that may be reserved.
    left: Mutex<(u64, usize)>,
}

#[derive(Debug, Default)]
struct NodeLists(BTreeMap<u32, Vec<u32>>);

impl MemoryGraph {
    /// Adds lists for joins, with limits on checks and bytes.
    pub(crate) fn with_lists(mut self, checks: u64, bytes: usize) -> MemoryGraph {
        let mut result = MemoryLists { left: Mutex::new((checks, bytes)), ..Default::default() };
        for (&id, data) in &self.nodes {
            let id = u32::try_from(id).unwrap();
            result.nodes.push(id);
            result.properties.extend(data.properties.clone().map(|it| (id, it)));
            for label in &data.labels {
                result.labels.entry(label.clone()).or_default().push(id);
            }
            for it in &data.outgoing {
                let (subject, object) = (it.subject as u32, it.object as u32);
                let mut add = |key, from, to| {
                    let list: &mut Vec<u32> =
                        result.lists.entry(key).or_default().0.entry(from).or_default();
                    list.push(to);
                    list.sort_unstable();
                };
                add((it.type_id, false), subject, object);
                if it.type_id.is_multiple_of(2) {
                    add((it.type_id, true), object, subject);
                }
            }
        }
        result.relationships = self.relationships.clone();
        self.lists = Some(result);
        self
    }
}

impl Lists for NodeLists {
    fn list(&self, node: u32) -> Cow<'_, [u32]> {
        Cow::Borrowed(self.0.get(&node).map(Vec::as_slice).unwrap_or_default())
    }

    fn nodes(&self) -> Vec<u32> {
        self.0.keys().copied().collect()
    }

    fn count(&self) -> usize {
        self.0.len()
    }

    fn total(&self) -> u64 {
        self.0.values().map(|it| it.len() as u64).sum()
    }
}

impl Adjacency for MemoryLists {
    fn number(&self, node: u64) -> Option<u32> {
        u32::try_from(node).ok()
    }

    fn node(&self, number: u32) -> u64 {
        number.into()
    }

    fn all(&self) -> Result<Vec<u32>> {
        self.reserve(4 * self.nodes.len())?;
        Ok(self.nodes.clone())
    }

    fn labelled(&self, label: &str) -> Result<Vec<u32>> {
        let nodes = self.labels.get(label).cloned().unwrap_or_default();
        self.reserve(4 * nodes.len())?;
        Ok(nodes)
    }

    fn lists(&self, type_id: u32, inverse: bool) -> Option<&dyn Lists> {
        self.lists.get(&(type_id, inverse)).map(|it| it as &dyn Lists)
    }

    fn property<'g>(&'g self, name: &str, by_day: bool) -> Box<dyn PropertyColumn + 'g> {
        Box::new(MemoryColumn { lists: self, name: name.into(), by_day, days: BTreeMap::new() })
    }

    /// Names of an odd length have no column.
    fn relationship_values(
        &self,
        type_id: u32,
        name: &str,
        pairs: &[(u32, u32)],
    ) -> Result<Option<Vector<'_>>> {
        let cell = |(subject, object): &(u32, u32)| {
            let key = (u64::from(*subject), type_id, u64::from(*object));
            cell_of(self.relationships[&key].get(name))
        };
        let cells = pairs.iter().map(cell).collect::<Option<Vec<_>>>();
        Ok(cells.filter(|_| name.len().is_multiple_of(2)).map(Vector::of_cells))
    }

    fn check(&self) -> Result<()> {
        let mut left = self.left.lock().unwrap();
        let limit = || Error::Limit { message: "the query is beyond timeout".to_owned() };
        left.0 = left.0.checked_sub(1).ok_or_else(limit)?;
        Ok(())
    }

    fn reserve(&self, bytes: usize) -> Result<()> {
        let mut left = self.left.lock().unwrap();
        let limit = || Error::Limit { message: "the query is beyond query_memory".to_owned() };
        left.1 = left.1.checked_sub(bytes).ok_or_else(limit)?;
        Ok(())
    }

    fn release(&self, bytes: usize) {
        self.left.lock().unwrap().1 += bytes;
    }

    fn threads(&self) -> usize {
        2
    }

    /// In ranges of two items, the last one first.
    fn parts(
        &self,
        items: usize,
        _: usize,
        work: &(dyn Fn(Range<usize>) -> Result<()> + Sync),
    ) -> Result<()> {
        let starts: Vec<usize> = (0..items).step_by(2).collect();
        starts.into_iter().rev().try_for_each(|start| work(start..items.min(start + 2)))
    }
}

fn cell_of(value: Option<&Value>) -> Option<Cell<'_>> {
    Some(match value {
        None | Some(Value::Null) => Cell::Null,
        Some(Value::Bool(truth)) => Cell::Bool(*truth),
        Some(Value::Int(number)) => Cell::Int(*number),
        Some(Value::Float(number)) => Cell::Float(*number),
        Some(Value::String(text)) => Cell::Text(text),
        Some(Value::DateTime(time)) => {
            let (instant, offset) = (time.timestamp(), time.offset().seconds() / 60);
            let nanos = instant.subsec_nanosecond().into();
            let time = DateTime::from_unix(instant.as_second(), nanos);
            Cell::Time(DateTime { offset_minutes: offset as i16, ..time })
        }
        Some(_) => return None,
    })
}

struct MemoryColumn<'a> {
    lists: &'a MemoryLists,
    name: String,
    by_day: bool,
    /// The code of the first instant of each day.
    days: BTreeMap<String, u32>,
}

impl PropertyColumn for MemoryColumn<'_> {
    /// Names of an odd length have no column.
    fn vector(&self, nodes: &[u32]) -> Result<Option<Vector<'_>>> {
        assert!(nodes.is_sorted());
        let mut cells = Vec::new();
        for node in nodes {
            let value = self.lists.properties.get(node).and_then(|it| it.get(&self.name));
            let Some(cell) = cell_of(value) else { return Ok(None) };
            cells.push(cell);
        }
        Ok(self.name.len().is_multiple_of(2).then(|| Vector::of_cells(cells)))
    }

    /// Names of an odd length have no column.
    fn codes(
        &mut self,
        nodes: &[u32],
        dictionary: &mut Dictionary,
        into: &mut Vec<u32>,
    ) -> Result<bool> {
        assert!(nodes.is_sorted());
        if !self.name.len().is_multiple_of(2) {
            return Ok(false);
        }
        for node in nodes {
            let value = self.lists.properties.get(node).and_then(|it| it.get(&self.name));
            let value = value.cloned().unwrap_or(Value::Null);
            let code = match &value {
                Value::DateTime(time) if self.by_day => {
                    let day = format!("{} {}", time.date(), time.offset());
                    *self.days.entry(day).or_insert_with(|| dictionary.value(value.clone()))
                }
                _ => dictionary.value(value),
            };
            into.push(code);
        }
        Ok(true)
    }
}

impl Graph for MemoryGraph {
    fn adjacency(&self) -> Option<&dyn Adjacency> {
        self.lists.as_ref().map(|it| it as &dyn Adjacency)
    }

    fn nodes(&self, after: Option<u64>, into: &mut Vec<u64>) -> Result<()> {
        self.batch(after, into, |_| true);
        Ok(())
    }

    fn node_count(&self) -> Result<u64> {
        Ok(self.nodes.len() as u64)
    }

    fn has_node(&self, node: u64) -> Result<bool> {
        Ok(self.nodes.contains_key(&node))
    }

    fn nodes_with_label(&self, label: &str, after: Option<u64>, into: &mut Vec<u64>) -> Result<()> {
        self.batch(after, into, |data| has(data, label));
        Ok(())
    }

    fn label_count(&self, label: &str) -> Result<u64> {
        Ok(self.nodes.values().filter(|data| has(data, label)).count() as u64)
    }

    /// The properties whose names begin with `i` have an index, though none of points.
    fn find(&self, property: &str, test: &IndexTest) -> Result<Option<Vec<u64>>> {
        if !property.starts_with('i') || matches!(test, IndexTest::Near(..)) {
            return Ok(None);
        }
        let ids = self.nodes.iter().filter(|(_, data)| {
            let value = data.properties.as_ref().and_then(|it| it.get(property));
            value.is_some_and(|value| passes(value, test))
        });
        Ok(Some(ids.map(|(id, _)| *id).collect()))
    }

    fn estimate(&self, property: &str, test: &IndexTest) -> Result<Option<IndexEstimate>> {
        let access = match test {
            IndexTest::AnyOf(_) => IndexAccess::Values,
            IndexTest::Range(_) | IndexTest::Text(TextTest::StartsWith, _) => IndexAccess::Range,
            IndexTest::Text(..) | IndexTest::Matches(_) => IndexAccess::Trigrams,
            IndexTest::Near(..) => IndexAccess::Cells,
        };
        let nodes = self.find(property, test)?.map(|it| it.len() as u64);
        Ok(nodes.map(|nodes| IndexEstimate { access, nodes }))
    }

    fn nodes_per_test(&self, property: &str, _: IndexAccess) -> Result<Option<u64>> {
        Ok(property.starts_with('i').then_some(1))
    }

    fn affords(&self, bytes: usize) -> bool {
        bytes <= self.bytes_left.get()
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

    fn names(&self, list: NameList) -> Result<Vec<Arc<str>>> {
        let keys = |data: &NodeData| -> Vec<Arc<str>> {
            let entries = data.properties.iter().flat_map(|it| it.entries());
            entries.map(|(key, _)| key.clone()).collect()
        };
        let names: BTreeSet<_> = match list {
            NameList::Labels => self.nodes.values().flat_map(|it| it.labels.clone()).collect(),
            NameList::RelationshipTypes => self.types.iter().cloned().collect(),
            NameList::PropertyKeys => self.nodes.values().flat_map(keys).collect(),
        };
        Ok(names.into_iter().collect())
    }

    /// The outgoing edges of each node that has edges, for `degree` without options; others are
    /// refused.
    fn algorithm(&self, request: &AlgorithmRequest) -> Result<AlgorithmRows> {
        self.runs.set(self.runs.get() + 1);
        let name = request.call.algorithm.name;
        if name != "degree" || request.weight.is_some() || request.labels.is_some() {
            return Err(Error::query(format!("the graph of a test does not run `{name}` so")));
        }
        let passes = |it: &&Relationship| request.types.contains(&it.type_id);
        let has_edge =
            |data: &NodeData| data.outgoing.iter().chain(&data.incoming).any(|it| passes(&it));
        let nodes = || self.nodes.iter().filter(|(_, data)| has_edge(data));
        let degree = |data: &NodeData| data.outgoing.iter().filter(passes).count() as f64;
        let columns = vec![
            AlgorithmColumn::Nodes(nodes().map(|(id, _)| *id).collect()),
            AlgorithmColumn::Floats(nodes().map(|(_, data)| degree(data)).collect()),
        ];
        let rows = AlgorithmRows { columns };
        self.reserve(rows.byte_len())?;
        Ok(rows)
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

/// What an index has: as a real one, more than what passes where that costs it an evaluation.
fn passes(value: &Value, test: &IndexTest) -> bool {
    match test {
        IndexTest::AnyOf(values) => values.iter().any(|it| equals(value, it) == Some(true)),
        IndexTest::Range(bounds) => {
            bounds.iter().all(|(comparison, it)| compare(value, *comparison, it) == Some(true))
        }
        IndexTest::Text(test, part) => {
            text_test(value, *test, &Value::String(part.clone())) == Some(true)
        }
        IndexTest::Matches(_) => matches!(value, Value::String(_)),
        IndexTest::Near(..) => false,
    }
}
