//! The audit log: the caller, the request and the outcome, a line of JSON for each request, without
//! secrets.

mod audit_log;
mod noted;
mod told_text;

pub use audit_log::AuditOptions;
pub(super) use audit_log::{AuditLog, Slot};
pub(super) use noted::Noted;
pub(super) use told_text::{told_text, without_literals};
