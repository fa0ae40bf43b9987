//! Slows down those who try out passwords: after some failures in a row, a user can't log in from
//! an address for a while, and after many, whoever they are of, nobody can for some seconds: one
//! password may be tried on many users. Of IPv6 a network of 64 bits counts as an address, since
//! who has one has all of its addresses.

use dashmap::DashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The pause after the first failure that is not free; each further one doubles it.
const PAUSE_MIN: Duration = Duration::from_secs(1);

/// Failures are forgotten when there was none for so long.
const FORGET: Duration = Duration::from_secs(900);

/// The most pairs of user and address, and addresses, that are remembered; past it those are
/// forgotten that failed longest ago.
const ENTRIES_MAX: usize = 10_000;

/// Whose failures are counted.
#[derive(Hash, Clone, Copy)]
enum Counted<'a> {
    /// Those of a user of a namespace from an address.
    User(u64, &'a str, Option<IpAddr>),
    /// Those of all users from an address.
    Address(IpAddr),
}

impl Counted<'_> {
    /// How many failures are free: people mistype, and many may have one address.
    fn free(self) -> u32 {
        match self {
            Counted::User(..) => 5,
            Counted::Address(_) => 50,
        }
    }

    /// The longest pause. Other users of an attacker's address can log in between.
    fn pause_max(self) -> Duration {
        match self {
            Counted::User(..) => PAUSE_MAX,
            Counted::Address(_) => Duration::from_secs(5),
        }
    }
}

/// The longest pause of a user.
const PAUSE_MAX: Duration = Duration::from_secs(300);

/// A user, by namespace and name, be they there or not.
pub(super) type Who<'a> = (u64, &'a str);

/// The recent failures, by user and address, and by address. Logins of other users do not wait for
/// each other.
#[derive(Default)]
pub(super) struct Throttle {
    failures: DashMap<u64, Failures>,
    /// Locked while entries are removed because there are too many.
    pruning: Mutex<()>,
    hasher: RandomState,
}

struct Failures {
    count: u32,
    last: Instant,
}

impl Failures {
    /// The end of the pause.
    fn until(&self, counted: Counted<'_>) -> Instant {
        let doublings = self.count.saturating_sub(counted.free());
        let pause = match doublings {
            0 => Duration::ZERO,
            // Beyond 2^16 seconds any maximum is exceeded, so the power stays far from its bound.
            more => counted.pause_max().min(PAUSE_MIN * 2_u32.saturating_pow((more - 1).min(16))),
        };
        self.last + pause
    }
}

impl Throttle {
    /// How long a user has to wait before the next attempt from an address; `None` for not at all.
    pub(super) fn pause(
        &self,
        user: Who<'_>,
        address: Option<IpAddr>,
        now: Instant,
    ) -> Option<Duration> {
        let until =
            |counted| self.failures.get(&self.key(counted)).map(|existing| existing.until(counted));
        let until = counted(user, address).filter_map(until).max()?;
        until.checked_duration_since(now).filter(|pause| !pause.is_zero())
    }

    /// Notes a failure. When no call is running, there are [`ENTRIES_MAX`] entries at most.
    pub(super) fn note_failure(&self, user: Who<'_>, address: Option<IpAddr>, now: Instant) {
        let mut has_new = false;
        for counted in counted(user, address) {
            let mut entry = self.failures.entry(self.key(counted)).or_insert_with(|| {
                has_new = true;
                Failures { count: 0, last: now }
            });
            if entry.last + FORGET < now {
                entry.count = 0;
            }
            (entry.count, entry.last) = (entry.count.saturating_add(1), now);
        }
        // Looked at after the entry is there, so of calls that run at once the last one sees the
        // entries of all.
        if has_new && ENTRIES_MAX < self.failures.len() {
            self.prune(now);
        }
    }

    /// Removes expired entries, and the older half where too many are left.
    fn prune(&self, now: Instant) {
        let _pruning = self.pruning.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have done it meanwhile.
        if self.failures.len() <= ENTRIES_MAX {
            return;
        }
        self.failures.retain(|_, entry| now < entry.last + FORGET);
        if ENTRIES_MAX < self.failures.len() {
            // Half of them, so that it is not done each time.
            let mut times: Vec<Instant> = self.failures.iter().map(|entry| entry.last).collect();
            times.sort_unstable();
            if let Some(median) = times.get(times.len() / 2) {
                self.failures.retain(|_, entry| *median < entry.last);
            }
        }
    }

    /// Forgets the failures of a user who has logged in. Those of the address stay: else one's own
    /// login between would hide them.
    pub(super) fn forget(&self, (namespace, name): Who<'_>, address: Option<IpAddr>) {
        self.failures.remove(&self.key(Counted::User(namespace, name, address.map(network))));
    }

    /// Names may be long and there may be many, so a number represents them.
    fn key(&self, counted: Counted<'_>) -> u64 {
        self.hasher.hash_one(counted)
    }
}

/// The counter for a failure of a user from an address. A program that asks its own database has no
/// address.
fn counted(
    (namespace, name): Who<'_>,
    address: Option<IpAddr>,
) -> impl Iterator<Item = Counted<'_>> {
    let address = address.map(network);
    [Some(Counted::User(namespace, name, address)), address.map(Counted::Address)]
        .into_iter()
        .flatten()
}

/// The address, or the first one of its network of IPv6.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        let here = Some(IpAddr::from([127, 0, 0, 1]));
        let pause = || throttle.pause((0, "ada"), here, start).map(|pause| pause.as_secs());
        let mut seen = Vec::new();
        for _ in 0..9 {
            throttle.note_failure((0, "ada"), here, start);
            seen.push(pause());
        }
        let want = [None, None, None, None, None, Some(1), Some(2), Some(4), Some(8)];
        assert_eq!(seen, want);
        (0..40).for_each(|_| throttle.note_failure((0, "ada"), here, start));
        assert_eq!(pause(), Some(300));
        assert_eq!(throttle.pause((0, "ada"), None, start), None, "from another address");
        assert_eq!(throttle.pause((0, "bob"), here, start), None, "another user");
        assert_eq!(throttle.pause((1, "ada"), here, start), None, "another namespace");
        assert_eq!(throttle.pause((0, "ada"), here, start + PAUSE_MAX), None, "later");
        throttle.forget((0, "ada"), here);
        assert_eq!(pause(), None);
    }

    #[test]
    fn one_password_on_many_users_is_slowed_down() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        let near = |last: u16| Some(IpAddr::from([0x2001, 0xdb8, 0, 7, 1, 2, 3, last]));
        for number in 0..50 {
            throttle.note_failure((number.into(), &format!("user {number}")), near(number), start);
        }
        assert_eq!(throttle.pause((0, "user 50"), near(50), start), None);
        throttle.note_failure((0, "user 50"), near(50), start);
        let pause = |user, address, now| throttle.pause((0, user), address, now);
        assert_eq!(pause("ada", near(99), start), Some(Duration::from_secs(1)));
        throttle.forget((0, "ada"), near(99));
        (0..9).for_each(|_| throttle.note_failure((0, "bob"), near(1), start));
        assert_eq!(pause("ada", near(99), start), Some(Duration::from_secs(5)), "at most");
        assert_eq!(pause("bob", near(2), start + PAUSE_MIN * 5), Some(Duration::from_secs(3)));
        let far = Some(IpAddr::from([0x2001, 0xdb8, 0, 8, 1, 2, 3, 4]));
        assert_eq!(pause("ada", far, start), None, "another network");
        assert_eq!(pause("ada", None, start), None);
    }

    #[test]
    fn it_stays_small() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        for number in 0..3 * ENTRIES_MAX {
            let now = start + Duration::from_millis(number as u64);
            throttle.note_failure((0, &format!("user {number}")), None, now);
        }
        assert!(throttle.failures.len() <= ENTRIES_MAX);
    }

    #[test]
    fn it_stays_small_and_exact_with_threads() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        let here = Some(IpAddr::from([127, 0, 0, 1]));
        let attack = |thread: usize| {
            for number in 0..2 * ENTRIES_MAX {
                let now = start + Duration::from_millis(number as u64);
                throttle.note_failure((0, &format!("user {thread} {number}")), None, now);
                if number % 1000 == 0 {
                    // The newest failures stay.
                    throttle.note_failure((1, "ada"), here, now + FORGET / 2);
                }
            }
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|thread| drop(scope.spawn(move || attack(thread))));
        });
        assert!(throttle.failures.len() <= ENTRIES_MAX, "{}", throttle.failures.len());
        let key = throttle.key(Counted::User(1, "ada", here));
        assert_eq!(throttle.failures.get(&key).map(|existing| existing.count), Some(80));
    }
}
