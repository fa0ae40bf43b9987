//! The endpoints that are not GraphQL, one file each.

pub(super) mod query;
pub(super) mod cypher;
pub(super) mod query_many;
pub(super) mod mutate;
pub(super) mod commit;
pub(super) mod alter;
pub(super) mod health;
pub(super) mod keywords;
pub(super) mod login;
pub(super) mod metrics;
pub(super) mod admin;
