//! The nodes, relationships and paths of a result as maps.

use hexgraph_base::types::Result;
use hexgraph_cypher::Graph;
use hexgraph_scalar::{List, Map, Relationship, Value};
use std::sync::Arc;

/// A value without nodes, relationships and paths: a node is a map with `uid`, `labels` and
/// `properties`, a relationship one with `type`, `start`, `end` and `properties`, and a path one
/// with `nodes` and `relationships`.
///
/// What the value has in addition to its own size is charged first: lists with common items have
/// copies then.
pub(super) fn plain(value: Value, graph: &dyn Graph) -> Result<Value> {
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
pub(super) fn text_len(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        _ => 0,
    }
}

fn has_entities(items: &[Value]) -> bool {
    items.iter().any(may_have_entities)
}

/// Whether a value is an entity or a path, or may have some inside.
pub(super) fn may_have_entities(value: &Value) -> bool {
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
