//! Connections: how many there may be, and their timeouts.

mod connection_options;
mod log;
mod pace;
mod socket;
mod allowance;
mod phase;
mod handed_over;
mod timed_stream;
mod timed_body;
mod handshake;
mod wire;
mod lent_wire;
mod slots;
mod listener;

pub use connection_options::ConnectionOptions;
pub(super) use handed_over::HandedOver;
pub(super) use listener::{BoundListener, serve};
pub(super) use phase::Peer;
pub(super) use socket::Listener;
