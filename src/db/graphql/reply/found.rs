//! What other servers answered, by the places of an answer where it belongs.
//!
//! A place is told by addresses: that of the field that was asked, and that of the object around it, which is a node of a level or
//! an object of another server's answer. Neither moves before the answer is written, and nothing is read through them.

use hexgraph_graphql::lower::Key;
use hexgraph_graphql::remote::Reply;
use hexgraph_graphql::request::Field;
use hexgraph_store::exec::Level;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use std::ptr::from_ref;
use std::sync::Arc;

/// A place of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::db::graphql) struct Slot(usize, usize, usize);

impl Slot {
    /// A member of the node at a place of a level.
    pub(in crate::db::graphql) fn of_node(key: &Key<'_>, level: &Level, place: usize) -> Slot {
        Slot(from_ref(key).addr(), from_ref(level).addr(), place)
    }

    /// A member of another server's object.
    pub(in crate::db::graphql) fn of_object(asked: &Field, object: &Map<String, Value>) -> Slot {
        Slot(from_ref(asked).addr(), from_ref(object).addr(), 0)
    }

    /// A root field.
    pub(in crate::db::graphql) fn of_root(asked: &Field) -> Slot {
        Slot(from_ref(asked).addr(), 0, 0)
    }
}

/// What another server answered for a place.
#[derive(Debug, Default)]
pub(in crate::db::graphql) struct Remote {
    /// The value, and what went wrong.
    pub reply: Reply,
    /// Keys are those of the request, and not names of fields.
    pub is_by_key: bool,
    /// There is no value because something went wrong, which may be told at another place.
    pub is_failed: bool,
}

/// The answers of other servers.
#[derive(Debug, Default)]
pub(in crate::db::graphql) struct Found(FxHashMap<Slot, Arc<Remote>>);

impl Found {
    /// Keeps what belongs to a place.
    pub(in crate::db::graphql) fn insert(&mut self, slot: Slot, remote: Arc<Remote>) {
        self.0.insert(slot, remote);
    }

    /// What belongs to a place.
    pub(in crate::db::graphql) fn get(&self, slot: Slot) -> Option<&Remote> {
        self.0.get(&slot).map(|remote| &**remote)
    }
}
