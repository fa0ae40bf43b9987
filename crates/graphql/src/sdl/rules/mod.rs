//! The checks of whatever says who may do what.

pub(super) mod authorization;
pub(super) mod auth;
pub(super) mod rbac;
