//! Replays commits made during a load on the version that the load built.
//!
//! A load starts from the newest version, and writers go on. The log records of their commits are
//! collected and replayed on the loaded version, as recovery does. So a value committed during the
//! load wins, as if it had been written after the load, and recovery after a crash gives the same
//! result.
//!
//! Predicates that the load does not touch come from the head unchanged.

use super::replay::Replay;
use crate::graph::build::compact::is_compaction_due;
use crate::graph::change::apply::check_alone;
use crate::graph::change::changes::Changes;
use crate::graph::thresholds::Thresholds;
use crate::graph::version::graph_version::Version;
use hexgraph_base::budget::{Budget, Reservation};
use hexgraph_base::schema::Schema;
use hexgraph_base::types::{Error, Result, Value};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The records of commits since a load began.
pub(super) struct Tail {
    records: Vec<(u64, Vec<u8>)>,
    reservation: Reservation,
    /// The first failed reservation for a record. The load then fails, and writers go on.
    failure: Option<Error>,
}

impl Tail {
    /// No commit yet. `budget` provides the memory of the records.
    pub(super) fn new(budget: &Budget) -> Tail {
        Tail { records: Vec::new(), reservation: budget.reservation(), failure: None }
    }

    /// Notes a commit.
    pub(super) fn note(&mut self, commit: u64, record: Vec<u8>) {
        if self.failure.is_some() {
            return;
        }
        match self.reservation.reserve((record.len() + size_of::<(u64, Vec<u8>)>()) as u64) {
            Ok(()) => self.records.push((commit, record)),
            Err(failure) => {
                self.records = Vec::new();
                self.failure = Some(failure);
            }
        }
    }

    /// Takes the records that were noted since the last call.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when there was no memory for one of them.
    pub(super) fn drain(&mut self) -> Result<Vec<(u64, Vec<u8>)>> {
        match self.failure.take() {
            None => Ok(std::mem::take(&mut self.records)),
            Some(failure) => Err(failure),
        }
    }
}

/// The version that a load made, with the commits that came meanwhile.
pub(in crate::graph) struct CatchUp {
    replay: Replay,
    rules: CatchUpRules,
    thresholds: Thresholds,
    /// The bytes that the load replaced.
    replaced: u64,
}

/// What is looked at in the commits that came meanwhile.
struct CatchUpRules {
    /// The predicates that the load changed. `None` if the load added uids of 2^31 and more, so
    /// that all node ids differ.
    touched: Option<FxHashSet<Arc<str>>>,
    /// Values that no two nodes may have, and that the load may have given to another one.
    unique: Vec<UniqueValue>,
}

/// A value that no two nodes may have.
struct UniqueValue {
    name: String,
    lang: Box<str>,
    value: Value,
}

impl CatchUp {
    /// The version `made` was made of `base` by a load.
    pub(in crate::graph) fn new(base: &Version, mut made: Version) -> CatchUp {
        let is_same_table = base.nodes.high().len() == made.nodes.high().len();
        let touched = made.predicates.iter().filter(|(name, _)| !made.has_same(base, name));
        let touched = touched.map(|(name, _)| Arc::clone(name)).collect();
        let rules = CatchUpRules { touched: is_same_table.then_some(touched), unique: Vec::new() };
        let (thresholds, replaced) = (made.thresholds, made.replaced - base.replaced);
        // Compaction costs O(predicate), and the last commits are replayed under the writer lock,
        // so none runs here.
        made.thresholds.changes_min = usize::MAX;
        CatchUp { replay: Replay::new(made), rules, thresholds, replaced }
    }

    /// Replays commits. O(statements · log).
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when a predicate that both define is not the same in both, or a vector has
    /// another length than those of the load.
    pub(in crate::graph) fn add(&mut self, records: &[(u64, Vec<u8>)]) -> Result<()> {
        for (commit, record) in records {
            self.replay.gather_record(*commit, record)?;
        }
        let (gathered, version) = self.replay.gathered();
        self.rules.look_at(gathered, &version.schema)?;
        self.replay.execute()
    }

    /// The version after all commits up to `head`, which were added.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when two nodes would have a value that only one may have.
    pub(in crate::graph) fn finish(mut self, head: &Version) -> Result<Version> {
        let mut next = self.replay.version()?;
        for UniqueValue { name, lang, value } in &self.rules.unique {
            check_alone(&next, (name, lang), value.as_ref())?;
        }
        let is_touched = |name: &Arc<str>| match &self.rules.touched {
            Some(touched) => touched.contains(name),
            None => true,
        };
        if self.rules.touched.is_some() {
            if next.nodes.high().as_slice() != head.nodes.high().as_slice() {
                return Err(Error::internal("commits during a load have other nodes than it"));
            }
            let made = std::mem::replace(&mut next.predicates, head.predicates.clone());
            next.predicates.extend(made.into_iter().filter(|(name, _)| is_touched(name)));
            next.nodes = head.nodes.clone();
        }
        next.thresholds = self.thresholds;
        next.replaced = head.replaced + self.replaced;
        let is_due = next
            .predicates
            .iter()
            .any(|(name, it)| is_touched(name) && is_compaction_due(it, &self.thresholds));
        next.is_compaction_due = head.is_compaction_due || is_due;
        Ok(next)
    }
}

impl CatchUpRules {
    /// Leaves out what the load did not touch, and notes what has to be compared with what it did.
    fn look_at(&mut self, changes: &mut Changes, schema: &Schema) -> Result<()> {
        for def in &changes.definitions {
            if let Some(existing) =
                schema.predicates.get(&def.name).filter(|existing| !existing.is_alike(def))
            {
                let (name, existing, def) = (&def.name, existing.type_text(), def.type_text());
                return Err(Error::query(format!(
                    "predicate `{name}` is new: the load makes it {existing}, and a commit while it ran made it {def}; define it by `alter` and load again"
                )));
            }
        }
        let Changes { predicates, langs, parts, .. } = changes;
        if let Some(touched) = &self.touched {
            let is_touched: Vec<bool> =
                predicates.iter().map(|def| touched.contains(def.name.as_str())).collect();
            for part in parts.iter_mut() {
                part.deletes.retain(|delete| is_touched[delete.predicate as usize]);
                part.values.retain(|value| is_touched[value.predicate as usize]);
                part.edges.retain(|edge| is_touched[edge.predicate as usize]);
            }
        }
        for value in parts.iter().flat_map(|part| &part.values) {
            let def = &predicates[value.predicate as usize];
            if schema.predicates.get(&def.name).is_some_and(|def| def.unique) {
                self.unique.push(UniqueValue {
                    name: def.name.clone(),
                    lang: langs[value.lang as usize].clone(),
                    value: value.value.clone(),
                });
            }
        }
        Ok(())
    }
}
