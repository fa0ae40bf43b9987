//! The one integration test: each file here is a question to the whole crate.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod depth;
mod geo;
mod golden;
#[cfg(feature = "http")]
mod isolation;
#[cfg(feature = "graphql")]
mod graphql;
#[cfg(feature = "graphql")]
mod graphql_links;
#[cfg(feature = "graphql")]
mod graphql_mutations;
mod layers;
mod limits;
mod process;
mod shortest;
mod torture;
mod transactions;
mod twin;
mod versions;
