//! How the next version takes the place of the newest, and what the log says of it.

pub(super) mod conflicts;
pub(super) mod record;
pub(super) mod replay;
pub(super) mod replay_first;
pub(super) mod snapshots;
pub(super) mod watch;
pub(super) mod store;
