//! Changes the schema, and builds the indexes and reverse edges that it did not have before.

use crate::graph::build::compact::{Check, settle};
use crate::graph::build::parts::ValuePart;
use crate::graph::build::stored_form::{build_column, build_reverse, index_vectors};
use crate::graph::change::altering::definitions::Definitions;
use crate::graph::change::altering::unread::unread;
use crate::graph::thresholds::Thresholds;
use crate::graph::version::edges::{Direction, EdgeStore};
use crate::graph::version::graph_version::Version;
use crate::graph::version::node_ids::NodeIds;
use crate::graph::version::predicate::{Predicate, PredicateData};
use crate::graph::version::values::{LangValues, ValueBase};
use crate::graph::version::weight;
use crate::index::{IndexKind, build_index, check_geometry, index_kinds, vector_options};
use hexgraph_base::budget::Reservation;
use hexgraph_base::schema::{Change, PredicateDef, Schema, SchemaReport, SchemaText, parse_schema};
use hexgraph_base::types::{Error, Result, ValueType};
use rayon::prelude::*;
use std::sync::Arc;

/// The version with the declarations of a schema text. Only new indexes and reverse edges are
/// built; values retain the type that they were stored with.
///
/// # Errors
///
/// [`Error::Syntax`] or [`Error::Schema`] for an invalid text, and for values that a new index
/// cannot index.
pub fn alter(version: &Version, schema_text: &str) -> Result<Version> {
    define(version, &resolve(version, schema_text)?, &|| Ok(()))
}

/// Returns the definitions that a schema text changes in a version.
///
/// # Errors
///
/// [`Error::Syntax`] or [`Error::Schema`] for an invalid text, and for features missing from this
/// build.
pub fn resolve(version: &Version, schema_text: &str) -> Result<Definitions> {
    resolved(version, parse_schema(schema_text)?)
}

/// As [`resolve`] for a GraphQL schema: declarations by `alter` stay, and those of the previous
/// GraphQL schema are dropped.
///
/// # Errors
///
/// As [`resolve`].
pub fn resolve_graphql(version: &Version, schema_text: &str) -> Result<Definitions> {
    resolved(version, version.schema.overlay(parse_schema(schema_text)?))
}

fn resolved(version: &Version, text: SchemaText) -> Result<Definitions> {
    let changes = checked(version, &text)?;
    let predicates = changes.into_iter().map(|change| change.new).collect();
    let definitions = Definitions { predicates, types: text.types, dropped_types: Vec::new() };
    definitions.check_build().map(|()| definitions)
}

/// The version with other definitions, which were checked before. Only new indexes and reverse
/// edges are built; values retain the type that they were stored with. Calls `check` before each
/// index to see whether to go on.
///
/// # Errors
///
/// [`Error::Schema`] for values that a new index cannot index, and for features missing from this
/// build; those of `check`.
pub fn define(version: &Version, definitions: &Definitions, check: Check<'_>) -> Result<Version> {
    let mut next = version.clone();
    definitions.apply(Arc::make_mut(&mut next.schema));
    let reservation = version.budget.reservation();
    next.replace(build_defined(version, definitions, &reservation, check)?);
    Ok(next)
}

/// The predicates of a version under other definitions, in their order. Their memory is reserved in
/// `reservation`.
///
/// # Errors
///
/// As [`define`].
pub(super) fn build_defined(
    version: &Version,
    definitions: &Definitions,
    reservation: &Reservation,
    check: Check<'_>,
) -> Result<Vec<(Arc<str>, Arc<Predicate>)>> {
    // Those of a log may be of a build with more features.
    definitions.check_build()?;
    let rebuild = |def: &PredicateDef| {
        let name = def.name.as_str();
        let predicate = match version.predicate(name).filter(|stored| !stored.subjects().is_empty())
        {
            Some(stored) => check_geometries(stored, def).and_then(|()| {
                reservation.reserve(weight::of_rebuild(stored, def) as u64)?;
                rebuilt(stored, def, &version.thresholds, check)
            }),
            None => Ok(Predicate::empty(def.clone())),
        };
        predicate.map(|predicate| (Arc::from(name), Arc::new(predicate)))
    };
    definitions.predicates.par_iter().map(rebuild).collect()
}

/// The predicates that mean something else by definitions than they do.
pub fn altered(version: &Version, definitions: &Definitions) -> Vec<String> {
    let is_alike = |new: &PredicateDef| {
        let old = version.schema.predicates.get(&new.name);
        old.is_some_and(|old| old.is_alike(new))
    };
    let changed = definitions.predicates.iter().filter(|new| !is_alike(new));
    changed.map(|new| new.name.clone()).collect()
}

/// Reports what definitions change in a version. O(values) of the predicates that get another type.
pub fn report(version: &Version, definitions: &Definitions) -> SchemaReport {
    let Definitions { predicates, types, .. } = definitions;
    let report = version.schema.report(predicates, types, &|name| has_data(version, name));
    SchemaReport { unread: unread(version, definitions), ..report }
}

fn has_data(version: &Version, name: &str) -> bool {
    version.predicate(name).is_some_and(|it| !it.subjects().is_empty())
}

fn checked(version: &Version, text: &SchemaText) -> Result<Vec<Change>> {
    version.schema.check_change(text, &|name| has_data(version, name))
}

/// The graph without data, with the initial schema. Uids are not reused, unless half of the low
/// ones are spent: then allocation starts from the beginning, so that new nodes get low uids
/// however often everything is dropped.
pub fn drop_all(version: &Version) -> Version {
    let schema = Arc::new(Schema::new());
    let uids = if version.uids.are_spent() { Arc::default() } else { Arc::clone(&version.uids) };
    drop_data(&Version { schema, uids, ..version.clone() })
}

/// The version without data. Uids are not used again.
pub(in crate::graph) fn drop_data(version: &Version) -> Version {
    let predicates = imbl::HashMap::new();
    let mut next = Version { nodes: NodeIds::default(), predicates, ..version.clone() };
    let dropped = version.predicates.values().map(|old| weight::of_replaced(old, None));
    next.replaced += dropped.sum::<usize>() as u64;
    next.add_unused();
    next
}

/// The version without a predicate: data, indexes and definition. An unknown one is no error.
///
/// # Errors
///
/// [`Error::Schema`] for a predicate that every graph has.
pub fn drop_attr(version: &Version, name: &str) -> Result<Version> {
    if Schema::new().predicates.contains_key(name) {
        let message = format!("predicate {name} is pre-defined and is not allowed to be dropped");
        return Err(Error::schema(message));
    }
    let mut next = version.clone();
    if let Some(dropped) = next.predicates.remove(name) {
        next.replaced += weight::of_replaced(&dropped, None) as u64;
    }
    Arc::make_mut(&mut next.schema).predicates.remove(name);
    Ok(next)
}

/// The version without a type. Its nodes retain their data. An unknown type is no error.
///
/// # Errors
///
/// [`Error::Schema`] for a type that every graph has.
pub(in crate::graph) fn drop_type(version: &Version, name: &str) -> Result<Version> {
    if Schema::new().types.contains_key(name) {
        let message = format!("type {name} is pre-defined and is not allowed to be dropped");
        return Err(Error::schema(message));
    }
    let mut next = version.clone();
    Arc::make_mut(&mut next.schema).types.remove(name);
    Ok(next)
}

/// Refuses a new geo index if there are geometries that it cannot index.
fn check_geometries(stored: &Predicate, new: &PredicateDef) -> Result<()> {
    let kinds = |def: &PredicateDef| index_kinds(def).contains(&IndexKind::Geo);
    if !kinds(new) || kinds(&stored.def) {
        return Ok(());
    }
    for values in stored.langs() {
        for node in values.subjects().iter() {
            let checked =
                values.values(node).iter().try_for_each(|value| check_geometry(value, new));
            checked.map_err(Error::schema)?;
        }
    }
    Ok(())
}

/// A predicate's data under another definition.
fn rebuilt(
    stored: &Predicate,
    def: &PredicateDef,
    thresholds: &Thresholds,
    check: Check<'_>,
) -> Result<Predicate> {
    check()?;
    let is_uid = def.value_type == ValueType::Uid;
    let data = match &stored.data {
        PredicateData::Values(langs) if !is_uid => {
            let each =
                |values: &LangValues| rebuilt_lang(values, (&stored.def, def), thresholds, check);
            PredicateData::Values(langs.par_iter().map(each).collect::<Result<_>>()?)
        }
        PredicateData::Edges(edges) if is_uid => {
            PredicateData::Edges(rebuilt_edges(edges, stored, def, thresholds))
        }
        // From values to edges or back: there is no data then.
        _ => return Ok(Predicate::empty(def.clone())),
    };
    Ok(Predicate { def: Arc::new(def.clone()), data })
}

fn rebuilt_lang(
    values: &LangValues,
    (old, new): (&PredicateDef, &PredicateDef),
    thresholds: &Thresholds,
    check: Check<'_>,
) -> Result<LangValues> {
    let same_column = values.is_clean() && old.list == new.list;
    let same_tokens = values.is_clean() && old.value_type == new.value_type;
    let (old_kinds, new_kinds) = (index_kinds(old), index_kinds(new));
    let same_vectors = vector_options(old) == vector_options(new);
    if same_column && same_tokens && same_vectors && old_kinds == new_kinds {
        return Ok(values.clone());
    }
    check()?;
    let column = if same_column {
        values.base.column.clone()
    } else {
        // Values retain the type that they were stored with; they are converted when they are read.
        let stored_type = values.base.column.values.value_type().unwrap_or(new.value_type);
        build_column(vec![ValuePart::of(values)], stored_type, new.list)
    };
    let indexes = new_kinds.par_iter().map(|&kind| {
        check()?;
        let existing = values.base.indexes.iter().find(|(other, _)| same_tokens && *other == kind);
        let index = match existing {
            Some((_, index)) => index.clone(),
            None => build_index(kind, &column, new.value_type, &values.lang, check)?,
        };
        Ok((kind, index))
    });
    let indexes = indexes.collect::<Result<_>>()?;
    check()?;
    let vectors = match &values.base.vectors {
        Some(index) if same_column && same_tokens && same_vectors => Some(index.clone()),
        _ => {
            let before = same_links(old, new).then_some(&*values.base);
            index_vectors(new, &column, before, thresholds, check)?
        }
    };
    Ok(LangValues::new(Arc::clone(&values.lang), ValueBase { column, indexes, vectors }))
}

/// True if both definitions link vectors alike.
fn same_links(old: &PredicateDef, new: &PredicateDef) -> bool {
    let shape = |def| {
        let options = vector_options(def)?;
        Some((options.metric(), options.max_levels(), options.ef_construction()))
    };
    shape(old) == shape(new)
}

fn rebuilt_edges(
    edges: &EdgeStore,
    stored: &Predicate,
    new: &PredicateDef,
    thresholds: &Thresholds,
) -> EdgeStore {
    if !new.reverse {
        return EdgeStore { reverse: None, ..edges.clone() };
    }
    if edges.reverse.is_some() {
        return edges.clone();
    }
    let clean = settle(stored, thresholds);
    let PredicateData::Edges(edges) = clean.data else { return edges.clone() };
    let reverse = Direction::new(build_reverse(&edges.forward.base));
    EdgeStore { reverse: Some(reverse), ..edges }
}
