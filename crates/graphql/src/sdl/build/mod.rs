//! Makes the model of a schema without faults, and the schema that the store needs for it.

pub(super) mod builtin;
pub(super) mod model;
pub(super) mod store;
