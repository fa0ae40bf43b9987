//! What a surface lends to requests that administer: what it knows of itself, and what it can do.

use crate::db::graphql::admin::{Folder, Tasks};
use hexgraph_store::exec::Control;
use std::sync::Arc;

/// A running surface, and who asks it.
pub struct Instance<'a> {
    /// Where it answers.
    pub address: String,
    /// For how many seconds.
    pub uptime: u64,
    /// The seconds since 1970.
    pub now: u64,
    /// Why this caller may do nothing but look at the API; `None` for one who may.
    pub refusal: Option<String>,
    /// Where exports and backups go; without it there are none.
    pub folder: Option<&'a Folder>,
    /// What is under way, and what was.
    pub tasks: &'a Arc<Tasks>,
    /// What stops the request.
    pub control: &'a Control,
    /// What only the surface itself can do.
    pub act: &'a dyn Fn(Act),
}

/// Something that the surface does to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Answers no more clients until it is told otherwise.
    Drain(bool),
    /// Ends, once what is under way has been answered.
    ShutDown,
}
