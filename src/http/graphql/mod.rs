//! GraphQL over HTTP: `/graphql`, `/admin` and what belongs to them.

mod body;
mod endpoint;
mod schema;

pub use endpoint::routes;
