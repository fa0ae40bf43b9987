//! The database over HTTP: `/query`, `/mutate`, `/alter`, `/commit`, `/assign` and `/health`, as Dgraph has them.

mod server;
mod router;
mod peer;
mod incoming;
mod go_values;
mod query;
mod mutate;
mod commit;
mod alter;
mod health;
mod graphql;
mod reply;

pub use server::{ServeOptions, Server};
