//! [`Registry`]: what the reserved database says, read once for each version of it.

use crate::db::query::objects::objects;
use rustc_hash::FxHashMap;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// The predicates of the reserved database.
pub(super) const SCHEMA: &str = "
hexgraph.namespace: int @index(int) .
hexgraph.namespace.dropped: int .
hexgraph.uids: int .
hexgraph.key: string @index(exact) .
hexgraph.key.digest: string .
hexgraph.key.name: string .
hexgraph.key.role: string .
hexgraph.key.namespace: int .
hexgraph.key.made: int .
hexgraph.key.expires: int .
hexgraph.key.revoked: int .
";

/// Reads all of it.
pub(super) const QUERY: &str = "{
  namespaces(func: has(hexgraph.namespace)) { hexgraph.namespace hexgraph.namespace.dropped }
  uids(func: has(hexgraph.uids)) { hexgraph.uids }
  keys(func: has(hexgraph.key)) {
    hexgraph.key hexgraph.key.digest hexgraph.key.name hexgraph.key.role hexgraph.key.namespace
    hexgraph.key.made hexgraph.key.expires hexgraph.key.revoked
  }
}";

/// Which namespaces there are, and which keys.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::db) struct Registry {
    /// The number of the commit of the reserved database that it was read from; 0 where there is
    /// none.
    pub commit: u64,
    /// The namespaces that there are, without 0.
    pub namespaces: BTreeSet<u64>,
    /// The number that the next namespace gets. None is used twice.
    pub next: u64,
    /// All uids that were handed out while there were several namespaces are below this one.
    pub uids: u64,
    /// The keys that were ever made, in the order of their making.
    pub keys: Vec<KeyRecord>,
    /// The positions of the keys in that list, by their digests and by their names.
    pub positions: FxHashMap<String, usize>,
}

/// A key of a client as it is stored. Times are in seconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::db) struct KeyRecord {
    /// The name by which it is revoked.
    pub id: String,
    /// The SHA-256 digest of the secret, in hexadecimal digits.
    pub digest: String,
    /// What it is for, in words of whoever made it.
    pub name: String,
    /// The name of its role.
    pub role: String,
    /// The namespace that it opens.
    pub namespace: u64,
    /// When it was made.
    pub made: u64,
    /// The expiry; `None` for one without.
    pub expires: Option<u64>,
    /// When it was revoked; `None` for one that holds.
    pub revoked: Option<u64>,
}

impl Registry {
    /// Reads the answer to [`QUERY`].
    pub(super) fn of_answer(commit: u64, answer: &Json) -> Registry {
        let mut registry = Registry { commit, next: 1, ..Registry::default() };
        for result in objects(&answer["namespaces"]) {
            let Some(id) = result["hexgraph.namespace"].as_u64() else { continue };
            registry.next = registry.next.max(id + 1);
            if result["hexgraph.namespace.dropped"].is_null() {
                registry.namespaces.insert(id);
            }
        }
        let uids = objects(&answer["uids"]).filter_map(|result| result["hexgraph.uids"].as_u64());
        registry.uids = uids.max().unwrap_or_default();
        registry.keys = objects(&answer["keys"]).filter_map(key).collect();
        registry.keys.sort_by(|one, other| (one.made, &one.id).cmp(&(other.made, &other.id)));
        for (position, key) in registry.keys.iter().enumerate() {
            registry.positions.insert(key.digest.clone(), position);
            registry.positions.insert(key.id.clone(), position);
        }
        registry
    }
}

fn key(result: &Json) -> Option<KeyRecord> {
    let text = |name: &str| result[name].as_str().map(str::to_owned);
    let number = |name: &str| result[name].as_u64();
    Some(KeyRecord {
        id: text("hexgraph.key")?,
        digest: text("hexgraph.key.digest")?,
        name: text("hexgraph.key.name").unwrap_or_default(),
        role: text("hexgraph.key.role")?,
        namespace: number("hexgraph.key.namespace")?,
        made: number("hexgraph.key.made").unwrap_or_default(),
        expires: number("hexgraph.key.expires"),
        revoked: number("hexgraph.key.revoked"),
    })
}
