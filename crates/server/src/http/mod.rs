//! The database over HTTP: `/query`, `/mutate`, `/alter`, `/commit`, `/assign`, `/health`, `/graphql` and `/admin`, as Dgraph has them.

mod server;
mod routes;
mod router;
mod connections;
mod admission;
mod incoming;
mod origins;
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
mod stream;
mod reply;

pub use admission::AdmissionOptions;
pub use connections::ConnectionOptions;
pub use graphql::SubscribeOptions;
pub use origins::Origins;
pub use routes::{Effect, ROUTES, Role, Route};
pub use security::{Secret, Security};
pub use server::{Ended, ServeOptions, Server};
