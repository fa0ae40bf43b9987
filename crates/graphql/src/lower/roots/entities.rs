//! Lowers `_entities` of Apollo Federation: the nodes that the keys of another service name, in the order of the keys.

use super::block::{key_call, node_block, wrong};
use crate::lower::conditions::filter::has_type;
use crate::lower::conditions::rules::Caller;
use crate::lower::fields::Lowering;
use crate::lower::shape::{Lowered, RootShape};
use crate::lower::target::all;
use crate::model::Operation;
use crate::request::{Fault, Field, Value};
use hexgraph_base::plan::{Block, Query};

/// Lowers the field. Each distinct key becomes one block.
pub(super) fn entities<'a>(caller: Caller<'a>, field: &'a Field) -> Result<Lowered<'a>, Fault> {
    let items = field.arguments.given("representations").and_then(Value::as_list).unwrap_or(&[]);
    let mut names: Vec<&str> = items.iter().map(type_name).collect();
    names.sort_unstable();
    names.dedup();
    let name = match names[..] {
        [name] => name,
        [] => {
            return Err(wrong(field, "expecting at least one item in `representations` argument"));
        }
        _ => {
            let names = names.join(", ");
            let message = format!(
                "expected only one unique typename in `_representations` argument, got: [{names}]"
            );
            return Err(wrong(field, &message));
        }
    };
    let def = caller.model.get(name).filter(|def| def.key.is_some());
    let Some(def) = def else {
        return Err(wrong(field, &format!("type {name} not found in the schema")));
    };
    let key = def.key.as_ref().and_then(|key| def.field(&key.field));
    let Some(key) = key else {
        return Err(wrong(field, &format!("type {name} has no key")));
    };
    let selected =
        Lowering::new(caller).selection(def, &field.selection, field.cascade.as_ref())?;
    // Each key is asked once, however often the gateway sends it; `order` keeps its places.
    let permitted = caller.access(def, Operation::Query).into_filter();
    let mut blocks: Vec<Block> = Vec::new();
    let mut order = Vec::with_capacity(items.len());
    for item in items {
        let Some(value) = item.get(&key.name) else {
            let message = format!("{} is required in `representations`", key.name);
            return Err(wrong(field, &message));
        };
        let root = key_call(key, value);
        let same = |block: &Block| block.root.as_ref().is_some_and(|known| known.call == root);
        let place = blocks.iter().position(same).unwrap_or_else(|| {
            let filter = [has_type(def)].into_iter().chain(permitted.clone()).collect();
            let mut block = node_block(root, all(filter));
            block.fields.clone_from(&selected.fields);
            blocks.push(block);
            blocks.len() - 1
        });
        order.push(place);
    }
    let query = Query { blocks, ..Query::default() };
    Ok(Lowered { query, shape: RootShape::Entities(order, selected.shape) })
}

fn type_name(item: &Value) -> &str {
    item.get("__typename").and_then(Value::as_str).unwrap_or_default()
}
