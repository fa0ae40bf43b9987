//! GraphQL: the schema language, the API that is made from a schema, and requests to it.

pub mod model;
pub mod generate;
pub mod request;
