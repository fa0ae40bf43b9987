//! GraphQL over HTTP: `/graphql`, `/admin` and what belongs to them.

mod body;
mod endpoint;
mod extensions;
mod schema;
mod subscribe;

pub(super) use endpoint::{receive, receive_admin, wrong_method};
pub(super) use schema::{probe, set_schema, validate_schema};
pub(crate) use subscribe::Feeds;
pub use subscribe::SubscribeOptions;
