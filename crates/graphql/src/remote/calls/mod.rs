//! The calls that answer a custom field, and the event that a lambda server is reported after a
//! mutation.

pub(super) mod declared_operation;
pub(super) mod needs;
pub(super) mod operation;
pub(super) mod reply;
pub(super) mod call;
pub(super) mod event;
