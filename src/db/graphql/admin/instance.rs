//! What a surface lends to requests that administer: what it knows of itself, and what it can do.

use crate::db::graphql::admin::{Folder, Tasks};
use hexgraph_store::exec::RequestContext;
use std::net::IpAddr;
use std::sync::Arc;

/// The version in responses: that of Dgraph whose clients are supported, which some of them
/// compare, and ours.
pub const VERSION_TAG: &str = concat!("v25.2.0+hexgraph.", env!("CARGO_PKG_VERSION"));

/// What a surface, such as the HTTP server, lends to a request of the administration API.
pub struct Instance<'a> {
    /// The address on which the surface answers.
    pub address: String,
    /// The number of seconds since the surface was started.
    pub uptime: u64,
    /// The present time, in seconds since 1970.
    pub now: u64,
    /// The reason why this caller may only introspect the API; `None` if the caller may do
    /// everything.
    pub refusal: Option<String>,
    /// The address of the client, if available.
    pub client: Option<IpAddr>,
    /// The folder for exports and backups; `None` if they are not allowed.
    pub folder: Option<&'a Folder>,
    /// The tasks of the surface: exports and backups.
    pub tasks: &'a Arc<Tasks>,
    /// The context that stops the request.
    pub context: &'a RequestContext,
    /// Receives the acts that only the surface itself can execute.
    pub act: &'a dyn Fn(Act),
}

/// An operation on the server itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Refuse requests of clients (true), or answer them again (false).
    Drain(bool),
    /// Stop after the running requests.
    ShutDown,
}
