//! The write-ahead log: records that are appended, and read again when a database is opened.
//!
//! ```text
//! header   32 bytes: magic, number of this log, number of the one before it (0 for none), checksum
//! records  28 bytes each: magic, length, commit, how far the log was durable when it was written,
//!          checksum of these and of the payload; then the payload
//! ```
//!
//! Numbers are little endian. The log ends at the first bytes that are no whole record. What was
//! appended and not yet synced when the power failed may be there in part and out of order, so a
//! whole record may follow upon a hole: it was acknowledged to nobody, for it could only be synced
//! together with what is missing. But where a later record says that the log was durable beyond
//! the hole when it was written, something was lost that had been acknowledged: that is damage.

mod format;
mod reader;
mod writer;

pub use format::HEADER_LEN;
pub use reader::{LogReader, LogRecord};
pub use writer::{AppendError, LogWriter};

#[cfg(test)]
mod tests;
