//! The compressions that files may have.

/// A compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// gzip, of one or several members.
    Gzip,
    /// Zstandard.
    Zstd,
}
