//! The bytes of snapshots and logs.

pub(super) mod disk;
pub(super) mod identity;
pub(super) mod blocks;
pub(super) mod mapped;
pub(super) mod file_format;
pub(super) mod log;
pub(super) mod scratch;
