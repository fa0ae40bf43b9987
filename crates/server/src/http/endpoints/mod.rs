//! What can be asked for outside of GraphQL, a file each.

pub(super) mod query;
pub(super) mod mutate;
pub(super) mod commit;
pub(super) mod alter;
pub(super) mod health;
pub(super) mod login;
pub(super) mod admin;
