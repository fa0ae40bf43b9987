//! GraphQL carried out: the schema in force, requests to it, and the API that administers it.

mod key_files;
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
mod similar;
mod stage;
mod links;
mod guard;
mod session;
mod mutate;
mod subscribe;
mod admin;

pub use crate::graphql::request::{Fault, Location, OperationKind, PathStep};
pub use admin::Instance;
pub use request::{Headers, Request, Response, faults_to_json};
pub use schema::{Access, GraphqlOptions, GraphqlSchema, Schemas};
pub use subscribe::{Identity, Subscribable, Subscription, Update};
