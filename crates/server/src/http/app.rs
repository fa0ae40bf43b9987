//! What every request may use: the database, and what the server keeps beside it.

use super::admission::Lanes;
use super::graphql::Feeds;
use crate::http::guard::security::Security;
use crate::http::guard::switches::Switches;
use crate::http::message::incoming::Bodies;
use hexgraph::db::graphql::{Folder, Tasks};
use hexgraph::db::{Canceller, Database};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;

/// What every request may use.
pub(super) struct App {
    /// The data.
    pub database: Database,
    /// Where the server listens.
    pub address: SocketAddr,
    /// When the server started.
    pub started: Instant,
    /// Whether slow queries are printed to standard error.
    pub prints_slow: bool,
    /// The subscriptions of its clients.
    pub feeds: Arc<Feeds>,
    /// Who may alter and administer.
    pub security: Security,
    /// Where exports and backups go.
    pub exports: Option<Folder>,
    /// Places for answers that are written while they are sent.
    pub streams: Arc<Semaphore>,
    /// What bodies draw of.
    pub bodies: Bodies,
    /// Which requests run, and which wait.
    pub lanes: Arc<Lanes>,
    /// What an operator may switch.
    pub switches: Arc<Switches>,
    /// What requests had begun that take longer than they.
    pub tasks: Arc<Tasks>,
    /// Fails its check once the server is stopped.
    pub stopping: Canceller,
}

impl App {
    /// True once requests that run have to end.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.check().is_err()
    }
}
