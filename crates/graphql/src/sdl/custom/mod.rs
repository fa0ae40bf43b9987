//! Checks custom fields: `@custom` and `@lambda`, with their addresses, templates and operations.

pub(super) mod custom_subject;
pub(super) mod url;
pub(super) mod template;
pub(super) mod directive;
pub(super) mod graphql_operation;
