//! The columns of an answer, with nodes, relationships and paths as maps.

use hexgraph_base::types::Result;
use hexgraph_cypher::{AnswerColumn, AnswerSink, Graph};
use hexgraph_scalar::{List, Map, Relationship, Value};
use hexgraph_store::exec::RequestContext;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The columns of an answer, with maps of nodes and relationships.
pub(super) struct AnswerRows<'a> {
    graph: &'a dyn Graph,
    context: &'a RequestContext,
    /// The first value of each row, before those of the query.
    pub(super) first: Option<Value>,
    pub(super) columns: Vec<AnswerColumn>,
}

impl<'a> AnswerRows<'a> {
    pub(super) fn new(graph: &'a dyn Graph, context: &'a RequestContext) -> AnswerRows<'a> {
        AnswerRows { graph, context, first: None, columns: Vec::new() }
    }
}

impl AnswerSink for AnswerRows<'_> {
    fn row(&mut self, values: &mut Vec<Value>) -> Result<ControlFlow<()>> {
        let mut all = mem::take(values);
        if let Some(first) = &self.first {
            all.insert(0, first.clone());
        }
        self.columns.resize_with(all.len(), AnswerColumn::default);
        let mut bytes = 0;
        for (value, column) in all.iter_mut().zip(&self.columns) {
            match may_have_entities(value) {
                true => *value = plain(mem::replace(value, Value::Null), self.graph)?,
                false if matches!(value, Value::String(_)) => {}
                false => bytes += text_len(value),
            }
            bytes += column.bytes_of(value);
        }
        self.context.charge(bytes)?;
        self.columns.iter_mut().zip(all).for_each(|(column, value)| column.push(value));
        Ok(ControlFlow::Continue(()))
    }

    fn rows(&mut self, mut columns: Vec<AnswerColumn>) -> Result<ControlFlow<()>> {
        if let (Some(first), Some(column)) = (&self.first, columns.first()) {
            let mut firsts = AnswerColumn::default();
            (0..column.len()).for_each(|_| firsts.push(first.clone()));
            columns.insert(0, firsts);
        }
        self.columns.resize_with(columns.len(), AnswerColumn::default);
        let bytes_of = |(one, more): (&AnswerColumn, &AnswerColumn)| one.bytes_of_all(more);
        self.context.charge(self.columns.iter().zip(&columns).map(bytes_of).sum())?;
        self.columns.iter_mut().zip(columns).for_each(|(column, more)| column.append(more));
        Ok(ControlFlow::Continue(()))
    }
}

/// Rows as columns.
pub(super) fn columns_of(rows: Vec<Vec<Value>>, width: usize) -> Vec<AnswerColumn> {
    let mut columns: Vec<AnswerColumn> = (0..width).map(|_| AnswerColumn::default()).collect();
    for row in rows {
        columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }
    columns
}

/// A value without nodes, relationships and paths: a node is a map with `uid`, `labels` and
/// `properties`, a relationship one with `type`, `start`, `end` and `properties`, and a path one
/// with `nodes` and `relationships`.
///
/// What the value has in addition to its own size is charged first: lists with common items have
/// copies then.
fn plain(value: Value, graph: &dyn Graph) -> Result<Value> {
    let charged = |made: Value| -> Result<Value> {
        graph.reserve(weight(&made))?;
        Ok(made)
    };
    Ok(match value {
        Value::Node(uid) => charged(node(uid, graph)?)?,
        Value::Relationship(it) => charged(relationship(it, graph)?)?,
        Value::Path(path) => {
            let nodes = path.nodes.iter().map(|&uid| charged(node(uid, graph)?));
            let nodes: Result<_> = nodes.collect();
            let relationships = path.relationships.iter();
            let relationships = relationships.map(|&it| charged(relationship(it, graph)?));
            let relationships: Result<_> = relationships.collect();
            let entries = vec![
                ("nodes".into(), Value::list(nodes?)?),
                ("relationships".into(), Value::list(relationships?)?),
            ];
            Value::map(entries)?
        }
        Value::List(list) => {
            graph.check()?;
            graph.reserve(size_of_val(&*list))?;
            if !has_entities(&list) {
                graph.reserve(list.iter().map(text_len).sum())?;
                return Ok(Value::List(list));
            }
            let items: Result<_> = list.iter().map(|it| plain(it.clone(), graph)).collect();
            Value::List(List::new(items?)?)
        }
        Value::Map(map) => {
            graph.check()?;
            graph.reserve(size_of_val(map.entries()))?;
            let entry = |(key, value): &(Arc<str>, Value)| {
                Ok((Arc::clone(key), plain(value.clone(), graph)?))
            };
            Value::Map(Map::new(map.entries().iter().map(entry).collect::<Result<_>>()?)?)
        }
        other => {
            graph.reserve(text_len(&other))?;
            other
        }
    })
}

/// The bytes of a text; 0 of another value.
fn text_len(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        _ => 0,
    }
}

fn has_entities(items: &[Value]) -> bool {
    items.iter().any(may_have_entities)
}

/// Whether a value is an entity or a path, or may have some inside.
fn may_have_entities(value: &Value) -> bool {
    matches!(
        value,
        Value::Node(_) | Value::Relationship(_) | Value::Path(_) | Value::List(_) | Value::Map(_)
    )
}

fn node(uid: u64, graph: &dyn Graph) -> Result<Value> {
    let labels = graph.labels(uid)?.into_iter().map(Value::String).collect();
    let entries = vec![
        ("uid".into(), Value::from(format!("{uid:#x}"))),
        ("labels".into(), Value::list(labels)?),
        ("properties".into(), Value::Map(graph.properties(uid)?)),
    ];
    Ok(Value::map(entries)?)
}

fn relationship(it: Relationship, graph: &dyn Graph) -> Result<Value> {
    let (subject, object) = (it.subject, it.object);
    let entries = vec![
        ("type".into(), Value::String(graph.type_name(it.type_id)?)),
        ("start".into(), Value::from(format!("{subject:#x}"))),
        ("end".into(), Value::from(format!("{object:#x}"))),
        ("properties".into(), Value::Map(graph.relationship_properties(it)?)),
    ];
    Ok(Value::map(entries)?)
}

/// About the bytes that the map of a node or a relationship takes.
fn weight(value: &Value) -> usize {
    let own = size_of::<Value>();
    match value {
        Value::String(text) => own + text.len(),
        Value::List(list) => own + list.iter().map(weight).sum::<usize>(),
        Value::Map(map) => {
            let entries = map.entries().iter();
            own + entries.map(|(_, value)| size_of::<Arc<str>>() + weight(value)).sum::<usize>()
        }
        _ => own,
    }
}
