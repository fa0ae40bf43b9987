//! Settings of admission: how many requests run at once, and how long they may wait.

use hexgraph::db::parse_time;
use hexgraph_base::types::{Error, Result};
use std::thread::available_parallelism;
use std::time::Duration;

/// The settings of admission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdmissionOptions {
    /// The time that a request may compute before it needs a slot in the slow pool.
    pub quick: Duration,
    /// The number of slots in the slow pool; 0 means the number of cores.
    pub slow: usize,
    /// The longest wait, as estimated when a request comes, with which it is still admitted. Twice
    /// the time of those before it is never too long.
    pub queue: Duration,
    /// The largest number of running requests, including those that wait for the disk or for each
    /// other.
    pub running: usize,
}

impl Default for AdmissionOptions {
    fn default() -> AdmissionOptions {
        AdmissionOptions {
            quick: Duration::from_millis(2),
            slow: 0,
            queue: Duration::from_secs(1),
            running: 128,
        }
    }
}

impl AdmissionOptions {
    /// Changes a setting, as `--admission name=value` does.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] that lists the names, or says what the value should be.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let wrong = |expected: &str| Error::query(format!("admission {name}={value}: {expected}"));
        let time = || {
            let time = parse_time(value).filter(|time| !time.is_zero());
            time.ok_or_else(|| wrong("expected a time above 0, like 10ms"))
        };
        let number = || {
            let number = value.parse().ok().filter(|number| 0 < *number);
            number.ok_or_else(|| wrong("expected a number from 1 on"))
        };
        match name {
            "quick" => self.quick = time()?,
            "queue" => self.queue = time()?,
            "slow" => self.slow = number()?,
            "running" => self.running = number()?,
            _ => {
                let message = format!("admission {name}: there are quick, slow, queue and running");
                return Err(Error::query(message));
            }
        }
        Ok(())
    }

    /// The number of slots in the slow pool.
    pub fn slow_positions(&self) -> usize {
        if self.slow == 0 { cores() } else { self.slow }
    }

    /// The number of slots in the fast pool. It exceeds the number of cores, since some requests
    /// wait for a lock or the disk.
    pub fn fast_positions(&self) -> usize {
        (2 * cores()).max(4).min(self.running)
    }
}

fn cores() -> usize {
    available_parallelism().map_or(4, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings() {
        let mut options = AdmissionOptions::default();
        for (name, value) in [("quick", "5ms"), ("slow", "3"), ("queue", "2s"), ("running", "9")] {
            options.set(name, value).unwrap();
        }
        let (quick, queue) = (Duration::from_millis(5), Duration::from_secs(2));
        assert_eq!(options, AdmissionOptions { quick, slow: 3, queue, running: 9 });
        assert_eq!((options.slow_positions(), 4 <= options.fast_positions()), (3, true));
        let wrong = |name, value: &str| {
            AdmissionOptions::default().set(name, value).unwrap_err().to_string()
        };
        assert!(wrong("slow", "0").contains("admission slow=0: expected a number"));
        assert!(wrong("queue", "x").contains("expected a time"));
        assert!(wrong("lanes", "2").contains("quick, slow, queue and running"));
    }
}
