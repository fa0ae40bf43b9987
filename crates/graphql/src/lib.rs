//! GraphQL: the schema language, the API that is made from a schema, and requests to it.

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
