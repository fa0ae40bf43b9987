//! The calls of Dgraph's clients: every method, every way in which one fails, by a client that is
//! not ours.

pub mod client;
mod methods;
mod statements;
mod transactions;
mod guards;
mod web;

/// The messages, made of the same description as those of the server.
#[allow(
    clippy::enum_variant_names,
    dead_code,
    reason = "they are generated, those of methods that there are not among them"
)]
pub mod messages {
    include!(concat!(env!("OUT_DIR"), "/api.rs"));
}
