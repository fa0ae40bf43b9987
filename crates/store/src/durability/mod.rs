//! A database on the disk: snapshots, the logs that follow upon them, and who may write.

mod current;
mod directory;
#[cfg(test)]
mod interleavings;
mod leftovers;
mod lock;
mod recovery;
mod syncs;
mod wal;

pub use crate::storage::{Disk, FileAccess, Files, OutputFile};
pub use current::{Current, CurrentError, LastLog};
pub use directory::Directory;
pub use leftovers::{check_new, is_database};
pub use recovery::{Follower, Recovery};
pub use wal::{SyncPolicy, Wal};
