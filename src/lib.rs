//! hexgraph: an embedded, in-memory, lock-free analytic graph engine that speaks DQL.
//!
//! A database lives in the memory of the process that opens it, and on the disk where it is given a directory. Readers see the
//! version that was newest when they began and never wait for writers; writers commit one after the other.
//!
//! [`db::Database`] is the entry: it loads, answers, changes, saves and opens. The other modules have what it takes and
//! gives: values and errors, tables and texts of answers, the budget of memory that requests share.
//!
//! ```
//! use hexgraph::db::Database;
//!
//! # fn main() -> hexgraph::types::Result<()> {
//! let db = Database::in_memory();
//! db.alter("name: string @index(exact) .\nfriend: [uid] .")?;
//! db.mutate("<0x1> <name> \"Ada\" .\n<0x2> <name> \"Bob\" .\n<0x1> <friend> <0x2> .", "")?;
//! let answer = db.query("{ q(func: eq(name, \"Ada\")) { friend { name } } }")?;
//! assert_eq!(answer.to_json()?.0, r#"{"q":[{"friend":[{"name":"Bob"}]}]}"#);
//! # Ok(())
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

pub use hexgraph_base::{answer, budget, types};

pub mod layout;
pub mod db;
#[cfg(feature = "tables")]
pub mod tables;

/// The layers that the database is made of, for the project's own tests, benches and fuzz targets. They change without
/// notice.
#[cfg(feature = "internals")]
pub mod internals {
    pub use hexgraph_base::{formats, geo, plan, schema, text};
    pub use hexgraph_dql as dql;
    #[cfg(feature = "graphql")]
    pub use hexgraph_graphql as graphql;
    pub use hexgraph_store::{durability, exec, graph, index, storage};
}

/// The examples of the crate's page run as tests.
#[cfg(doctest)]
#[doc = include_str!("../CRATE.md")]
struct CratePage;
