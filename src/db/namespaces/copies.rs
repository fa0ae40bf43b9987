//! Copies of a database with all of its namespaces.

use super::namespace::RESERVED;
use super::set::{NamespaceLock, folder_in, remove_folder, remove_unlisted};
use crate::db::database::Database;
use hexgraph_base::types::Result;
use hexgraph_store::graph::Check;
use std::collections::BTreeSet;
use std::path::Path;

/// Writes the reserved database and all namespaces but the first into the directory of a copy, each
/// as it is then, those that are made meanwhile, too. What is there of an older copy and is no more
/// goes.
///
/// # Errors
///
/// As [`Database::save`]; those of `check`.
pub(in crate::db) fn save_all(database: &Database, to: &Path, check: Check<'_>) -> Result<()> {
    let mut saved = BTreeSet::new();
    let registry = loop {
        for id in database.registry()?.namespaces.iter() {
            if saved.contains(id) {
                continue;
            }
            check()?;
            let folder = folder_in(to, *id);
            let done = database.namespace_full(*id).and_then(|it| it.save_one(&folder, check));
            // One that was dropped meanwhile is not in the copy.
            if done.is_err() && database.registry()?.namespaces.contains(id) {
                return done;
            }
            saved.insert(*id);
        }
        // None is made between this look and the copy of what lists them. That one comes last: it
        // knows how far uids were handed out.
        let lock = database.all.lock();
        let registry = database.registry()?;
        if registry.namespaces.is_subset(&saved) {
            save_reserved(database, to, check, &lock)?;
            break registry;
        }
    };
    remove_unlisted(to, |id| registry.namespaces.contains(&id))
}

fn save_reserved(
    database: &Database,
    to: &Path,
    check: Check<'_>,
    _lock: &NamespaceLock<'_>,
) -> Result<()> {
    let copy = folder_in(to, RESERVED);
    match database.all.opened(RESERVED) {
        Some(reserved) => database.without_caller().within(reserved).save_one(&copy, check),
        None => remove_folder(&copy),
    }
}
