//! The write-ahead log: records that are appended, and read again when a database is opened.
//!
//! ```text
//! header   128 bytes: magic with the format, length of the header, required features, number of
//!          this log, number of the one before it (0 for none), identity of the database, length
//!          of the log before, the last commit before this log, checksum
//! records  32 bytes each: magic, length, commit, durable length of the log when it was written,
//!          checksum of the payload, checksum of all these with identity and number of the log;
//!          then the payload
//! ```
//!
//! Numbers are little-endian. The log ends at the first incomplete record. After a power failure,
//! unsynced data may be there in part and out of order, so a complete record may follow a gap. It
//! was never acknowledged, as it could only be synced together with what is missing. But if a
//! later record says that the log was durable beyond the gap, acknowledged data was lost: that is
//! damage.
//!
//! Logs of the first format are read as well: a header of 32 bytes with only the two numbers, and
//! records with 28 bytes and one checksum.

mod format;
mod reader;
mod writer;

pub(crate) use format::HEADER_LEN;
pub use format::Header;
pub use reader::LogReader;
pub(crate) use writer::LogWriter;

#[cfg(test)]
mod tests;
