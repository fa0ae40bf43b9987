//! The blocks of a plan that answer root fields, and the faults of root fields.

use crate::lower::conditions::filter::has_type;
use crate::lower::conditions::filter_value::text_of;
use crate::lower::conditions::rules::Caller;
use crate::lower::order;
use crate::lower::refusal::Refusal;
use crate::lower::target::{all, filter_of, function, is_uid, reference};
use crate::model;
use crate::model::{Operation, TypeDef};
use crate::request::{Field, GraphqlError, PathStep, Value};
use hexgraph_base::plan::{Argument, Block, BlockKind, Call, Comparison, Filter, Operand, Page};
use hexgraph_base::types::{Position, Uid};

/// Returns the block of the node that the arguments name by its uid and by unique values. When
/// several are given, the node must have all of them. The rules of `operation` that the caller is
/// subject to become a part of the filter.
///
/// # Errors
///
/// The fault of the field when a uid can't be read.
pub(super) fn get_block(
    caller: Caller<'_>,
    def: &TypeDef,
    operation: Operation,
    field: &Field,
) -> Result<Block, GraphqlError> {
    let mut calls = Vec::new();
    for key in &def.fields {
        let is_key = key.is_id() || key.unique.is_some();
        let Some(value) = field.arguments.given(&key.name).filter(|_| is_key) else { continue };
        // A malformed uid is reported here; a value that no node has is not an error.
        if is_uid(key) {
            order::uid(field, value).map_err(|why| wrong_at(field, &why))?;
        }
        calls.push(key_call(key, value));
    }
    // All keys may be optional and absent: then no node is named.
    if calls.is_empty() {
        calls.push(Call::Uid { uids: Vec::new(), vars: Vec::new() });
    }
    // The first key in the order of the type's fields finds the node, by its uid or an index; the
    // others are tests of it.
    let root = calls.remove(0);
    let permitted = caller.access(def, operation).into_filter();
    let rest = calls.into_iter().map(filter_of).chain([has_type(def)]).chain(permitted);
    Ok(node_block(root, all(rest.collect())))
}

/// Returns the function that selects the nodes with a key: a uid, or the value of a unique field.
pub(super) fn key_call(key: &model::Field, value: &Value) -> Call {
    match &key.predicate {
        Some(predicate) => Call::Compare {
            op: Comparison::Eq,
            left: Operand::Predicate(reference(predicate)),
            arguments: text_of(value).map(Argument::Text).into_iter().collect(),
        },
        // No node has the uid 0 or a uid that can't be read, so nothing is selected.
        None => {
            let uid = value.as_str().and_then(Uid::parse).filter(|uid| uid.0 != 0);
            Call::Uid { uids: uid.map(|uid| uid.0).into_iter().collect(), vars: Vec::new() }
        }
    }
}

/// Returns a visible block with a root function and a filter, and nothing else.
pub(crate) fn node_block(root: Call, filter: Option<Filter>) -> Block {
    Block {
        name: "q".to_owned(),
        at: Position::default(),
        kind: BlockKind::Visible,
        var: None,
        root: Some(function(root)),
        filter,
        order: Vec::new(),
        page: Page::default(),
        cascade: None,
        normalize: false,
        ignore_reflex: false,
        recurse: None,
        group_by: None,
        fields: Vec::new(),
        has_body: true,
        is_aggregated: false,
        reads: Vec::new(),
        defines: Vec::new(),
    }
}

/// Makes the fault of a root field with an argument that can't be read, at the position of the
/// field.
pub(super) fn wrong_at(field: &Field, why: &Refusal) -> GraphqlError {
    GraphqlError { positions: vec![field.shape.location], ..wrong(field, why.message()) }
}

/// Makes the fault of a root field that can't be lowered.
pub(in crate::lower) fn wrong(field: &Field, message: &str) -> GraphqlError {
    let message = format!("couldn't rewrite query {} because {message}", field.shape.key);
    GraphqlError::on(vec![PathStep::Key(field.shape.key.as_str().into())], message)
}
