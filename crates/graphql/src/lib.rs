//! GraphQL: the schema language, the API that is made from a schema, and requests to it.
//!
//! A schema text ([`sdl`]) becomes a [`model`] of types, from which the fields of queries and
//! mutations are generated ([`generate`]). A request ([`request`]) is checked against them; its
//! queries are lowered to plans ([`lower`]), its mutations to statements ([`mutate`]). [`auth`] has
//! the rules and tokens, [`remote`] the fields that other servers answer, [`subscribe`]
//! subscriptions. Nothing here reads data or opens a connection: the crate `hexgraph` does both
//! with what is made here. Messages and results are those of Dgraph.

pub mod syntax;
pub mod model;
pub mod sdl;
pub mod generate;
pub mod request;
pub mod auth;
pub mod remote;
pub mod lower;
pub mod mutate;
pub mod subscribe;
#[cfg(test)]
mod conformance;
