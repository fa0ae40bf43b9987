//! Other definitions for a graph while writers go on.
//!
//! Indexes and reverse edges are built from one version, which costs O(predicates). Then the rows
//! that changed since are applied, as in a compaction, and the last of them under the writer lock:
//! see `graph/build/compaction.rs`.

use super::alter::build_defined;
use super::definitions::Definitions;
use crate::graph::build::compact::{Check, is_compaction_due};
use crate::graph::build::compaction::Compaction;
use crate::graph::version::graph_version::Version;
use hexgraph_base::budget::Reservation;
use hexgraph_base::types::Result;
use std::sync::Arc;

/// Predicates built under other definitions, which catch up with concurrent commits.
pub struct Redefinition {
    definitions: Definitions,
    built: Vec<(Arc<str>, Compaction)>,
    /// The memory reserved for them.
    _reservation: Reservation,
}

impl Redefinition {
    /// Builds the predicates of a version. Calls `check` before each index to see whether to go on.
    ///
    /// # Errors
    ///
    /// As [`super::alter::define`].
    pub fn new(
        version: &Version,
        definitions: Definitions,
        check: Check<'_>,
    ) -> Result<Redefinition> {
        let reservation = version.budget.reservation();
        let built = build_defined(version, &definitions, &reservation, check)?;
        let keeping_up = |(name, built): (Arc<str>, Arc<_>)| {
            let seen = version.predicates.get(&name).unwrap_or(&built);
            let compaction = Compaction::redefined(seen, Arc::clone(&built));
            (name, compaction)
        };
        let built = built.into_iter().map(keeping_up).collect();
        Ok(Redefinition { definitions, built, _reservation: reservation })
    }

    /// Applies what changed until `version`. Returns the number of rows, or `None` if more than
    /// rows changed, so that everything has to be rebuilt.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Schema`] for a value that a new index cannot index.
    pub fn catch_up(&mut self, version: &Version) -> Result<Option<usize>> {
        let mut rows = 0;
        for (name, compaction) in &mut self.built {
            // One that nobody had defined is its own origin: it has to be unknown still.
            let Some(now) = version.predicates.get(name) else { continue };
            match compaction.catch_up(now, &version.thresholds)? {
                Some(count) => rows += count,
                None => return Ok(None),
            }
        }
        Ok(Some(rows))
    }

    /// The definitions that it was built for.
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// The version after `head`, whose changes were applied last.
    pub fn version(&self, head: &Version) -> Version {
        let mut next = head.clone();
        self.definitions.apply(Arc::make_mut(&mut next.schema));
        next.replace(self.built.iter().map(|(name, it)| (Arc::clone(name), it.compacted())));
        let mut built = self.built.iter();
        next.is_compaction_due |=
            built.any(|(_, it)| is_compaction_due(&it.compacted(), &head.thresholds));
        next
    }
}
