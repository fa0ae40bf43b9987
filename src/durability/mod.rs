//! A database on the disk: snapshots, the logs that follow upon them, and who may write.

mod directory;
mod recovery;
mod syncs;
mod wal;

pub use crate::storage::{Disk, Files, OutputFile};
pub use directory::Directory;
pub use recovery::{Follower, Recovery};
pub use wal::{LogStart, SyncPolicy, Wal};
