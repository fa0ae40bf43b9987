//! Settings for connections. The defaults suit a server whose clients are not trusted.

use hexgraph::db::{byte_count, parse_time};
use hexgraph_base::types::{Error, Result};
use std::time::Duration;

/// The largest number of connections, even if the process may have more descriptors.
const MOST: usize = 10_000;

/// The number of descriptors reserved for the database, exports and requests to other servers; an
/// eighth of all if that is more.
const DESCRIPTORS_RETAINED: u64 = 64;

/// The settings for connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionOptions {
    /// The largest number of connections at once; 0 means what the descriptors of the process
    /// allow, up to 10,000.
    pub most: usize,
    /// The longest time for sending the head of a request.
    pub header: Duration,
    /// The longest time for sending a body.
    pub body: Duration,
    /// The window in which a client has to send or receive at least `rate` bytes for each second.
    pub stall: Duration,
    /// The least number of bytes a second that a client has to send or receive, averaged over
    /// `stall`.
    pub rate: u64,
    /// The time after which an idle connection is closed.
    pub idle: Duration,
}

impl Default for ConnectionOptions {
    fn default() -> ConnectionOptions {
        ConnectionOptions {
            most: 0,
            header: Duration::from_secs(10),
            body: Duration::from_secs(300),
            stall: Duration::from_secs(20),
            rate: 256,
            idle: Duration::from_secs(75),
        }
    }
}

impl ConnectionOptions {
    /// Changes a setting, as `--connection name=value` does.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] that lists the names, or says what the value should be.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let time = |expected| {
            let time = parse_time(value).filter(|time| !time.is_zero());
            time.ok_or_else(|| Error::query(format!("connection {name}={value}: {expected}")))
        };
        let expected = "expected a time above 0, like 10s";
        match name {
            "most" => {
                let most = value.parse().ok().filter(|most| 0 < *most);
                let expected = "expected a number of connections from 1 on";
                self.most = most
                    .ok_or_else(|| Error::query(format!("connection most={value}: {expected}")))?;
            }
            "rate" => self.rate = byte_count("connection rate", value)?,
            "header" => self.header = time(expected)?,
            "body" => self.body = time(expected)?,
            "stall" => self.stall = time(expected)?,
            "idle" => self.idle = time(expected)?,
            _ => {
                let names = "most, header, body, stall, rate and idle";
                return Err(Error::query(format!("connection {name}: there are {names}")));
            }
        }
        Ok(())
    }

    /// The number of bytes that a client has to send or receive in each window.
    pub(super) fn least(&self) -> u64 {
        (self.rate as f64 * self.stall.as_secs_f64()).ceil().max(1.0) as u64
    }

    /// The largest number of connections: the setting, bounded by the descriptors of the process.
    pub fn slots(&self) -> usize {
        let expected = if self.most == 0 { MOST } else { self.most };
        match descriptors() {
            Some(most) => {
                let retained = DESCRIPTORS_RETAINED.max(most / 8);
                expected
                    .min(usize::try_from(most.saturating_sub(retained)).unwrap_or(expected))
                    .max(1)
            }
            None => expected,
        }
    }
}

/// The number of descriptors that the process may have; `None` where the system sets no limit.
#[cfg(unix)]
fn descriptors() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

#[cfg(not(unix))]
fn descriptors() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings() {
        let mut options = ConnectionOptions::default();
        for (name, value) in [("most", "7"), ("header", "3s"), ("body", "1m"), ("rate", "1KiB")] {
            options.set(name, value).unwrap();
        }
        options.set("stall", "250ms").unwrap();
        options.set("idle", "5s").unwrap();
        let seconds = Duration::from_secs;
        let want = ConnectionOptions {
            most: 7,
            header: seconds(3),
            body: seconds(60),
            stall: Duration::from_millis(250),
            rate: 1024,
            idle: seconds(5),
        };
        assert_eq!(options, want);
        assert_eq!(options.slots(), 7);
        let wrong = |name, value: &str| {
            ConnectionOptions::default().set(name, value).unwrap_err().to_string()
        };
        assert!(wrong("most", "0").contains("connection most=0: expected a number"));
        assert!(wrong("idle", "0s").contains("expected a time above 0"));
        assert!(wrong("sit", "1").contains("most, header, body, stall, rate and idle"));
    }

    #[test]
    fn descriptors_are_reserved_for_others() {
        let options = ConnectionOptions { most: usize::MAX, ..ConnectionOptions::default() };
        let most = descriptors().map_or(u64::MAX, |most| most - DESCRIPTORS_RETAINED);
        assert!(options.slots() as u64 <= most);
    }
}
