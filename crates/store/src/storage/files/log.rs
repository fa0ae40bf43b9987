//! The write-ahead log: records that are appended, and read again when a database is opened.
//!
//! ```text
//! header   128 bytes: magic with the format, length of the header, what has to be understood beside it, number of this
//!          log, number of the one before it (0 for none), identity of the database, how long the log before is, the
//!          last commit before this log, checksum
//! records  32 bytes each: magic, length, commit, how far the log was durable when it was written, checksum of the
//!          payload, checksum of all these with identity and number of the log; then the payload
//! ```
//!
//! Numbers are little endian. The log ends at the first bytes that are no whole record. What was
//! appended and not yet synced when the power failed may be there in part and out of order, so a
//! whole record may follow upon a hole: it was acknowledged to nobody, for it could only be synced
//! together with what is missing. But where a later record says that the log was durable beyond the
//! hole when it was written, something was lost that had been acknowledged: that is damage.
//!
//! Logs of the first format are read as well: a header of 32 bytes with the two numbers alone, and
//! records whose 28 bytes have one checksum of all.

mod format;
mod reader;
mod writer;

pub(crate) use format::HEADER_LEN;
pub use format::Header;
pub use reader::LogReader;
pub(crate) use writer::LogWriter;

#[cfg(test)]
mod tests;
