//! GraphQL carried out: the schema in force, requests to it, and the API that administers it.

mod keys;
mod schema;
mod span;
mod request;
mod persisted;
mod run;
mod leaf;
mod numbers;
mod geometry;
mod found;
mod complete;
mod answer;
mod send;
mod reach;
mod gather;
mod custom;
mod query;
mod similar;
mod stage;
mod links;
mod guard;
mod session;
mod hooks;
mod mutate;
mod subscribe;
mod admin;

pub use admin::{Act, Folder, Instance, Tasks};
pub use hexgraph_graphql::model::HttpMethod;
pub use hexgraph_graphql::remote::{Fetch, Incoming, Outgoing, Unanswered};
pub use hexgraph_graphql::request::{Fault, OperationKind, PathStep, Place};
pub use request::{Headers, Request, Response, faults_to_json};
pub use schema::{Access, GraphqlOptions, GraphqlSchema, Schemas};
pub use span::Span;
pub use subscribe::{Identity, Subscribable, Subscription, Update};
