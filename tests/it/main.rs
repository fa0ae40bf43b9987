//! The one integration test: each file here is a question to the whole crate.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]
#![expect(
    unreachable_pub,
    reason = "nothing is offered by a program: `pub` is for the module above"
)]

mod access;
mod admin;
mod cascade;
mod cores;
mod depth;
mod docs;
mod file_format;
mod formats;
mod geo;
mod golden;
mod graphql;
mod graphql_custom;
mod graphql_links;
mod graphql_mutations;
mod graphql_recorded;
mod graphql_twin;
mod grpc;
mod guarded;
mod hostile;
mod isolation;
mod layers;
mod limits;
mod passwords;
mod paths;
mod process;
mod reserved;
mod shadow;
mod shortest;
mod stacks;
mod subscriptions;
#[cfg(target_os = "linux")]
mod tls;
mod tokens;
mod torture;
mod transactions;
mod twin;
mod uids;
mod upserts;
mod versions;
mod wait;
mod wire;
