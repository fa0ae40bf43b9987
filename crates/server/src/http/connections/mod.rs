//! Connections: how many there may be, and how long each may keep the server waiting.

mod options;
mod pace;
mod phase;
mod stream;
mod timed_body;
mod seats;
mod listener;

pub(super) use listener::serve;
pub use options::ConnectionOptions;
pub(super) use phase::Peer;
