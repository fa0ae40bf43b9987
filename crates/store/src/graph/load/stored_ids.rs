//! The predicates of external ids, ids that are looked up in the stored graph, and the lost ones
//! without a node.

use crate::graph::change::check::check_name;
use crate::graph::version::graph_version::Version;
use crate::index::{IndexKind, TokenKey, index_kinds};
use hexgraph_base::schema::{Actor, PredicateDef, Tokenizer};
use hexgraph_base::types::{Error, Result, ValueRef, ValueType};
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of ids without a node that are retained for a report.
const LOST_MAX: usize = 5;

/// The definition of a predicate. If it is missing, the version gets the one that `otherwise`
/// makes.
///
/// # Errors
///
/// [`Error::Schema`] for an invalid name.
pub(super) fn define(
    version: &mut Version,
    name: &str,
    otherwise: impl FnOnce() -> PredicateDef,
) -> Result<PredicateDef> {
    check_name(name, &version.schema, Actor::Client).map_err(Error::schema)?;
    if let Some(existing) = version.schema.predicates.get(name) {
        return Ok(existing.clone());
    }
    let def = otherwise();
    Arc::make_mut(&mut version.schema).predicates.insert(name.to_owned(), def.clone());
    // This one alone: a table may have ten thousand columns that are new.
    version.add_unused_of(&def);
    Ok(def)
}

/// The definition of a predicate whose values are ids. A new one is of the type `expected` and
/// indexed, and `is_unique` says that its values are unique.
///
/// # Errors
///
/// [`Error::Schema`] for a predicate that cannot be searched by id.
pub(super) fn define_ids(
    version: &mut Version,
    name: &str,
    expected: ValueType,
    is_unique: bool,
) -> Result<PredicateDef> {
    let def = define(version, name, || {
        let mut def = PredicateDef::new(name, expected);
        let is_int = expected == ValueType::Int;
        def.indexes = vec![if is_int { Tokenizer::Int } else { Tokenizer::Hash }];
        (def.upsert, def.unique) = (is_unique, is_unique);
        def
    })?;
    if !def.value_type.is_text() && def.value_type != ValueType::Int {
        let kind = def.type_text();
        let fault = format!("predicate {name} can't hold ids: it is of type {kind}");
        return Err(Error::schema(format!("{fault}, not int or string")));
    }
    if !index_kinds(&def).contains(&IndexKind::Ordered) {
        let index = if def.value_type.is_text() { "hash" } else { "int" };
        let fault = format!("predicate {name} can't be searched for ids");
        let hint = format!("add `@index({index})` to the schema of `{name}`");
        return Err(Error::schema(fault).with_hint(hint));
    }
    Ok(def)
}

/// The definition of the predicate that has the names of nodes of a file as its values; as
/// [`define_ids`].
///
/// # Errors
///
/// Those of [`define_ids`]; [`Error::Schema`] if its values are ints.
pub(super) fn define_names(version: &mut Version, name: &str) -> Result<PredicateDef> {
    let def = define_ids(version, name, ValueType::String, true)?;
    match def.value_type.is_text() {
        true => Ok(def),
        false => Err(Error::schema(format!(
            "predicate {name} has ints, and the names of nodes are texts: name one of type string"
        ))),
    }
}

/// Returns the node that has `id` as its value of a predicate, by the predicate's index. O(log
/// values).
pub(super) fn stored_node(version: &Version, predicate: &str, id: ValueRef<'_>) -> Option<u32> {
    let values = version.predicate(predicate)?.values("")?;
    let token = TokenKey::of(id)?;
    let bound = Bound::Included(&token);
    values.index(IndexKind::Ordered)?.range(bound, bound).iter().next()
}

/// The stored nodes by their ids, for a load that makes no nodes.
pub(super) struct StoredIds {
    /// The graph that is searched.
    pub version: Version,
    /// The predicate of the ids.
    pub predicate: String,
}

impl StoredIds {
    /// Returns the node of an id.
    pub(super) fn node(&self, id: ValueRef<'_>) -> Option<u32> {
        stored_node(&self.version, &self.predicate, id)
    }
}

/// The ids that no node has: how often they stood in the tables, and the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LostIds {
    /// The number of cells.
    pub count: u64,
    /// The first few ids, in the order of the tables, each once.
    pub first: Vec<String>,
}

impl LostIds {
    /// Returns true if `first` surely has all of them.
    pub fn is_all(&self) -> bool {
        self.first.len() < LOST_MAX
    }
}

/// Collects lost ids from many threads; what is retained does not depend on their order.
#[derive(Default)]
pub(super) struct Lost {
    result: Mutex<(u64, BTreeSet<(u64, String)>)>,
}

impl Lost {
    /// Notes an id that stands at a position.
    pub(super) fn note(&self, position: u64, id: String) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        result.0 += 1;
        let existing = result.1.iter().find(|(_, other)| *other == id).map(|(at, _)| *at);
        match existing {
            Some(at) if at <= position => return,
            Some(at) => {
                result.1.remove(&(at, id.clone()));
            }
            None => {}
        }
        result.1.insert((position, id));
        if LOST_MAX < result.1.len() {
            result.1.pop_last();
        }
    }

    /// Returns what was noted.
    pub(super) fn ids(&self) -> LostIds {
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        let first = result.1.iter().map(|(_, id)| id.clone()).collect();
        LostIds { count: result.0, first }
    }
}
