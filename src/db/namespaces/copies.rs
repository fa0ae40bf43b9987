//! Copies of a database with all of its namespaces.

use super::namespace::RESERVED;
use super::set::{folder_in, remove_folder, remove_unlisted};
use crate::db::database::Database;
use hexgraph_base::types::Result;
use hexgraph_store::graph::Check;
use std::path::Path;

/// Writes the reserved database and all namespaces but the first into the directory of a copy, each as it is then. What is there of
/// an older copy and is no more goes.
///
/// # Errors
///
/// As [`Database::save`]; those of `check`.
pub(in crate::db) fn save_all(database: &Database, to: &Path, check: Check<'_>) -> Result<()> {
    let registry = database.registry()?;
    for id in &registry.namespaces {
        check()?;
        database.namespace_whole(*id)?.save_one(&folder_in(to, *id), check)?;
    }
    let copy = folder_in(to, RESERVED);
    match database.all.opened(RESERVED) {
        Some(reserved) => database.without_caller().within(reserved).save_one(&copy, check)?,
        None => remove_folder(&copy)?,
    }
    remove_unlisted(to, |id| registry.namespaces.contains(&id))
}
