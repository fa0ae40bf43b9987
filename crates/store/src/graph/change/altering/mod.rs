//! Changes of the schema: a schema text, a drop, or a GraphQL schema makes the next version.

pub(in crate::graph) mod definitions;
mod unread;
pub(in crate::graph) mod alter;
pub(in crate::graph) mod redefine;
pub(in crate::graph) mod graphql_schema;
