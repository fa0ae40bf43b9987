//! Detects duplicates of unique values after a load.

use crate::graph::version::node_ids::NodeIds;
use crate::graph::version::predicate::Predicate;
use crate::graph::version::values::LangValues;
use crate::index::IndexKind;
use hexgraph_base::schema::{Schema, is_reserved};
use hexgraph_base::types::{Error, Result, Uid, Value, ValueRef, ValueType};

/// Checks a predicate just built. `label` is what the data calls a node that has no uid there.
/// Costs a pass over the tokens of a predicate that is `@unique`.
///
/// # Errors
///
/// [`Error::Query`] with the first value that two nodes have, and both of them.
pub(in crate::graph) fn check_unique(
    predicate: &Predicate,
    (nodes, schema): (&NodeIds, &Schema),
    label: &dyn Fn(u32) -> Option<String>,
) -> Result<()> {
    if !predicate.def.unique {
        return Ok(());
    }
    let Some((value, pair, lang)) = predicate.langs().iter().find_map(first_shared) else {
        return Ok(());
    };
    let name_of = |node: u32| {
        let Uid(uid) = nodes.uid(node);
        label(node).unwrap_or_else(|| format!("<{uid:#x}>"))
    };
    let tag = if lang.is_empty() { String::new() } else { format!("@{lang}") };
    let (name, [one, other]) = (&predicate.def.name, pair.map(name_of));
    let fault = format!("`{name}{tag}` is `@unique`, but {one} and {other} both have {value:?}");
    let types = schema.types.values().filter(|def| !is_reserved(&def.name));
    let types = types.filter(|def| def.fields.contains(name)).map(|def| def.name.as_str());
    let hint = match types.collect::<Vec<&str>>().as_slice() {
        types @ [first, _, ..] => format!(
            "nothing was loaded: `{name}` is shared by {}; to keep them apart: columns={{'{name}': '{first}.{name}'}} or \
             prefix=True",
            types.join(" and ")
        ),
        _ => "nothing was loaded: give each node a value of its own".to_owned(),
    };
    Err(Error::query(fault).with_hint(hint))
}

/// The first value that two nodes have.
fn first_shared(values: &LangValues) -> Option<(String, [u32; 2], String)> {
    let kinds = values.base.indexes.iter();
    let (_, index) = kinds.into_iter().find(|(kind, _)| *kind == IndexKind::Ordered)?;
    let position = (0..index.len()).find(|&position| 1 < index.offsets.range(position).len())?;
    let first = index.offsets.start(position);
    let pair = [index.postings.get(first), index.postings.get(first + 1)];
    Some((as_text(index.keys.get(position)), pair, values.lang.to_string()))
}

/// A value as messages show it.
pub(super) fn as_text(value: ValueRef<'_>) -> String {
    match value.convert(ValueType::String) {
        Ok(Value::String(text)) => text.to_string(),
        _ => "the same value".to_owned(),
    }
}
