//! Where ids are retained, when the options do not say so.

use super::names::clean;
use super::options::{EdgeOptions, ID_PREDICATE, Names, NodeOptions};
use hexgraph_base::schema::{PredicateDef, Tokenizer, is_reserved};
use hexgraph_base::types::{Error, Result, ValueType, did_you_mean};
use hexgraph_store::graph::{IdSpace, Version};
use std::borrow::Cow;

/// Chooses the predicate of the ids of nodes: that of the column's name, or [`ID_PREDICATE`] where
/// the database has its ids there already and has no predicate of that name.
pub(in crate::tables) fn choose_for_nodes(version: &Version, options: &mut NodeOptions) {
    if options.ids.is_some() {
        return;
    }
    let column = options.id.as_deref().unwrap_or(ID_PREDICATE);
    let clean =
        if options.table.names == Names::Clean { clean(column) } else { Cow::Borrowed(column) };
    let given = options.columns.get(column).and_then(|name| name.as_deref());
    let clean = options.prefixed(if clean.is_empty() { column } else { &clean });
    let name = given.unwrap_or(&clean);
    let has = |name: &str| version.schema.predicates.contains_key(name);
    let is_open = has(ID_PREDICATE) && !has(name) && !options.prefix;
    let name = if is_open { ID_PREDICATE } else { name }.to_owned();
    options.ids = Some(IdSpace::Predicate(name));
}

/// Chooses the predicates of the ids of sources and targets.
///
/// # Errors
///
/// [`Error::Query`] where several predicates may be meant.
pub(in crate::tables) fn choose_for_edges(
    version: &Version,
    options: &mut EdgeOptions,
) -> Result<()> {
    for (space, column) in
        [(&mut options.source_ids, &options.source), (&mut options.target_ids, &options.target)]
    {
        if space.is_none() {
            *space = Some(IdSpace::Predicate(chosen(version, column)?));
        }
    }
    Ok(())
}

fn chosen(version: &Version, column: &str) -> Result<String> {
    let predicates = &version.schema.predicates;
    let names = naming(predicates.values());
    if predicates.get(column).is_some_and(names_nodes) {
        return Ok(column.to_owned());
    }
    if predicates.contains_key(ID_PREDICATE) {
        return Ok(ID_PREDICATE.to_owned());
    }
    match names.as_slice() {
        [] => Ok(ID_PREDICATE.to_owned()),
        [only] => Ok((*only).to_owned()),
        [first, ..] => {
            let message = format!(
                "column {column:?}: nodes are named by {}, which of them is meant?",
                names.join(" and by ")
            );
            Err(Error::query(message).with_hint(format!("say it with `on=`: on={first:?}")))
        }
    }
}

/// The names of the predicates that name nodes: those that are `@unique`, and where there are none
/// those of fields with `@id`.
pub(super) fn naming<'d>(defs: impl Iterator<Item = &'d PredicateDef>) -> Vec<&'d str> {
    let (unique, others): (Vec<_>, Vec<_>) =
        defs.filter(|def| names_nodes(def)).partition(|def| def.unique);
    let defs = if unique.is_empty() { others } else { unique };
    defs.into_iter().map(|def| def.name.as_str()).collect()
}

/// True for a field with `@id` of a GraphQL schema, whose values name one node each though the
/// predicate is not `@unique`.
fn is_graphql_id(def: &PredicateDef) -> bool {
    let declared = def.declared.as_ref().and_then(|declared| declared.by_graphql.as_ref());
    declared.is_some_and(|options| options.upsert)
}

/// True for a predicate whose values name one node each and are indexed so that they can be looked
/// up.
fn names_nodes(def: &PredicateDef) -> bool {
    let is_id = matches!(def.value_type, ValueType::String | ValueType::Default | ValueType::Int);
    let is_ordered =
        |index: &Tokenizer| matches!(index, Tokenizer::Int | Tokenizer::Hash | Tokenizer::Exact);
    (def.unique || is_graphql_id(def))
        && is_id
        && !def.list
        && !is_reserved(&def.name)
        && def.indexes.iter().any(is_ordered)
}

/// The warning for edges whose endpoints are all new although there were nodes: the predicate of
/// the ids is likely another one.
pub(in crate::tables) fn all_new_warning(version: &Version, name: &str, new: u64) -> String {
    let mut others = naming(version.schema.predicates.values());
    others.retain(|other| *other != name);
    let hint = match (did_you_mean(name, others.iter().copied()), others.as_slice()) {
        (hint, _) if !hint.is_empty() => format!(" ({hint})"),
        (_, [only]) => format!(" (on={only:?})"),
        _ => String::new(),
    };
    format!(
        "all {new} nodes at the ends of the edges are new, as no node had one of their ids in `{name}`: name the \
         predicate that holds the ids with `on=`{hint}"
    )
}
