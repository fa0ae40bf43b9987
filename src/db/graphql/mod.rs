//! GraphQL carried out: the schema in force, requests to it, and the API that administers it.

mod schema;
mod request;
mod persisted;
mod run;
mod leaf;
mod numbers;
mod geometry;
mod answer;
mod complete;
mod custom;
mod query;
mod stage;
mod links;
mod guard;
mod mutate;
mod admin;

pub use crate::graphql::request::{Fault, Location, PathStep};
pub use admin::Instance;
pub use request::{Headers, Request, Response};
pub use schema::{Access, GraphqlOptions, GraphqlSchema, Schemas};
