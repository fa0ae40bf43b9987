//! The checks of fields that other servers answer.

pub(super) mod subject;
pub(super) mod url;
pub(super) mod template;
pub(super) mod directive;
pub(super) mod operation;
