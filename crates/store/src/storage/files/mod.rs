//! Snapshots and logs as bytes in files.

pub(super) mod disk;
pub(super) mod identity;
pub(super) mod blocks;
pub(super) mod mapped;
pub(super) mod file_format;
pub(super) mod log;
