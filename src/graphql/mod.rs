//! GraphQL: the schema language, and what is made from it.

pub mod model;
