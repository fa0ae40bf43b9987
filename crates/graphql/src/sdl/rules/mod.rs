//! The checks of whatever says who may do what.

pub(super) mod authorization_comment;
pub(super) mod auth_directive;
pub(super) mod rbac;
