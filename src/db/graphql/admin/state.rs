//! The state of a database as its administrators see it.

use crate::db::Database;
use crate::db::graphql::admin::{Instance, VERSION_TAG};
use hexgraph_base::types::{Error, Uid};
use serde_json::{Map, Value as Json, json};

/// # State for administrators
impl Database {
    /// Returns the GraphQL schema and the API that was generated from it.
    ///
    /// # Errors
    ///
    /// Fails only when the database is closed.
    pub(super) fn shown_schema(&self) -> Result<Json, Error> {
        // One who may only read can make no node for it.
        let id = self.graphql_schema_id().unwrap_or(Uid(0));
        let (schema, generated) = match self.graphql_schema()? {
            Some(existing) => (existing.schema, existing.generated),
            None => (String::new(), String::new()),
        };
        Ok(json!({ "id": id.to_string(), "schema": schema, "generatedSchema": generated }))
    }

    /// The same as `state` at `/admin`, in the form of `GET /state`: objects are keyed by their
    /// ids, and great numbers are text.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// let state = db.membership("localhost:7080", 1_767_225_600)?;
    /// assert_eq!(state["zeros"]["1"]["addr"], "localhost:7080");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails only when the database is closed.
    pub fn membership(&self, address: &str, started: u64) -> Result<Json, Error> {
        let version = self.version()?;
        let (namespace, commit) = (self.namespace_id(), version.commit.to_string());
        let tablet = |name: &str| {
            let name = format!("{namespace}-{name}");
            json!({
                "groupId": 1, "predicate": &name, "force": false, "onDiskBytes": "0", "remove": false,
                "readOnly": false, "moveTs": "0", "uncompressedBytes": "0",
            })
        };
        let tablets = version.predicates().map(|(name, _)| name);
        let tablets: Map<String, Json> =
            tablets.map(|name| (format!("{namespace}-{name}"), tablet(name))).collect();
        let member = |group: u64| {
            json!({
                "id": "1", "groupId": group, "addr": address, "leader": true, "amDead": false,
                "lastUpdate": started.to_string(), "clusterInfoOnly": false, "forceGroupId": false,
            })
        };
        let group = json!({
            "members": { "1": member(1) }, "tablets": tablets, "snapshotTs": &commit,
            "checksum": "0", "checkpointTs": "0",
        });
        Ok(json!({
            "counter": &commit, "groups": { "1": group }, "zeros": { "1": member(0) },
            "maxUID": version.uids.next().to_string(), "maxTxnTs": &commit, "maxNsID": self.namespaces().ok().and_then(|all| all.last().copied()).unwrap_or(namespace).to_string(),
            "maxRaftId": "1", "removed": [], "cid": "",
        }))
    }

    /// Returns the members and groups of a cluster that consists of this one server.
    ///
    /// # Errors
    ///
    /// Fails only when the database is closed.
    pub(super) fn cluster_state(&self, instance: &Instance<'_>) -> Result<Json, Error> {
        let (version, namespace) = (self.version()?, self.namespace_id());
        // Who administers one of them is reported of none.
        let namespaces = if namespace == 0 { self.namespaces()? } else { Vec::new() };
        let names = version.predicates().map(|(name, _)| name);
        let tablets: Vec<Json> = names
            .map(|name| json!({ "groupId": 1, "predicate": format!("{namespace}-{name}") }))
            .collect();
        let started = instance.now.saturating_sub(instance.uptime);
        let member = |group: u64| {
            json!({
                "id": 1,
                "groupId": group,
                "addr": instance.address,
                "leader": true,
                "lastUpdate": started,
            })
        };
        Ok(json!({
            "counter": version.commit,
            "groups": [{ "id": 1, "members": [member(1)], "tablets": tablets, "snapshotTs": version.commit }],
            "zeros": [member(0)],
            "maxUID": version.uids.next(),
            "maxTxnTs": version.commit,
            "maxRaftId": 1,
            "removed": [],
            "cid": "",
            "namespaces": namespaces,
        }))
    }
}

/// Returns the health of the one server.
pub(super) fn health(instance: &Instance<'_>) -> Json {
    json!({
        "instance": "alpha",
        "address": instance.address,
        "status": "healthy",
        "group": "1",
        "version": VERSION_TAG,
        "uptime": instance.uptime,
        "lastEcho": instance.now,
        "ongoing": [],
        "indexing": [],
        "ee_features": [],
    })
}
