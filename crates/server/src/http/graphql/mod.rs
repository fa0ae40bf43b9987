//! GraphQL over HTTP: `/graphql`, `/admin` and what belongs to them.

mod body;
mod endpoint;
mod extensions;
mod schema;
mod subscribe;

pub use endpoint::{receive, receive_admin, wrong_method};
pub use schema::{probe, set_schema, validate_schema};
pub use subscribe::{Feeds, SubscribeOptions};
