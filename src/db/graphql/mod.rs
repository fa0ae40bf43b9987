//! GraphQL carried out: the schema in force, requests to it, and the API that administers it.

mod schema;
mod request;
mod run;
mod query;
mod stage;
mod links;
mod guard;
mod mutate;

pub use crate::graphql::request::{Fault, Location, PathStep};
pub use request::{Headers, Request, Response};
pub use schema::{GraphqlSchema, Schemas};
