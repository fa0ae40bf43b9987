//! The checks of whatever says who may do what.

mod rule_error;
pub(super) mod authorization_comment;
pub(super) mod auth_directive;
pub(super) mod rbac;
