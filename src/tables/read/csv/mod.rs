//! Delimited text files: how a file is written, its records, and the types of its columns.

pub(super) mod dialect;
pub(super) mod records;
pub(super) mod options;
pub(super) mod sniff;
pub(super) mod header;
pub(super) mod kinds;
pub(super) mod reader;
pub(super) mod file;
pub(super) mod slow;
