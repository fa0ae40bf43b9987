//! GraphQL executed: the schema in force, requests to it, and the API that administers it.

mod keys;
mod schemas;
mod schema;
mod reply;
mod request;
mod persisted;
mod run;
mod remote;
mod root_query;
mod similar;
mod change;
mod root_fields;
mod session;
mod subscribe;
mod admin;

pub use admin::{Act, Folder, Instance, Tasks, VERSION_TAG};
#[doc(inline)]
pub use hexgraph_graphql::model::HttpMethod;
#[doc(inline)]
pub use hexgraph_graphql::remote::{Fetch, Incoming, Outgoing, Unanswered};
#[doc(inline)]
pub use hexgraph_graphql::request::{GraphqlError, OperationKind, PathStep, Position};
pub use reply::span::Span;
pub use request::{Headers, Request, Response, errors_to_json};
pub use schema::GraphqlSchema;
pub use schemas::{Access, GraphqlOptions, Schemas};
pub use subscribe::{Identity, Subscribable, Subscription, Update};
