#![doc = include_str!("../CRATE.md")]
//!
//! ## Where to go next
//!
//! - [`db::Database`]: open or create a graph, change it, query it, save it. Its methods are
//!   grouped by task.
//! - [`db::QueryAnswer`]: read an answer as rows of your types, JSON, N-Quads, or columns.
//! - [`db::Txn`]: several requests that read one snapshot and are committed as one.
//! - [`db::RequestContext`] and [`db::Limits`]: stop a request, and bound what it may use.
//! - [`db::OpenOptions`]: threads, memory, durability.
//! - [`types::Error`]: what can go wrong, by what the caller can do.
#![cfg_attr(
    feature = "tables",
    doc = "- [`tables`]: Arrow, Parquet and CSV as nodes and edges; answers as Arrow."
)]
#![cfg_attr(
    feature = "graphql",
    doc = "- [`db::graphql`]: schemas, requests and subscriptions of GraphQL."
)]
#![cfg_attr(feature = "graphql", doc = "- [`db::access`]: users, rights and keys of clients.")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(inline)]
pub use hexgraph_base::{answer, budget, types};
#[doc(inline)]
pub use hexgraph_scalar as cypher;

pub mod layout;
pub mod db;
#[cfg(feature = "tables")]
pub mod tables;

/// The layers that the database is made of, for the project's own tests, benches and fuzz targets.
/// They change without notice.
#[cfg(feature = "internals")]
pub mod internals {
    pub use hexgraph_base::{formats, geo, plan, schema, text};
    pub use hexgraph_dql as dql;
    #[cfg(feature = "graphql")]
    pub use hexgraph_graphql as graphql;
    pub use hexgraph_store::{durability, exec, graph, index, planner, storage};
}
