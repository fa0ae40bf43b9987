//! The database over HTTP: `/query`, `/mutate`, `/alter`, `/commit`, `/assign`, `/health`, `/graphql` and `/admin`, as Dgraph has them.

mod server;
mod router;
mod peer;
mod incoming;
mod keys;
mod security;
mod switches;
mod go_values;
mod go_json;
mod query;
mod mutate;
mod commit;
mod alter;
mod health;
mod admin;
mod graphql;
mod reply;

pub use graphql::SubscribeOptions;
pub use security::Security;
pub use server::{Ended, ServeOptions, Server};
