//! GraphQL over HTTP: `/graphql`, `/admin` and what belongs to them.

mod body;
mod endpoint;
mod extensions;
mod schema;
mod subscribe;

pub use endpoint::routes;
pub use subscribe::{Feeds, SubscribeOptions};
