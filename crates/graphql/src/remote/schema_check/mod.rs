//! The check of custom fields against the schemas of the servers that answer them.

pub(super) mod introspection;
pub(super) mod fit;
pub(super) mod survey;
