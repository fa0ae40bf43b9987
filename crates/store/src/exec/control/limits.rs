//! The limits of a request. A database is opened with its defaults.

use hexgraph_base::types::{Error, Result};
use std::time::Duration;

/// The resources that a single request may use. A request that goes past a limit fails with an
/// error that names the limit; others are not affected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// `timeout`: how long a request may take where it does not say so itself; none by default.
    pub timeout: Option<Duration>,
    /// `memory`: the bytes of the sets, lists, variables and statements of a request; 4 GiB by
    /// default.
    pub memory: u64,
    /// `result`: the bytes of an answer as it is written; 4 GiB by default.
    pub result: u64,
    /// `text`: the bytes of a query's text; 64 MiB by default.
    pub text: u64,
    /// `body`: the bytes of the body of a request over HTTP, packed and unpacked; 256 MiB by
    /// default, which is also the most.
    pub body: u64,
    /// `edges`: the edges that one `@recurse` may walk; a million by default.
    pub edges: u64,
    /// `levels`: how deep one `@recurse` may go; 256 by default, and 100,000 at the most.
    pub levels: u64,
    /// `normalize`: the objects that `@normalize` may make of one node; 10,000 by default.
    pub normalize: u64,
    /// `frontier`: the root paths that `shortest` may retain; a million by default.
    pub frontier: u64,
    /// `uids`: the uids that one call hands out to a program that numbers its nodes itself; a
    /// million by default.
    pub uids: u64,
    /// `slow`: queries that take longer are noted; a second by default.
    pub slow: Duration,
}

/// Many readers of JSON go as deep as this.
pub const COMMON_LEVELS: usize = 256;

/// What is computed at each level takes memory for each level above it.
const LEVELS_MAX: u64 = 100_000;

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            timeout: None,
            memory: 4 << 30,
            result: 4 << 30,
            text: 64 << 20,
            body: 256 << 20,
            edges: 1_000_000,
            levels: COMMON_LEVELS as u64,
            normalize: 10_000,
            frontier: 1_000_000,
            uids: 1_000_000,
            slow: Duration::from_secs(1),
        }
    }
}

impl Limits {
    /// The names of all limits, as [`Limits::set`] reads them.
    pub const NAMES: [&'static str; 11] = [
        "timeout",
        "memory",
        "result",
        "text",
        "body",
        "edges",
        "levels",
        "normalize",
        "frontier",
        "uids",
        "slow",
    ];

    /// Limits for requests of unknown clients, where all requests together may take `memory` bytes:
    /// a single one may take a quarter of it, and a minute.
    pub fn for_untrusted(memory: u64) -> Limits {
        let limits = Limits::default();
        Limits {
            timeout: Some(Duration::from_secs(60)),
            memory: (memory / 4).min(limits.memory),
            result: 1 << 30,
            text: 16 << 20,
            body: 64 << 20,
            ..limits
        }
    }

    /// Sets a limit by its name. Bytes may end in KiB, MiB or GiB, times in ms, s, m or h; a time
    /// without a unit is in seconds.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] that says which names there are, or what is wrong with the value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "timeout" => self.timeout = Some(time(name, value)?),
            "slow" => self.slow = time(name, value)?,
            "memory" => self.memory = byte_count(name, value)?,
            "result" => self.result = byte_count(name, value)?,
            "text" => self.text = byte_count(name, value)?,
            "body" => self.body = byte_count(name, value)?,
            "edges" => self.edges = number(name, value)?,
            "normalize" => self.normalize = number(name, value)?,
            "frontier" => self.frontier = number(name, value)?,
            "uids" => self.uids = number(name, value)?,
            "levels" => match number(name, value)? {
                levels @ 1..=LEVELS_MAX => self.levels = levels,
                other => {
                    let message = format!("limit levels={other}: from 1 to {LEVELS_MAX}");
                    return Err(Error::query(message));
                }
            },
            _ => {
                return Err(Error::query(format!(
                    "there is no limit {name:?}; there are timeout, memory, result, text, body, edges, levels, normalize, frontier, uids and slow"
                )));
            }
        }
        Ok(())
    }
}

impl Limits {
    /// All limits by their names, as [`Limits::set`] reads them; times in seconds.
    pub fn values(&self) -> [(&'static str, String); 11] {
        let Limits {
            timeout,
            memory,
            result,
            text,
            body,
            edges,
            levels,
            normalize,
            frontier,
            uids,
            slow,
        } = self;
        let timeout = timeout.map_or("none".to_owned(), |time| time.as_secs_f64().to_string());
        [
            ("limit timeout", timeout),
            ("limit memory", memory.to_string()),
            ("limit result", result.to_string()),
            ("limit text", text.to_string()),
            ("limit body", body.to_string()),
            ("limit edges", edges.to_string()),
            ("limit levels", levels.to_string()),
            ("limit normalize", normalize.to_string()),
            ("limit frontier", frontier.to_string()),
            ("limit uids", uids.to_string()),
            ("limit slow", slow.as_secs_f64().to_string()),
        ]
    }
}

/// The error of a request past a limit: what exceeds it, and the limit's name.
pub fn past_limit(what: &str, name: &str) -> Error {
    Error::Limit { message: format!("{what}: request less, or raise the limit `{name}`") }
}

fn number(name: &str, value: &str) -> Result<u64> {
    value.replace('_', "").parse().map_err(|_| bad(name, value, "a whole number"))
}

/// A time, like `30s` or `250ms`; without a unit in seconds. `None` when it is none.
pub fn parse_time(value: &str) -> Option<Duration> {
    time("", value).ok()
}

/// A number of bytes, which may end in KiB, MiB or GiB, or in kB, MB or GB.
///
/// # Errors
///
/// [`Error::Query`] for what is none.
pub fn byte_count(name: &str, value: &str) -> Result<u64> {
    let units = [
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("kB", 1_000),
        // Last, since it fits every text.
        ("", 1),
    ];
    let (digits, factor) = units
        .iter()
        .find_map(|(unit, factor)| Some((value.strip_suffix(unit)?, *factor)))
        .unwrap_or((value, 1));
    let count = number(name, digits.trim())
        .map_err(|_| bad(name, value, "a number of bytes, like 512MiB"))?;
    count.checked_mul(factor).ok_or_else(|| bad(name, value, "less than 16 EiB"))
}

fn time(name: &str, value: &str) -> Result<Duration> {
    // `ms` comes before `s`, with which it ends, and the empty unit, which fits all, at the end.
    let units = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0), ("", 1.0)];
    let (digits, seconds) = units
        .iter()
        .find_map(|(unit, seconds)| Some((value.strip_suffix(unit)?, seconds)))
        .unwrap_or((value, &1.0));
    let parsed = digits.trim().parse::<f64>().ok();
    parsed
        .and_then(|number| Duration::try_from_secs_f64(number * seconds).ok())
        .ok_or_else(|| bad(name, value, "a time, like 30s or 250ms"))
}

fn bad(name: &str, value: &str, expected: &str) -> Error {
    Error::query(format!("limit {name}={value}: expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_set_by_name() {
        let mut limits = Limits::default();
        let given =
            [("memory", "512MiB"), ("timeout", "1.5"), ("slow", "20ms"), ("edges", "5_000")];
        for (name, value) in given {
            limits.set(name, value).unwrap();
        }
        assert_eq!(limits.memory, 512 << 20);
        assert_eq!(limits.timeout, Some(Duration::from_millis(1500)));
        assert_eq!(limits.slow, Duration::from_millis(20));
        assert_eq!(limits.edges, 5000);
    }

    #[test]
    fn wrong_limits_are_refused_by_name() {
        for (name, value, said) in [
            ("memory", "much", "limit memory=much: expected a number of bytes"),
            ("result", "99999999999GiB", "less than 16 EiB"),
            ("timeout", "-1s", "limit timeout=-1s: expected a time"),
            ("levels", "0", "from 1 to 100000"),
            ("edge", "1", "there is no limit \"edge\"; there are timeout, memory"),
        ] {
            let error = Limits::default().set(name, value).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
