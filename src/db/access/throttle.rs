//! Slows down those who try out passwords: after some failures in a row, a user can't log in from an address for a while.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many failures are free: people mistype.
const FREE: u32 = 5;

/// The pause after the first failure that is not free; each further one doubles it.
const PAUSE_MIN: Duration = Duration::from_secs(1);

/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(300);

/// Failures are forgotten when there was none for so long.
const FORGET: Duration = Duration::from_secs(900);

/// The most pairs of user and address that are remembered; past it those are forgotten that failed longest ago.
const ENTRIES_MAX: usize = 10_000;

/// The failures of late, by user and address.
#[derive(Default)]
pub(super) struct Throttle {
    failures: Mutex<HashMap<u64, Failures>>,
    hasher: RandomState,
}

struct Failures {
    count: u32,
    last: Instant,
}

impl Failures {
    /// The end of the pause.
    fn until(&self) -> Instant {
        let doublings = self.count.saturating_sub(FREE);
        let pause = match doublings {
            0 => Duration::ZERO,
            more => PAUSE_MAX.min(PAUSE_MIN * 2_u32.saturating_pow((more - 1).min(16))),
        };
        self.last + pause
    }
}

impl Throttle {
    /// How long a user has to wait before the next attempt from an address; `None` for not at all.
    pub(super) fn pause(
        &self,
        user: &str,
        address: Option<IpAddr>,
        now: Instant,
    ) -> Option<Duration> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let until = failures.get(&self.key(user, address))?.until();
        until.checked_duration_since(now).filter(|pause| !pause.is_zero())
    }

    /// Notes a failure.
    pub(super) fn note_failure(&self, user: &str, address: Option<IpAddr>, now: Instant) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if ENTRIES_MAX <= failures.len() {
            failures.retain(|_, known| now < known.last + FORGET);
        }
        if ENTRIES_MAX <= failures.len() {
            // Half of them, so that it is not done each time.
            let mut times: Vec<Instant> = failures.values().map(|known| known.last).collect();
            let (_, middle, _) = times.select_nth_unstable(ENTRIES_MAX / 2);
            let middle = *middle;
            failures.retain(|_, known| middle < known.last);
        }
        let known =
            failures.entry(self.key(user, address)).or_insert(Failures { count: 0, last: now });
        if known.last + FORGET < now {
            known.count = 0;
        }
        (known.count, known.last) = (known.count.saturating_add(1), now);
    }

    /// Forgets the failures of a user who has logged in.
    pub(super) fn forget(&self, user: &str, address: Option<IpAddr>) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.remove(&self.key(user, address));
    }

    /// Names may be long and there may be many, so a number stands for both.
    fn key(&self, user: &str, address: Option<IpAddr>) -> u64 {
        self.hasher.hash_one((user, address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        let here = Some(IpAddr::from([127, 0, 0, 1]));
        let pause = || throttle.pause("ada", here, start).map(|pause| pause.as_secs());
        let mut seen = Vec::new();
        for _ in 0..9 {
            throttle.note_failure("ada", here, start);
            seen.push(pause());
        }
        let want = [None, None, None, None, None, Some(1), Some(2), Some(4), Some(8)];
        assert_eq!(seen, want);
        (0..40).for_each(|_| throttle.note_failure("ada", here, start));
        assert_eq!(pause(), Some(300));
        assert_eq!(throttle.pause("ada", None, start), None, "from another address");
        assert_eq!(throttle.pause("bob", here, start), None, "another user");
        assert_eq!(throttle.pause("ada", here, start + PAUSE_MAX), None, "later");
        throttle.forget("ada", here);
        assert_eq!(pause(), None);
    }

    #[test]
    fn it_stays_small() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        for number in 0..3 * ENTRIES_MAX {
            let now = start + Duration::from_millis(number as u64);
            throttle.note_failure(&format!("user {number}"), None, now);
        }
        assert!(throttle.failures.lock().unwrap().len() <= ENTRIES_MAX);
    }
}
