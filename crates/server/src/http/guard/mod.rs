//! Access control: keys, tokens, addresses, origins of pages, and draining.

pub(super) mod access_settings;
pub(super) mod keys;
pub(super) mod origins;
pub(super) mod session;
pub(super) mod security;
pub(super) mod switches;
pub(super) mod users;
