//! Builds the predicates of a load, and replaces the previous ones.

use super::{Built, EXTERNAL, Label, Pending, with_bound};
use crate::graph::build::replaced_rows::Superseded;
use crate::graph::load::spill::Spill;
use crate::graph::load::typed_endpoints::EdgeEndpoints;
use crate::graph::load::unique::check_unique;
use crate::graph::version::graph_version::Version;
use crate::graph::version::predicate::Predicate;
use hexgraph_base::budget::Reservation;
use hexgraph_base::schema::{PredicateDef, Schema};
use hexgraph_base::types::Result;
use rayon::prelude::*;
use roaring::RoaringBitmap;
use std::sync::Arc;

/// Builds predicates of a load.
pub(super) struct Builder<'a> {
    /// The version with what is stored.
    pub version: &'a Version,
    /// The nodes of the numbers from [`EXTERNAL`] on.
    pub numbers: &'a [u32],
    pub label: &'a Label<'a>,
    pub reservation: &'a Reservation,
}

/// A predicate of a load.
pub(super) struct BuiltPredicate {
    predicate: Predicate,
    /// The nodes of its statements but for the targets of edges, and these.
    nodes: [RoaringBitmap; 2],
    /// The number of its edges that came again.
    repeated: u64,
    superseded: Superseded,
}

impl BuiltPredicate {
    /// The endpoints of its edges. `None` for a predicate of values.
    pub(super) fn endpoints(&self) -> Option<EdgeEndpoints> {
        let [sources, targets] = &self.nodes;
        self.predicate.is_edges().then(|| EdgeEndpoints {
            predicate: self.predicate.def.name.clone(),
            sources: sources.clone(),
            targets: targets.clone(),
        })
    }
}

impl Builder<'_> {
    /// Builds predicates: with a bound on memory one after the other, so that none stays in memory.
    pub(super) fn build_all(
        &self,
        predicates: Vec<Pending>,
        spill: Option<&mut Spill>,
    ) -> Result<Vec<BuiltPredicate>> {
        let Some(spill) = spill else {
            return predicates.into_par_iter().map(|pending| self.build(pending, None)).collect();
        };
        let before = self.reservation.used();
        let mut all = Vec::with_capacity(predicates.len());
        for pending in predicates {
            let built = self.build(pending, Some(&mut *spill))?;
            let predicate = spill.settle(built.predicate, self.version.thresholds)?;
            all.push(BuiltPredicate { predicate, ..built });
            self.reservation.retain_only(before);
        }
        Ok(all)
    }

    fn build(&self, mut pending: Pending, spill: Option<&mut Spill>) -> Result<BuiltPredicate> {
        let Builder { version, numbers, label, reservation } = *self;
        let is_bounded = spill.is_some();
        let old = version.predicates.get(pending.def.name.as_str()).map(|old| &**old);
        let came = pending.edge_count();
        let gone = |came: u64, predicate: &Predicate| match came {
            0 => 0,
            // Each edge, stored or new, is there once, so the difference is the number of repeats.
            _ => came + edge_count(old) - edge_count(Some(predicate)),
        };
        if let Some(spill) = spill.filter(|_| pending.is_lean(old)) {
            reservation.reserve(pending.sort_len(spill.memory()) as u64)?;
            let (nodes, predicate) = pending.build_lean(old, numbers, spill)?;
            let repeated = gone(came, &predicate);
            let superseded = Superseded::default();
            return Ok(BuiltPredicate { predicate, nodes, repeated, superseded });
        }
        let stored = if came == 0 { 0 } else { edge_count(old) };
        let reserved = reservation.reserve(pending.build_len(stored) as u64);
        if is_bounded {
            reserved?
        } else {
            reserved.map_err(with_bound)?
        }
        pending.read_back()?;
        if !numbers.is_empty() {
            pending.renumber(|node| numbers[(node - EXTERNAL) as usize]);
        }
        let nodes = pending.endpoints();
        let (predicate, superseded) = pending.build(old, &version.thresholds, is_bounded);
        check_unique(&predicate, (&version.nodes, &version.schema), label)?;
        let repeated = gone(came, &predicate);
        Ok(BuiltPredicate { predicate, nodes, repeated, superseded })
    }
}

/// The version with the predicates replaced.
pub(super) fn joined(next: Version, built: Vec<BuiltPredicate>) -> Built {
    let mut all_nodes = RoaringBitmap::new();
    let mut schema = Schema::clone(&next.schema);
    let mut all = Built::of(next);
    for BuiltPredicate { predicate, nodes: [nodes, targets], repeated, superseded } in built {
        all_nodes |= nodes;
        all_nodes |= targets;
        all.repeated += repeated;
        let def = &predicate.def;
        all.supersede(&def.name, superseded);
        if !schema.predicates.contains_key(&def.name) {
            schema.predicates.insert(def.name.clone(), PredicateDef::clone(def));
        }
        all.version.replace([(Arc::from(def.name.as_str()), Arc::new(predicate))]);
    }
    all.version.schema = Arc::new(schema);
    all.nodes = all_nodes.len();
    all
}

/// The number of edges of a predicate.
fn edge_count(predicate: Option<&Predicate>) -> u64 {
    let edges = predicate.and_then(|predicate| predicate.direction(false));
    edges.map_or(0, |edges| match edges.is_clean() {
        true => edges.base.targets.len() as u64,
        false => edges.subjects().iter().map(|node| edges.count(node) as u64).sum(),
    })
}
