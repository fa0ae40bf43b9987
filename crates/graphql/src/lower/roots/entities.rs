//! Lowers `_entities` of Apollo Federation: the nodes that the keys of another service name, in the
//! order of the keys.
//!
//! A gateway joins the answer with what it sent by positions alone. So each representation has its
//! position: a key that nobody has, or whose node the caller may not see, is null there.

use super::block::{key_call, node_block, wrong};
use crate::lower::conditions::filter::has_type;
use crate::lower::conditions::filter_value::text_of;
use crate::lower::conditions::rules::Caller;
use crate::lower::fields::{Lowering, Selected};
use crate::lower::shape::{EntityPosition, Lowered, RootShape};
use crate::lower::target::all;
use crate::model;
use crate::model::{Operation, TypeDef};
use crate::request::{Field, GraphqlError, Value};
use hexgraph_base::plan::{Block, Filter, Query};
use std::collections::HashMap;

/// A type that representations name.
struct Named<'a> {
    def: &'a TypeDef,
    key: &'a model::Field,
    /// The selection of its nodes.
    selected: Selected<'a>,
    permitted: Option<Filter>,
}

/// Lowers the field. Each distinct key of a type becomes one block, however often the gateway sends
/// it. Costs O(representations + types).
pub(super) fn entities<'a>(
    caller: Caller<'a>,
    field: &'a Field,
) -> Result<Lowered<'a>, GraphqlError> {
    let items = field.arguments.given("representations").and_then(Value::as_list).unwrap_or(&[]);
    if items.is_empty() {
        return Err(wrong(field, "expecting at least one item in `representations` argument"));
    }
    let mut lowering = Lowering::new(caller);
    let mut types: Vec<Named<'a>> = Vec::new();
    let mut blocks: Vec<Block> = Vec::new();
    let mut existing: HashMap<(usize, String), usize> = HashMap::new();
    let mut positions = Vec::with_capacity(items.len());
    for item in items {
        let name = type_name(field, item)?;
        let shape = match types.iter().position(|named| named.def.name == name) {
            Some(shape) => shape,
            None => {
                types.push(named(caller, &mut lowering, field, name)?);
                types.len() - 1
            }
        };
        let Named { def, key, selected, permitted } = &types[shape];
        let Some(text) = item.get(&key.name).and_then(text_of) else {
            let message = format!("{} is required in `representations`", key.name);
            return Err(wrong(field, &message));
        };
        let block = *existing.entry((shape, text)).or_insert_with_key(|(_, text)| {
            let root = key_call(key, &Value::String(text.as_str().into()));
            let filter = [has_type(def)].into_iter().chain(permitted.clone()).collect();
            let mut block = node_block(root, all(filter));
            block.fields.clone_from(&selected.fields);
            block.cascade = selected.cascade(field.cascade.as_ref());
            blocks.push(block);
            blocks.len() - 1
        });
        positions.push(EntityPosition { block, shape });
    }
    let query = Query { blocks, ..Query::default() };
    let shapes = types.into_iter().map(|named| named.selected.shape).collect();
    Ok(Lowered { query, shape: RootShape::Entities(positions, shapes) })
}

/// Lowers the selection of the nodes of a type.
fn named<'a>(
    caller: Caller<'a>,
    lowering: &mut Lowering<'a>,
    field: &'a Field,
    name: &str,
) -> Result<Named<'a>, GraphqlError> {
    let def = caller.model.get(name).filter(|def| def.key.is_some());
    let Some(def) = def else {
        return Err(wrong(field, &format!("type {name} not found in the schema")));
    };
    let key = def.key.as_ref().and_then(|key| def.field(&key.field));
    let Some(key) = key else {
        return Err(wrong(field, &format!("type {name} has no key")));
    };
    let selected = lowering.selection(def, &field.selection, field.cascade.as_ref())?;
    let permitted = caller.access(def, Operation::Query).into_filter();
    Ok(Named { def, key, selected, permitted })
}

/// Returns the type that a representation names.
fn type_name<'v>(field: &Field, item: &'v Value) -> Result<&'v str, GraphqlError> {
    let name = item.get("__typename").and_then(Value::as_str).filter(|name| !name.is_empty());
    name.ok_or_else(|| {
        wrong(field, "`__typename` of a representation is missing: it names a type with `@key`")
    })
}
