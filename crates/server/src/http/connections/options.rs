//! What connections may take: settings that suit strangers.

use hexgraph::db::{byte_count, parse_time};
use hexgraph_base::types::{Error, Result};
use std::time::Duration;

/// The most connections where the system would give descriptors for more.
const MOST: usize = 10_000;

/// Descriptors that are left for the database, exports and requests to other servers; an eighth of all if that is more.
const DESCRIPTORS_KEPT: u64 = 64;

/// How connections are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionOptions {
    /// The most at once; 0 for what the descriptors of the process allow, up to 10,000.
    pub most: usize,
    /// How long a client may take to send the head of a request.
    pub header: Duration,
    /// How long a client may take to send a body.
    pub body: Duration,
    /// The time in which a client has to send or take something: `rate` bytes for each second of it.
    pub stall: Duration,
    /// The bytes a second that a client has to send or to take at the least, on the average of `stall`.
    pub rate: u64,
    /// How long a connection is kept on which nothing is asked.
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

    /// The most connections: as many as were asked for, as far as there are descriptors.
    pub fn seats(&self) -> usize {
        let wanted = if self.most == 0 { MOST } else { self.most };
        match descriptors() {
            Some(most) => {
                let kept = DESCRIPTORS_KEPT.max(most / 8);
                wanted.min(usize::try_from(most.saturating_sub(kept)).unwrap_or(wanted)).max(1)
            }
            None => wanted,
        }
    }
}

/// How many descriptors the process may have; `None` where nobody counts them.
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
        assert_eq!(options.seats(), 7);
        let wrong = |name, value: &str| {
            ConnectionOptions::default().set(name, value).unwrap_err().to_string()
        };
        assert!(wrong("most", "0").contains("connection most=0: expected a number"));
        assert!(wrong("idle", "0s").contains("expected a time above 0"));
        assert!(wrong("sit", "1").contains("most, header, body, stall, rate and idle"));
    }

    #[test]
    fn descriptors_are_kept_for_others() {
        let options = ConnectionOptions { most: usize::MAX, ..ConnectionOptions::default() };
        let most = descriptors().map_or(u64::MAX, |most| most - DESCRIPTORS_KEPT);
        assert!(options.seats() as u64 <= most);
    }
}
