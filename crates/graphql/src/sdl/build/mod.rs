//! What comes of a text without faults: the model, and the schema of the store.

pub(super) mod builtin;
pub(super) mod model;
pub(super) mod store;
