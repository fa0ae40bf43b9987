//! The commit of a transaction: its changes are applied again on the newest version.

use super::open_txn::{DetachedNodes, Work};
use crate::db::database::Database;
use hexgraph_base::types::{Error, Result, Uid};
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph::{Claim, ConflictKey, Version, detach, encode_changes};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::sync::Arc;

impl Database {
    /// Commits what a transaction has done, on the newest version. Of its keys only those in `keys`
    /// are checked, where they are given.
    ///
    /// # Errors
    ///
    /// `Conflict` where somebody else has changed the same things meanwhile; those of a commit.
    pub(super) fn commit_work(&self, work: Work, keys: Option<&[ConflictKey]>) -> Result<u64> {
        if work.is_doomed {
            return Err(Error::Conflict);
        }
        if work.changes.is_empty() {
            return Ok(self.open_state()?.store.snapshot().number());
        }
        let Work { snapshot, view, changes, keys: own, names, detached, .. } = work;
        let checked = match keys {
            Some(keys) => {
                let expected: FxHashSet<ConflictKey> = keys.iter().copied().collect();
                Cow::Owned(own.iter().copied().filter(|key| expected.contains(key)).collect())
            }
            None => Cow::Borrowed(own.as_slice()),
        };
        let claim = Claim { snapshot: snapshot.version().commit, keys: &checked, names: &names };
        // A client that requests no key to be checked gets none checked.
        let claim = (keys.is_none() || !checked.is_empty()).then_some(claim);
        let (commit, ()) = self.change(claim, |version, commit| {
            if let Some(record) = &mut commit.record {
                encode_changes(&changes, record);
            }
            // Nobody has committed since the transaction began, so its view is the next version
            // already.
            if Arc::ptr_eq(version, snapshot.version()) {
                commit.keys.extend_from_slice(&own);
                return Ok((Version::clone(&view), ()));
            }
            let (mut next, context) = (Version::clone(version), RequestContext::new());
            for (at, changes) in changes.into_iter().enumerate() {
                // Values were converted by the schema of the snapshot: they mean nothing under
                // another one.
                if !changes.fit(&next.schema) {
                    return Err(Error::Conflict);
                }
                let keys = &mut commit.keys;
                let effect;
                (next, effect) =
                    self.compute(&context, || changes.apply_keyed(&next, keys, &|| Ok(())))?;
                // Deleting all of a node has no key of each value that it takes away.
                if detached.iter().any(|nodes| nodes.at == at && nodes.effect != effect) {
                    return Err(Error::Conflict);
                }
            }
            // An edge to a deleted node has the key of its source, so no key covers it.
            for DetachedNodes { uids, .. } in &detached {
                if left_at(&next, uids)? != left_at(&view, uids)? {
                    return Err(Error::Conflict);
                }
            }
            Ok((next, ()))
        })?;
        Ok(commit)
    }
}

/// The number of deletes that would remove what some nodes have, with the edges to them.
fn left_at(version: &Version, uids: &[Uid]) -> Result<usize> {
    let (changes, _) = detach(version, uids, &|_| Ok(()), &|| Ok(()))?;
    Ok(changes.delete_count())
}
