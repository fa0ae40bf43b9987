//! Publishes the next version, and writes commits to the log.

pub(super) mod conflicts;
pub(super) mod record;
pub(super) mod replay;
pub(super) mod replay_first;
pub(super) mod snapshots;
pub(super) mod watch;
pub(super) mod rebuilding;
mod replaced;
pub(super) mod catch_up;
pub(super) mod store;
pub(super) mod concurrent;
