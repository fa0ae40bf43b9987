//! The snapshot file: named sections of plain data, each block of them with a checksum.
//!
//! ```text
//! header        128 bytes, with its own checksum at the end
//! data          the sections, each begins on a multiple of 64 bytes; a multiple of 64 in all
//! tables        one checksum for all of what follows:
//!   checksums   4 bytes for each 64 KiB block of the data, filled up to a multiple of 64
//!   entries     32 bytes for each section, ascending by name
//!   names       the texts that the entries refer to
//! ```
//!
//! Sections begin on multiples of 64 bytes and not of a page: there are many small ones, each of
//! which would waste half a page, and readers need at most an alignment of 16. Numbers are
//! little-endian. Arrays are written as they are in memory, so the program builds for little-endian
//! machines only. Opening reads the header and the tables and checks every entry, not the data.
//! A structure of several arrays has several sections, such as `name.dir` and `name.words`.

mod header;
mod snapshot_file;
mod snapshot_writer;

pub use snapshot_file::{FileAccess, SnapshotFile};
pub(crate) use snapshot_writer::SnapshotWriter;

#[cfg(test)]
mod tests;
