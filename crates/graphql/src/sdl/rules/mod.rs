//! Reads the rules of `@auth` and the line `# Dgraph.Authorization`.

mod rule_error;
pub(super) mod authorization_comment;
pub(super) mod auth_directive;
pub(super) mod rbac;
