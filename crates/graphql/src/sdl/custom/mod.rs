//! The checks of fields that other servers answer.

pub(super) mod custom_subject;
pub(super) mod url;
pub(super) mod template;
pub(super) mod directive;
pub(super) mod graphql_operation;
