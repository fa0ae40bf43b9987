//! [`App`], the state of the server common to all requests.

use super::admission::Queues;
use super::audit::AuditLog;
use super::graphql::Feeds;
use super::logs::RequestLog;
use super::metrics::ServerMetrics;
use crate::http::guard::security::Security;
use crate::http::guard::switches::Switches;
use crate::http::guard::users;
use crate::http::message::incoming::{Bodies, Incoming};
use crate::http::message::request_error::RequestError;
use crate::http::message::stream_slots::StreamSlots;
use axum::http::HeaderMap;
use hexgraph::db::access::KeyRole;
use hexgraph::db::graphql::{Folder, Headers, Tasks};
use hexgraph::db::{Canceller, Database};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

/// The state of the server common to all requests.
pub(super) struct App {
    /// The database, with the right to everything. Requests are answered from [`App::database_for`]
    /// the caller; this is for what concerns the server itself, and for what anybody may know.
    pub unguarded: Database,
    /// The address on which the server listens, or its file.
    pub address: String,
    /// The time when the server started.
    pub started: Instant,
    /// The ids of requests, and which are logged.
    pub logs: RequestLog,
    /// The GraphQL subscriptions of all clients.
    pub feeds: Arc<Feeds>,
    /// The rules on who may query, alter and administer.
    pub security: Security,
    /// The folder for exports and backups; `None` if requests may not write any.
    pub exports: Option<Folder>,
    /// Slots for answers that are written while they are sent; each of them occupies a thread.
    pub streams: Arc<StreamSlots>,
    /// The budget that the memory of bodies is reserved from.
    pub bodies: Bodies,
    /// Admission: which requests run, and which wait.
    pub admission: Arc<Queues>,
    /// What is counted for `/metrics`.
    pub metrics: Arc<ServerMetrics>,
    /// Draining and shutdown, which an operator switches.
    pub switches: Arc<Switches>,
    /// Exports and backups that go on after the request that began them was answered.
    pub tasks: Arc<Tasks>,
    /// The audit log, where one is retained.
    pub audit: Option<Arc<AuditLog>>,
    /// Its check fails once the server is stopping.
    pub stopping: Canceller,
}

impl App {
    /// The database as the sender of a request sees it.
    pub(super) fn database_for(&self, incoming: &Incoming) -> Database {
        self.database_at(incoming.headers(), incoming.client())
    }

    /// As [`App::database_for`], by the headers and the address.
    pub(super) fn database_at(&self, headers: &HeaderMap, address: Option<IpAddr>) -> Database {
        let role = self.security.role_at(&self.unguarded, headers, address);
        users::database_for(&self.unguarded, headers).with_role(role)
    }

    /// As [`App::database_for`], for the caller over a WebSocket. The upper bound of the sender's
    /// rights is determined by the handshake.
    pub(super) fn database_for_subscriber(&self, headers: &Headers, role: KeyRole) -> Database {
        users::database_for_subscriber(&self.unguarded, headers).with_role(role)
    }

    /// As [`App::database_for`], for a request that names the transaction `start` and its mark.
    ///
    /// # Errors
    ///
    /// [`RequestError::Mark`] when it is not the mark that the client was reported.
    pub(super) fn database_within(
        &self,
        incoming: &Incoming,
        start: u64,
        mark: &str,
    ) -> Result<Database, RequestError> {
        let database = self.database_for(incoming);
        users::check_mark(&database, start, mark)?;
        Ok(database)
    }

    /// Whether the server is stopping, so that running requests have to end.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.check().is_err()
    }
}
