//! The file `CURRENT`, which lists the files of a database.
//!
//! Lines of a word and its arguments:
//!
//! ```text
//! hexgraph 2
//! identity 0f3c…             the database: its snapshot and its logs bear it
//! snapshot snapshot-4.hxs    the newest one
//! log log-5.hxl 1234         the last log after it, if any, and its durable length
//! sum 89abcdef               the checksum of the lines above
//! ```
//!
//! Unknown lines before the checksum are ignored. In the first format the entire file is the name
//! of the snapshot, so the required logs are unknown.

use crate::storage::Identity;
use std::fmt::Write;

/// The files that there have to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Current {
    /// The number of the newest snapshot.
    pub snapshot: u64,
    /// The last log.
    pub log: LastLog,
    /// The identity of the database; [`Identity::NONE`] in the first format.
    pub identity: Identity,
}

/// The last log after a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastLog {
    /// The first format does not say which logs there are.
    Unknown,
    /// There is no log: nothing was committed since the snapshot.
    None,
    /// The log of this number, of which at least this many bytes are durable.
    Is {
        /// The number.
        number: u64,
        /// The bytes.
        durable: u64,
    },
}

/// The first line, without the number of the format.
const FIRST: &str = "hexgraph ";

const FORMAT: u64 = 2;

/// What is wrong with the text of a `CURRENT`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CurrentError {
    /// The first line is none that was ever written.
    #[error("{line:?} is not the name of a snapshot (snapshot-N.hxs)")]
    NotOurs {
        /// The first 60 characters of the line.
        line: String,
    },
    /// The first line names a format after this one.
    #[error(
        "it has format {format} and was written by a later version of hexgraph: open it with that one"
    )]
    Later {
        /// The number of the format.
        format: u64,
    },
    /// The first line names a format that there never was.
    #[error("{line:?} is no format")]
    NoFormat {
        /// The first 60 characters of the line.
        line: String,
    },
    /// A line is missing or changed: the text does not have its checksum.
    #[error("it is not what was written: restore it from a backup")]
    Damaged,
}

impl Current {
    /// Returns the text of the file.
    pub fn to_text(self) -> String {
        let Current { snapshot, log, identity } = self;
        let mut text =
            format!("{FIRST}{FORMAT}\nidentity {identity}\nsnapshot snapshot-{snapshot}.hxs\n");
        if let LastLog::Is { number, durable } = log {
            // Writing to a string does not fail.
            let _ = writeln!(text, "log log-{number}.hxl {durable}");
        }
        let sum = crc32fast::hash(text.as_bytes());
        text + &format!("sum {sum:08x}\n")
    }

    /// Reads the text of the file. That of format 1 is the name of a snapshot alone.
    ///
    /// # Errors
    ///
    /// [`CurrentError`] when the text is not what was written.
    pub fn of_text(text: &str) -> Result<Current, CurrentError> {
        if let Some(snapshot) = snapshot_number(text.trim_end()) {
            return Ok(Current { snapshot, log: LastLog::Unknown, identity: Identity::NONE });
        }
        let shown = || text.lines().next().unwrap_or_default().chars().take(60).collect::<String>();
        let Some(format) = text.lines().next().and_then(|line| line.strip_prefix(FIRST)) else {
            return Err(CurrentError::NotOurs { line: shown() });
        };
        match format.parse::<u64>() {
            Ok(FORMAT) => {}
            Ok(format) if FORMAT < format => return Err(CurrentError::Later { format }),
            _ => return Err(CurrentError::NoFormat { line: shown() }),
        }
        // The last one: lines that a later release adds may have the word, too.
        let (lines, sum) = text.rsplit_once("sum ").ok_or(CurrentError::Damaged)?;
        let sum =
            sum.strip_suffix('\n').filter(|sum| sum.len() == 8).ok_or(CurrentError::Damaged)?;
        if u32::from_str_radix(sum, 16) != Ok(crc32fast::hash(lines.as_bytes())) {
            return Err(CurrentError::Damaged);
        }
        Current::of_lines(lines).ok_or(CurrentError::Damaged)
    }

    fn of_lines(lines: &str) -> Option<Current> {
        let (mut snapshot, mut log, mut identity) = (None, LastLog::None, None);
        for line in lines.lines().skip(1) {
            let (word, rest) = line.split_once(' ')?;
            match word {
                "snapshot" => snapshot = Some(snapshot_number(rest)?),
                "identity" => identity = Some(Identity::parse(rest)?),
                "log" => {
                    let (name, durable) = rest.split_once(' ')?;
                    log = LastLog::Is { number: log_number(name)?, durable: durable.parse().ok()? };
                }
                _ => {}
            }
        }
        Some(Current { snapshot: snapshot?, log, identity: identity? })
    }
}

/// The number in the name of a snapshot.
pub(super) fn snapshot_number(name: &str) -> Option<u64> {
    name.strip_prefix("snapshot-")?.strip_suffix(".hxs")?.parse().ok()
}

/// The number in the name of a log.
pub(super) fn log_number(name: &str) -> Option<u64> {
    name.strip_prefix("log-")?.strip_suffix(".hxl")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Current = Current {
        snapshot: 4,
        log: LastLog::Is { number: 5, durable: 1234 },
        identity: Identity(0xabc),
    };

    #[test]
    fn what_is_written_is_read() {
        let none = Current { log: LastLog::None, ..ALL };
        for current in [ALL, none] {
            assert_eq!(Current::of_text(&current.to_text()), Ok(current));
        }
        let first = Current { snapshot: 4, log: LastLog::Unknown, identity: Identity::NONE };
        assert_eq!(Current::of_text("snapshot-4.hxs"), Ok(first));
    }

    #[test]
    fn every_byte_counts() {
        let text = ALL.to_text();
        for at in 0..text.len() {
            assert_ne!(Current::of_text(&text[..at]), Ok(ALL), "cut at {at}");
            for flip in 0..7 {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1 << flip;
                let read = Current::of_text(std::str::from_utf8(&bytes).unwrap());
                // Of the checksum either case will do.
                let is_case = read == Ok(ALL) && text.is_char_boundary(at) && flip == 5;
                assert!(read.is_err() || is_case, "{bytes:?}: {read:?}");
            }
        }
    }

    #[test]
    fn later_formats_are_reported() {
        let text = ALL.to_text().replace("hexgraph 2", "hexgraph 3");
        assert_eq!(Current::of_text(&text), Err(CurrentError::Later { format: 3 }));
        let text = ALL.to_text();
        let lines = text.rsplit_once("sum ").unwrap().0.to_owned() + "colour blue\n";
        let sum = crc32fast::hash(lines.as_bytes());
        assert_eq!(Current::of_text(&format!("{lines}sum {sum:08x}\n")), Ok(ALL));
    }
}
