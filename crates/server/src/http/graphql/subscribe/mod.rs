//! Subscriptions over WebSocket, by two protocols, and over server-sent events.

mod workers;
mod scheduled;
mod feeds;
mod channels;
mod source;
mod feed;
mod dialect;
mod socket;
mod events;

pub(super) use events::{Requested, answer as answer_with_events, expects_events};
pub(super) use feed::hold;
pub(crate) use feeds::Feeds;
pub use feeds::SubscribeOptions;
pub(super) use scheduled::Asker;
pub(super) use socket::{accept, is_subscriber};
