//! Functions of nodes, relationships and paths that need nothing but their ids, and those that
//! the executor evaluates.

use super::call::Call;
use crate::error::{Result, ScalarError};
use crate::values::{Path, Relationship, Value};

/// What only the executor evaluates: values that are neither nodes nor relationships have no
/// labels, type or id.
pub(super) fn of_graph(call: &Call<'_>) -> Result<Value> {
    Err(call.wrong_kind(0, "a NODE or RELATIONSHIP"))
}

fn path<'a>(call: &'a Call<'_>) -> Result<&'a Path> {
    match call.get(0) {
        Value::Path(path) => Ok(path),
        _ => Err(call.wrong_kind(0, "a PATH")),
    }
}

fn relationship(call: &Call<'_>) -> Result<Relationship> {
    match call.get(0) {
        Value::Relationship(relationship) => Ok(*relationship),
        _ => Err(call.wrong_kind(0, "a RELATIONSHIP")),
    }
}

pub(super) fn length(call: &Call<'_>) -> Result<Value> {
    Ok(Value::Int(path(call)?.relationships.len() as i64))
}

pub(super) fn nodes(call: &Call<'_>) -> Result<Value> {
    let nodes = &path(call)?.nodes;
    call.list_of(nodes.len() as u128, nodes.iter().map(|uid| Value::Node(*uid)))
}

pub(super) fn relationships(call: &Call<'_>) -> Result<Value> {
    let relationships = &path(call)?.relationships;
    let values = relationships.iter().map(|it| Value::Relationship(*it));
    call.list_of(relationships.len() as u128, values)
}

pub(super) fn start_node(call: &Call<'_>) -> Result<Value> {
    Ok(Value::Node(relationship(call)?.subject))
}

pub(super) fn end_node(call: &Call<'_>) -> Result<Value> {
    Ok(Value::Node(relationship(call)?.object))
}

pub(super) fn id(call: &Call<'_>) -> Result<Value> {
    let Value::Node(uid) = call.get(0) else { return Err(call.wrong_kind(0, "a NODE")) };
    i64::try_from(*uid).map(Value::Int).map_err(|_| {
        ScalarError::overflow(format!(
            "the uid {uid:#x} is beyond the integers; elementId() returns it as a text"
        ))
    })
}
