//! What other servers answered, by positions in the answer.
//!
//! A position is a pair of addresses: that of the field, and that of the enclosing object, which is
//! a node of a level or an object of another server's answer. Neither moves before the answer is
//! written, and nothing is read through them.

use hexgraph_graphql::lower::Key;
use hexgraph_graphql::remote::Reply;
use hexgraph_graphql::request::Field;
use hexgraph_store::exec::Level;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use std::ptr::from_ref;
use std::sync::Arc;

/// A position in an answer, identified by addresses of the request and of the objects around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::db::graphql) struct Slot(usize, usize, usize);

impl Slot {
    /// Returns the slot of a field of one node: the node at index `position` of a level.
    pub(in crate::db::graphql) fn of_node(key: &Key<'_>, level: &Level, position: usize) -> Slot {
        Slot(from_ref(key).addr(), from_ref(level).addr(), position)
    }

    /// Returns the slot of a field of an object that another server answered.
    pub(in crate::db::graphql) fn of_object(
        requested: &Field,
        object: &Map<String, Value>,
    ) -> Slot {
        Slot(from_ref(requested).addr(), from_ref(object).addr(), 0)
    }

    /// Returns the slot of a root field.
    pub(in crate::db::graphql) fn of_root(requested: &Field) -> Slot {
        Slot(from_ref(requested).addr(), 0, 0)
    }
}

/// The answer of another server for one slot.
#[derive(Debug, Default)]
pub(in crate::db::graphql) struct Remote {
    /// The value, and the errors that the server reported.
    pub reply: Reply,
    /// True if the keys of objects are the response keys of the request rather than the names of
    /// the fields.
    pub is_by_key: bool,
    /// True if there is no value because of an error. The error itself may be reported at another
    /// slot.
    pub is_failed: bool,
}

/// The answers of other servers.
#[derive(Debug, Default)]
pub(in crate::db::graphql) struct RemoteResults(FxHashMap<Slot, Arc<Remote>>);

impl RemoteResults {
    /// Stores the answer for a slot.
    pub(in crate::db::graphql) fn insert(&mut self, slot: Slot, remote: Arc<Remote>) {
        self.0.insert(slot, remote);
    }

    /// Returns the answer for a slot.
    pub(in crate::db::graphql) fn get(&self, slot: Slot) -> Option<&Remote> {
        self.0.get(&slot).map(|remote| &**remote)
    }
}
