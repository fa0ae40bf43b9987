//! The one integration test: each file here is a question to the whole crate.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

#[cfg(feature = "http")]
mod admin;
mod depth;
#[cfg(feature = "graphql")]
mod formats;
mod geo;
mod golden;
#[cfg(feature = "graphql")]
mod graphql;
#[cfg(feature = "client")]
mod graphql_custom;
#[cfg(feature = "graphql")]
mod graphql_links;
#[cfg(feature = "graphql")]
mod graphql_mutations;
#[cfg(feature = "graphql")]
mod graphql_recorded;
#[cfg(feature = "graphql")]
mod graphql_twin;
#[cfg(feature = "graphql")]
mod guarded;
#[cfg(feature = "http")]
mod hostile;
#[cfg(feature = "http")]
mod isolation;
mod layers;
mod limits;
#[cfg(feature = "http")]
mod passwords;
mod process;
#[cfg(feature = "http")]
mod reserved;
mod shortest;
mod stacks;
#[cfg(feature = "http")]
mod subscriptions;
mod torture;
mod transactions;
mod twin;
mod uids;
#[cfg(feature = "http")]
mod upserts;
mod versions;
#[cfg(feature = "http")]
mod wait;
#[cfg(feature = "http")]
mod wire;
