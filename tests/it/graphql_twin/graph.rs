//! The nodes of the model: plain maps.

use super::schema::{Field, Of, Schema};
use serde_json::Value as Json;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Default)]
pub struct Node {
    /// Its concrete type.
    pub kind: usize,
    /// By predicate.
    pub values: BTreeMap<String, Vec<Json>>,
    /// By predicate, the places of nodes.
    pub edges: BTreeMap<String, BTreeSet<usize>>,
    /// Its number in the engine, once it is known.
    pub uid: Option<u64>,
    pub is_gone: bool,
}

#[derive(Debug, Clone, Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
}

/// The order of two values of one field.
pub fn compare(one: &Json, other: &Json) -> Ordering {
    match (one, other) {
        (Json::Number(left), Json::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => left.as_f64().partial_cmp(&right.as_f64()).unwrap_or(Ordering::Equal),
        },
        (Json::String(left), Json::String(right)) => left.as_bytes().cmp(right.as_bytes()),
        (left, right) => left.to_string().cmp(&right.to_string()),
    }
}

impl Graph {
    /// The nodes of a kind that are there.
    pub fn of_kind(&self, schema: &Schema, kind: usize) -> Vec<usize> {
        let is_one = |position: &usize| {
            let node = &self.nodes[*position];
            !node.is_gone && schema.is_a(node.kind, kind)
        };
        (0..self.nodes.len()).filter(is_one).collect()
    }

    /// The values of a field, ascending.
    pub fn values(&self, node: usize, field: &Field) -> Vec<Json> {
        let mut values = self.nodes[node].values.get(&field.predicate).cloned().unwrap_or_default();
        values.sort_by(compare);
        values
    }

    pub fn value(&self, node: usize, field: &Field) -> Option<Json> {
        self.values(node, field).into_iter().next()
    }

    /// The nodes that a field leads to.
    pub fn targets(&self, node: usize, field: &Field) -> Vec<usize> {
        match field.predicate.strip_prefix('~') {
            None => self.nodes[node]
                .edges
                .get(&field.predicate)
                .into_iter()
                .flatten()
                .copied()
                .collect(),
            Some(forward) => {
                let leads = |position: &usize| {
                    let edges = self.nodes[*position].edges.get(forward);
                    edges.is_some_and(|targets| targets.contains(&node))
                };
                (0..self.nodes.len()).filter(leads).collect()
            }
        }
    }

    /// Whether a field has something.
    pub fn has(&self, node: usize, field: &Field) -> bool {
        match field.of {
            Of::Scalar(super::schema::Scalar::Id) => true,
            Of::Scalar(_) => !self.values(node, field).is_empty(),
            _ => !self.targets(node, field).is_empty(),
        }
    }

    pub fn by_uid(&self, uid: u64) -> Option<usize> {
        self.nodes.iter().position(|node| node.uid == Some(uid))
    }

    /// Nodes of a kind with a value.
    pub fn with_value(
        &self,
        schema: &Schema,
        kind: usize,
        field: &Field,
        value: &Json,
    ) -> Vec<usize> {
        let mut nodes = self.of_kind(schema, kind);
        nodes.retain(|node| self.values(*node, field).contains(value));
        nodes
    }

    /// The number of a node; those that the engine does not know yet come last.
    pub fn uid(&self, node: usize) -> u64 {
        self.nodes[node].uid.unwrap_or(u64::MAX)
    }
}
