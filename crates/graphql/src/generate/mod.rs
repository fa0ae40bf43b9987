//! Model → the generated API: operations, payloads, inputs, filters, orders; as a schema and as text.

mod root;
mod tree;
mod print;
mod builtins;
mod facts;
mod filters;
mod data;
mod inputs;
mod operations;
mod prune;
mod generator;
mod api;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod tests;

pub use api::Api;
pub(crate) use facts::is_settable;
pub use root::{Root, RootKind};
