//! Namespaces: isolated graphs in one database, and the reserved database, which lists them and the
//! keys of clients.
//!
//! Each namespace is a graph of its own with its own log, snapshot, schema, users and transactions,
//! in the folder `namespaces/N` of the directory; the namespace 0 is the directory itself, as it
//! was before there were others. They are opened when they are requested. Threads, memory and
//! limits are shared.

pub(in crate::db) mod namespace;
pub(in crate::db) mod registry;
mod set;
pub(in crate::db) mod operations;
mod copies;

pub(in crate::db) use copies::save_all;
pub(in crate::db) use namespace::Namespace;
pub(in crate::db) use set::{NamespaceSet, sibling_folders};
