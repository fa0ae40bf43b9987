//! hexgraph: an embedded, in-memory, lock-free analytic graph engine that speaks DQL.
//!
//! [`db::Database`] is the one door: it loads, answers, changes, saves and opens. The modules stand
//! in the order of their layers; ARCHITECTURE.md tells what each is for.
//!
//! ```
//! use hexgraph::db::{Control, Database, QueryRequest};
//!
//! # fn main() -> hexgraph::types::Result<()> {
//! let db = Database::in_memory();
//! db.alter("name: string @index(term) .\nfriend: [uid] .")?;
//! db.mutate("<0x1> <name> \"Ada\" .\n<0x2> <name> \"Bob\" .\n<0x1> <friend> <0x2> .", "")?;
//! let text = "{ q(func: allofterms(name, \"ada\")) { friend { name } } }".to_owned();
//! let answer = db.query(&QueryRequest { text, ..QueryRequest::default() }, &Control::new())?;
//! assert_eq!(answer.to_json()?.0, r#"{"q":[{"friend":[{"name":"Bob"}]}]}"#);
//! # Ok(())
//! # }
//! ```

pub mod types;
pub mod budget;
pub mod text;
pub mod geo;
pub mod schema;
pub mod formats;
pub mod storage;
pub mod index;
pub mod graph;
pub mod durability;
pub mod answer;
pub mod plan;
pub mod exec;
pub mod dql;
#[cfg(feature = "graphql")]
pub mod graphql;
pub mod db;
#[cfg(feature = "tables")]
pub mod tables;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "http")]
pub mod cli;
#[cfg(feature = "python")]
mod python;

/// Large lists come and go with every query: this allocator keeps their pages, where the system's
/// gives them back and faults them in again.
#[cfg(feature = "allocator")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
