//! The database over HTTP: `/query`, `/mutate`, `/alter`, `/commit`, `/assign`, `/health`, `/graphql` and `/admin`, as Dgraph has them.

mod server;
mod routes;
mod router;
mod connections;
mod admission;
mod message;
mod guard;
mod endpoints;
mod graphql;

pub use admission::AdmissionOptions;
pub use connections::ConnectionOptions;
pub use graphql::SubscribeOptions;
pub use guard::origins::Origins;
pub use guard::security::{Secret, Security};
pub use routes::{Effect, ROUTES, Role, Route};
pub use server::{Ended, ServeOptions, Server};
