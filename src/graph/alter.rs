//! Changes of the schema, and what has to be built anew for them.

use super::build::build_column;
use super::build::build_reverse;
use super::build::index_vectors;
use super::compact::settle;
use super::edges::Direction;
use super::edges::EdgeStore;
use super::node_ids::NodeIds;
use super::parts::ValuePart;
use super::values::LangValues;
use super::values::ValueBase;
use super::version::Predicate;
use super::version::PredicateData;
use super::version::Version;
use crate::index::IndexKind;
use crate::index::build_index;
use crate::index::check_geometry;
use crate::index::index_kinds;
use crate::index::vector_options;
use crate::schema::Change;
use crate::schema::PredicateDef;
use crate::schema::Schema;
use crate::schema::SchemaText;
use crate::schema::parse_schema;
use crate::types::Error;
use crate::types::Result;
use crate::types::ValueType;
use rayon::prelude::*;
use std::sync::Arc;

/// The version with the declarations of a schema text. Only indexes and reverse edges that were
/// not there are built; values keep the type that they were stored with.
///
/// # Errors
///
/// [`Error::Syntax`] or [`Error::Schema`] for what is wrong with the text, and for values that a
/// new index can't take.
pub fn alter(version: &Version, schema_text: &str) -> Result<Version> {
    let text = parse_schema(schema_text)?;
    let changes = checked(version, &text)?;
    let mut next = version.clone();
    Arc::make_mut(&mut next.schema).apply(&text);
    let rebuild = |change: &Change| {
        let name = change.new.name.as_str();
        let predicate = match version.predicate(name).filter(|stored| !stored.subjects().is_empty())
        {
            Some(stored) => {
                check_geometries(stored, &change.new).map(|()| rebuilt(stored, &change.new))
            }
            None => Ok(Predicate::empty(change.new.clone())),
        };
        predicate.map(|predicate| (Arc::from(name), Arc::new(predicate)))
    };
    let built: Result<Vec<_>> = changes.par_iter().map(rebuild).collect();
    next.predicates.extend(built?);
    Ok(next)
}

/// The predicates that [`alter`] would define otherwise than they are.
///
/// # Errors
///
/// As [`alter`].
pub fn altered(version: &Version, schema_text: &str) -> Result<Vec<String>> {
    let changes = checked(version, &parse_schema(schema_text)?)?;
    Ok(changes.into_iter().map(|change| change.new.name).collect())
}

fn checked(version: &Version, text: &SchemaText) -> Result<Vec<Change>> {
    let has_data = |name: &str| version.predicate(name).is_some_and(|it| !it.subjects().is_empty());
    version.schema.check_change(text, &has_data)
}

/// The graph without data, with the schema that every graph has. Uids are not used again.
pub fn drop_all(version: &Version) -> Version {
    drop_data(&Version { schema: Arc::new(Schema::new()), ..version.clone() })
}

/// The version without data. Uids are not used again.
pub fn drop_data(version: &Version) -> Version {
    let predicates = imbl::HashMap::new();
    let mut next = Version { nodes: NodeIds::default(), predicates, ..version.clone() };
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
        let message = format!("`{name}` is a predicate of the engine itself and can't be dropped");
        return Err(Error::schema(message));
    }
    let mut next = version.clone();
    next.predicates.remove(name);
    Arc::make_mut(&mut next.schema).predicates.remove(name);
    Ok(next)
}

/// The version without a type. Nodes that have it keep their data. An unknown one is no error.
///
/// # Errors
///
/// [`Error::Schema`] for a type that every graph has.
pub fn drop_type(version: &Version, name: &str) -> Result<Version> {
    if Schema::new().types.contains_key(name) {
        let message = format!("`{name}` is a type of the engine itself and can't be dropped");
        return Err(Error::schema(message));
    }
    let mut next = version.clone();
    Arc::make_mut(&mut next.schema).types.remove(name);
    Ok(next)
}

/// Refuses a new geo index where there are geometries that it can't take.
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
fn rebuilt(stored: &Predicate, def: &PredicateDef) -> Predicate {
    let is_uid = def.value_type == ValueType::Uid;
    let data = match &stored.data {
        PredicateData::Values(langs) if !is_uid => {
            let each = |values: &LangValues| rebuilt_lang(values, &stored.def, def);
            PredicateData::Values(langs.par_iter().map(each).collect())
        }
        PredicateData::Edges(edges) if is_uid => {
            PredicateData::Edges(rebuilt_edges(edges, stored, def))
        }
        // From values to edges or back: there is no data then.
        _ => return Predicate::empty(def.clone()),
    };
    Predicate { def: Arc::new(def.clone()), data }
}

fn rebuilt_lang(values: &LangValues, old: &PredicateDef, new: &PredicateDef) -> LangValues {
    let same_column = values.is_settled() && old.list == new.list;
    let same_tokens = values.is_settled() && old.value_type == new.value_type;
    let (old_kinds, new_kinds) = (index_kinds(old), index_kinds(new));
    let same_vectors = vector_options(old) == vector_options(new);
    if same_column && same_tokens && same_vectors && old_kinds == new_kinds {
        return values.clone();
    }
    let column = if same_column {
        values.base.column.clone()
    } else {
        let stored_type = values.base.column.values.value_type().unwrap_or(new.value_type);
        build_column(vec![ValuePart::of(values)], stored_type, new.list)
    };
    let indexes = new_kinds.par_iter().map(|&kind| {
        let known = values.base.indexes.iter().find(|(other, _)| same_tokens && *other == kind);
        let index = match known {
            Some((_, index)) => index.clone(),
            None => build_index(kind, &column, new.value_type, &values.lang),
        };
        (kind, index)
    });
    let indexes = indexes.collect();
    let vectors = match &values.base.vectors {
        Some(index) if same_column && same_tokens && same_vectors => Some(index.clone()),
        _ => {
            let before = same_links(old, new).then_some(&*values.base);
            index_vectors(new, &column, before)
        }
    };
    LangValues::new(Arc::clone(&values.lang), ValueBase { column, indexes, vectors })
}

/// Whether both definitions link vectors in the same way.
fn same_links(old: &PredicateDef, new: &PredicateDef) -> bool {
    let shape = |def| {
        let options = vector_options(def)?;
        Some((options.metric(), options.max_levels(), options.ef_construction()))
    };
    shape(old) == shape(new)
}

fn rebuilt_edges(edges: &EdgeStore, stored: &Predicate, new: &PredicateDef) -> EdgeStore {
    if !new.reverse {
        return EdgeStore { reverse: None, ..edges.clone() };
    }
    if edges.reverse.is_some() {
        return edges.clone();
    }
    let settled = settle(stored);
    let PredicateData::Edges(edges) = settled.data else { return edges.clone() };
    let reverse = Direction::new(build_reverse(&edges.forward.base));
    EdgeStore { reverse: Some(reverse), ..edges }
}
