//! Ids of tables that are looked up in the stored graph, and what became of those that no node has.

use crate::graph::version::whole::Version;
use crate::index::{IndexKind, TokenKey};
use hexgraph_base::types::ValueRef;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::{Mutex, PoisonError};

/// The number of ids without a node that are kept for a report.
const LOST_MAX: usize = 5;

/// Returns the node that has `id` as its value of a predicate, by the predicate's index. O(log values).
pub(super) fn stored_node(version: &Version, predicate: &str, id: ValueRef<'_>) -> Option<u32> {
    let values = version.predicate(predicate)?.values("")?;
    let token = TokenKey::of(id)?;
    let bound = Bound::Included(&token);
    values.index(IndexKind::Ordered)?.range(bound, bound).iter().next()
}

/// The stored nodes by their ids, for a load that makes no nodes.
pub(super) struct StoredIds {
    /// The graph that is asked.
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

/// Collects lost ids from many threads; what is kept does not depend on their order.
#[derive(Default)]
pub(super) struct Lost {
    found: Mutex<(u64, BTreeSet<(u64, String)>)>,
}

impl Lost {
    /// Notes an id that stands at a place.
    pub(super) fn note(&self, place: u64, id: String) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.0 += 1;
        let known = found.1.iter().find(|(_, other)| *other == id).map(|(at, _)| *at);
        match known {
            Some(at) if at <= place => return,
            Some(at) => {
                found.1.remove(&(at, id.clone()));
            }
            None => {}
        }
        found.1.insert((place, id));
        if LOST_MAX < found.1.len() {
            found.1.pop_last();
        }
    }

    /// Returns what was noted.
    pub(super) fn ids(&self) -> LostIds {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let first = found.1.iter().map(|(_, id)| id.clone()).collect();
        LostIds { count: found.0, first }
    }
}
