//! The audit log: the caller, the request and the outcome, a line of JSON for each request, without
//! secrets.

mod audit_log;
mod noted;
mod audited_text;

pub use audit_log::AuditOptions;
pub(super) use audit_log::{AuditLog, Slot};
pub(super) use audited_text::{audited_text, without_literals};
pub(super) use noted::Noted;
