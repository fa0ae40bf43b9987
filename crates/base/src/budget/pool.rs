//! A common budget of bytes for all requests. A request reserves what it is about to allocate, in
//! blocks, and gives the reservation back when it ends.
//!
//! Reservations are estimates. So the budget of a server also samples the anonymous memory that the
//! process really has, every few milliseconds. When that sample, or the data plus all reservations,
//! exceeds the bound, reservations are refused. A small reserve is exempt, so that a server whose
//! data alone fill the bound still answers small requests. A second one of the same size is for
//! requests of at most [`BLOCK`] while large ones, or the pages that the allocator holds for them,
//! fill the bound.
//!
//! ```text
//!   bound ├────────────────────────────────────────────┤
//!         │ data and the rest │ reserved  │    free    │   rest = anonymous memory when all was quiet
//!         │ anonymous memory, sampled │ new reserv. │  │   whichever is more decides
//! ```
//!
//! Bytes that were given back since the last sample are not subtracted from it: the allocator holds
//! freed pages for a while, and only the next sample shows whether the process still has them.
//!
//! A reservation that fits into the blocks of the request costs one atomic addition on the counter
//! of the request. One that needs another block also takes a lock of the request and costs one on
//! the counter of the process. All counters are relaxed: they guard no other data.

use super::machine::{anonymous_memory, memory_limit};
use crate::types::{Error, Result};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, thread};

/// The size in bytes of the first block of a request. The blocks of a request double from here up
/// to [`BLOCK`], since most requests need few bytes and thousands may run at once.
const FIRST_BLOCK: u64 = 4 << 10;

/// The block size in bytes of requests that hold less than [`LARGE_BLOCK`].
const BLOCK: u64 = 64 << 10;

/// The block size in bytes of requests that hold at least as much.
const LARGE_BLOCK: u64 = 1 << 20;

/// The reserve is the bound divided by this number. Reservations within the reserve succeed without
/// a check of the memory of the process. Requests of at most [`BLOCK`] may hold as much again when
/// everything else is refused.
const RESERVE: u64 = 16;

/// The margin is the bound divided by this number, but at least [`MARGIN_MIN`]. Only small
/// reservations use the margin. So small requests are answered when large ones have used up their
/// part. It also covers memory that is allocated without a reservation until the next sample shows
/// it.
const MARGIN: u64 = 8;

/// The least margin in bytes, or a third of the bound if that is less. What may be allocated
/// between two samples, and what the allocator retains, does not shrink with the bound. A flood of
/// compressed bodies (`hostile::memory`) had up to 97 MiB more than large reservations may use:
/// buffers that were reserved before a sample and filled after it, while the allocator still held
/// those of refused requests.
const MARGIN_MIN: u64 = 128 << 20;

/// A reservation of at most this many bytes is small: it may use the margin.
const SMALL: u64 = 256 << 10;

/// The number of calls of [`Budget::tidy`] that have an effect after at least [`LARGE_BLOCK`] bytes
/// were given back. One is not enough: memory is freed shortly after it is given back, and the
/// allocator visits a part of its pages at a time.
const TIDY_TIMES: u64 = 5;

/// The least time between two samples when the last one was at most half of the bound. A sample
/// takes about 20 µs.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// The least time between two samples when the last one was more than half of the bound: two cores
/// can fill several megabytes in a millisecond.
const CLOSE_LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// A budget of memory common to all requests. Clones refer to the same budget.
#[derive(Clone)]
pub struct Budget {
    inner: Arc<Inner>,
}

struct Inner {
    /// The bytes that may be reserved, or that the process may have, in all.
    bound: u64,
    /// The bytes that are reserved now, rounded up to blocks.
    reserved: AtomicU64,
    /// The most bytes that were reserved at once since [`Budget::forget_peak`].
    peak: AtomicU64,
    /// The sum of all bytes that were ever reserved, whether they were given back or not.
    ever_reserved: AtomicU64,
    /// The bytes that are reserved although memory is full, by requests of at most [`BLOCK`].
    spare: AtomicU64,
    /// The bytes that were given back since the last [`Budget::tidy`].
    given: AtomicU64,
    /// How many more calls of [`Budget::tidy`] are to have an effect.
    untidy: AtomicU64,
    /// Present when the memory of the process is sampled.
    watch: Option<Watch>,
}

/// The last sample of the memory of the process, and when the next one is due.
struct Watch {
    started: Instant,
    /// When the next sample is due, in nanoseconds since `started`.
    next_look: AtomicU64,
    /// The bytes of anonymous memory in the last sample.
    anonymous: AtomicU64,
    /// The value of [`Inner::ever_reserved`] at the time of the last sample; `u64::MAX` where the
    /// system gave none.
    ever_reserved: AtomicU64,
    /// The bytes that the process had in addition to reservations, in the last sample with few
    /// reserved bytes: the data.
    quiet: AtomicU64,
    /// Reads the bytes of anonymous memory from the system; `None` where it has no such figure.
    read: fn() -> Option<u64>,
}

/// The bytes of a budget that one request has reserved. They are released on drop.
pub struct Reservation {
    budget: Budget,
    /// The bytes that the request has reserved.
    used: AtomicU64,
    /// The same in blocks; at least `used` between calls.
    held: AtomicU64,
    /// The part of `held` that counts in [`Inner::spare`].
    spare: AtomicU64,
    /// Held while `held` grows. Two threads of a request that grew it at once would both reserve
    /// the same blocks for a moment, and one of them could be refused although all of them fit.
    growth: Mutex<()>,
}

impl Budget {
    /// Creates a budget that counts reservations and never samples the memory of the process.
    /// `bound` is in bytes.
    pub fn new(bound: u64) -> Budget {
        Budget::with(bound, None)
    }

    fn with(bound: u64, watch: Option<Watch>) -> Budget {
        let none = || AtomicU64::new(0);
        let inner = Inner {
            bound,
            reserved: none(),
            peak: none(),
            ever_reserved: none(),
            spare: none(),
            given: none(),
            untidy: none(),
            watch,
        };
        Budget { inner: Arc::new(inner) }
    }

    /// Creates a budget for the entire process, its data included, whose memory is sampled. `bound`
    /// is in bytes.
    pub fn of_process(bound: u64) -> Budget {
        Budget::watching(bound, anonymous_memory)
    }

    /// Returns the budget of all databases of this process that set no other: 80 % of the memory
    /// that the process may use, or no bound when the system does not report it.
    pub fn shared() -> Budget {
        static SHARED: OnceLock<Budget> = OnceLock::new();
        SHARED.get_or_init(|| Budget::new(Budget::part_of_machine(80))).clone()
    }

    /// Returns a percentage of the memory that this process may use, in bytes; `u64::MAX` when the
    /// system does not report it.
    pub fn part_of_machine(percent: u64) -> u64 {
        memory_limit().map_or(u64::MAX, |bytes| bytes / 100 * percent)
    }

    fn watching(bound: u64, read: fn() -> Option<u64>) -> Budget {
        let none = || AtomicU64::new(0);
        let (next_look, anonymous, ever_reserved, quiet) = (none(), none(), none(), none());
        let started = Instant::now();
        Budget::with(
            bound,
            Some(Watch { started, next_look, anonymous, ever_reserved, quiet, read }),
        )
    }

    /// Returns the size of the budget in bytes.
    pub fn bound(&self) -> u64 {
        self.inner.bound
    }

    /// Returns the bytes that are reserved now, rounded up to blocks.
    pub fn reserved(&self) -> u64 {
        self.inner.reserved.load(Relaxed)
    }

    /// Returns the most bytes that were reserved at once since [`Budget::forget_peak`], counted in
    /// blocks.
    pub fn peak(&self) -> u64 {
        self.inner.peak.load(Relaxed)
    }

    /// Starts a new measurement of [`Budget::peak`].
    pub fn forget_peak(&self) {
        self.inner.peak.store(self.reserved(), Relaxed);
    }

    /// Creates an empty reservation for a request.
    pub fn reservation(&self) -> Reservation {
        let none = || AtomicU64::new(0);
        let (used, held, spare) = (none(), none(), none());
        Reservation { budget: self.clone(), used, held, spare, growth: Mutex::default() }
    }

    /// Checks whether data may be added. Data stays, unlike the memory of a request, so it is
    /// refused as soon as the process has more memory than the bound. A budget that does not sample
    /// always permits it.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`], which names the bound, when the process has more memory than that.
    pub fn check_growth(&self) -> Result<()> {
        let Some(watch) = &self.inner.watch else { return Ok(()) };
        watch.look(&self.inner);
        let anonymous = watch.anonymous.load(Relaxed);
        match self.inner.bound < anonymous {
            true => Err(self.full("to add data", anonymous)),
            false => Ok(()),
        }
    }

    /// Records bytes that were freed one by one without a reservation: [`Budget::tidy`] counts them
    /// as given back.
    pub fn note_freed(&self, bytes: u64) {
        self.inner.given.fetch_add(bytes, Relaxed);
    }

    /// Makes the allocator return freed pages to the system. To be called once a second; it has no
    /// effect when few bytes were freed since the last call.
    ///
    /// The allocator keeps freed pages for a second, and looks for older pages only when a thread
    /// exits or allocates much. Without this call the pages of a large request would stay while
    /// only small requests follow, and would count as data.
    pub fn tidy(&self) {
        let Inner { given, untidy, .. } = &*self.inner;
        if LARGE_BLOCK <= given.swap(0, Relaxed) {
            untidy.store(TIDY_TIMES, Relaxed);
        }
        let times = untidy.load(Relaxed);
        if 0 < times {
            untidy.store(times - 1, Relaxed);
            let thread = thread::Builder::new().name("hexgraph-tidy".to_owned());
            // The thread has to allocate something, or its end has no effect on the allocator. When
            // the system refuses a thread, the next call tries again.
            let _ = thread.spawn(|| drop(std::hint::black_box(Box::new(0_u8))));
        }
    }

    /// What large reservations leave to small ones.
    fn margin(&self) -> u64 {
        let Inner { bound, watch, .. } = &*self.inner;
        let least = if watch.is_some() { MARGIN_MIN.min(*bound / 3) } else { 0 };
        least.max(*bound / MARGIN)
    }

    /// Says whether a large request could reserve `bytes` now, and reserves nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when the budget has too few bytes left.
    pub fn check_free(&self, bytes: u64) -> Result<()> {
        let Inner { bound, reserved, ever_reserved, watch, .. } = &*self.inner;
        let now = reserved.load(Relaxed);
        let after = now.saturating_add(bytes);
        let projected = watch.as_ref().map_or(after, |watch| {
            watch.look(&self.inner);
            watch.projected(after, ever_reserved.load(Relaxed).saturating_add(bytes))
        });
        if projected <= *bound - self.margin() {
            return Ok(());
        }
        Err(self.full(&format!("for another {bytes} bytes"), now))
    }

    /// Reserves `bytes` for a reservation, which holds `held` bytes afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when the budget, without the margin if the reservation is not small, has
    /// too few bytes left.
    fn acquire(&self, bytes: u64, held: u64) -> Result<()> {
        let Inner { bound, reserved, peak, ever_reserved, watch, .. } = &*self.inner;
        let retained = if held <= SMALL { 0 } else { self.margin() };
        // The margin is at most a third of the bound (each of the two is), so no subtraction below
        // goes under zero.
        if *bound - retained < bytes {
            return Err(self.full(&format!("for another {bytes} bytes"), self.reserved()));
        }
        let looked =
            watch.as_ref().filter(|_| bound / RESERVE < self.reserved().saturating_add(bytes));
        if let Some(watch) = looked {
            watch.look(&self.inner);
        }
        let projected = |reserved: u64, ever: u64| {
            looked.map_or(reserved, |watch| watch.projected(reserved, ever))
        };
        // What is refused here adds nothing: its bytes would make concurrent smaller calls fail.
        let expected = projected(
            self.reserved().saturating_add(bytes),
            ever_reserved.load(Relaxed).wrapping_add(bytes),
        );
        if *bound - retained < expected {
            return Err(self.full(&format!("for another {bytes} bytes"), expected - bytes));
        }
        // Added first and removed on failure: of two concurrent calls only one gets the last bytes.
        let after = reserved.fetch_add(bytes, Relaxed).saturating_add(bytes);
        let ever = ever_reserved.fetch_add(bytes, Relaxed).wrapping_add(bytes);
        let projected = projected(after, ever);
        if projected <= *bound - retained {
            // A load first: a reservation below the peak writes nothing that other cores read.
            if peak.load(Relaxed) < after {
                peak.fetch_max(after, Relaxed);
            }
            return Ok(());
        }
        reserved.fetch_sub(bytes, Relaxed);
        ever_reserved.fetch_sub(bytes, Relaxed);
        Err(self.full(&format!("for another {bytes} bytes"), projected - bytes))
    }

    /// Reserves `bytes` although memory is full; false when the spare bytes are used up, too. There
    /// are none unless the process is sampled: the margin is enough for small requests then.
    fn acquire_spare(&self, bytes: u64) -> bool {
        let Inner { bound, reserved, peak, ever_reserved, spare, watch, .. } = &*self.inner;
        let most = if watch.is_some() { *bound / RESERVE } else { 0 };
        if most < spare.fetch_add(bytes, Relaxed).saturating_add(bytes) {
            spare.fetch_sub(bytes, Relaxed);
            return false;
        }
        let after = reserved.fetch_add(bytes, Relaxed).saturating_add(bytes);
        peak.fetch_max(after, Relaxed);
        ever_reserved.fetch_add(bytes, Relaxed);
        true
    }

    fn give_spare(&self, bytes: u64) {
        if 0 < bytes {
            self.inner.spare.fetch_sub(bytes, Relaxed);
        }
    }

    fn give(&self, bytes: u64) {
        self.inner.reserved.fetch_sub(bytes, Relaxed);
        self.inner.given.fetch_add(bytes, Relaxed);
    }

    fn full(&self, what: &str, used: u64) -> Error {
        let bound = self.inner.bound;
        Error::Limit {
            message: format!(
                "there is no memory {what}: {used} of the {bound} bytes that this process may use \
                 are in use; try again later, request less, or raise the setting `memory` of the \
                 server or of `connect`"
            ),
        }
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bound, reserved) = (self.bound(), self.reserved());
        f.debug_struct("Budget").field("bound", &bound).field("reserved", &reserved).finish()
    }
}

impl Watch {
    /// Samples the memory of the process, unless the last sample is recent enough.
    fn look(&self, inner: &Inner) {
        let now = self.started.elapsed().as_nanos() as u64;
        let due = self.next_look.load(Relaxed);
        let is_close = inner.bound / 2 < self.anonymous.load(Relaxed);
        let interval = if is_close { CLOSE_LOOK_INTERVAL } else { LOOK_INTERVAL };
        let next = now + interval.as_nanos() as u64;
        // Of several threads that find a sample due, the one whose exchange succeeds takes it.
        if now < due || self.next_look.compare_exchange(due, next, Relaxed, Relaxed).is_err() {
            return;
        }
        // The counters are read before the sample: bytes that are reserved in between may be
        // counted twice, but are never missed.
        let (reserved, ever_reserved) =
            (inner.reserved.load(Relaxed), inner.ever_reserved.load(Relaxed));
        let Some(anonymous) = (self.read)() else {
            // The system reports nothing. So reservations count only while they last, in addition
            // to the data of the last sample.
            self.anonymous.store(self.quiet.load(Relaxed), Relaxed);
            self.ever_reserved.store(u64::MAX, Relaxed);
            return;
        };
        self.anonymous.store(anonymous, Relaxed);
        self.ever_reserved.store(ever_reserved, Relaxed);
        if reserved <= inner.bound / RESERVE {
            self.quiet.store(anonymous.saturating_sub(reserved), Relaxed);
        }
    }

    /// Returns the bytes that the process will have once everything that is reserved is allocated:
    /// the maximum of the last sample plus new reservations, and the data plus all reservations.
    /// `ever` is the current [`Inner::ever_reserved`].
    fn projected(&self, reserved: u64, ever: u64) -> u64 {
        // A refused reservation subtracts its bytes, so `ever` may be less than it was at the
        // sample; then nothing came since.
        let since = ever.saturating_sub(self.ever_reserved.load(Relaxed));
        let sampled = self.anonymous.load(Relaxed).saturating_add(since);
        sampled.max(self.quiet.load(Relaxed).saturating_add(reserved))
    }
}

impl Reservation {
    /// Reserves bytes that the request is about to allocate.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when the budget has too few bytes left; then nothing is reserved.
    pub fn reserve(&self, bytes: u64) -> Result<()> {
        // More than the bound always fails; it is caught here, since such numbers could overflow
        // the counters.
        if self.budget.bound() < bytes {
            return self.budget.acquire(bytes, bytes);
        }
        let used = self.used.fetch_add(bytes, Relaxed).saturating_add(bytes);
        if used <= self.held.load(Relaxed) {
            return Ok(());
        }
        let held = self.hold(used);
        if held.is_err() {
            self.used.fetch_sub(bytes, Relaxed);
        }
        held
    }

    /// Releases reserved bytes.
    pub fn give_back(&self, bytes: u64) {
        let used = self.used.fetch_sub(bytes, Relaxed).saturating_sub(bytes);
        // A concurrent reservation that fits at this moment may leave `held` below `used`: the next
        // one gets the missing blocks.
        let held = self.held.load(Relaxed);
        let expected = in_blocks(used);
        // Up to one large block is retained, since a request that frees a few bytes soon needs it
        // again.
        if expected + LARGE_BLOCK < held
            && self.held.compare_exchange(held, expected, Relaxed, Relaxed).is_ok()
        {
            self.budget.give(held - expected);
        }
    }

    /// Gives back all but `bytes`: for a request that has freed the rest of its memory.
    pub fn retain_only(&self, bytes: u64) {
        self.give_back(self.used().saturating_sub(bytes));
    }

    /// Returns the bytes that the request has reserved, not rounded to blocks.
    pub fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// Returns the budget that this is reserved in.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Reserves blocks until this holds at least `used` bytes.
    fn hold(&self, used: u64) -> Result<()> {
        let _growth = self.growth.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let held = self.held.load(Relaxed);
            let expected = in_blocks(used);
            if expected <= held {
                return Ok(());
            }
            match self.budget.acquire(expected - held, expected) {
                // A request that has grown is large: what it was lent serves the next small one.
                Ok(()) if BLOCK < expected => {
                    self.budget.give_spare(self.spare.swap(0, Relaxed));
                }
                Ok(()) => {}
                Err(_) if expected <= BLOCK && self.budget.acquire_spare(expected - held) => {
                    self.spare.fetch_add(expected - held, Relaxed);
                }
                Err(error) => return Err(error),
            }
            if self.held.compare_exchange(held, expected, Relaxed, Relaxed).is_ok() {
                return Ok(());
            }
            // Another thread of the request has given blocks back: give these back, too, and
            // compute again.
            self.budget.give(expected - held);
        }
    }
}

/// A part of a reservation. Its bytes are released on drop.
pub struct Held {
    reservation: Arc<Reservation>,
    bytes: u64,
}

impl Held {
    /// Reserves `bytes`.
    ///
    /// # Errors
    ///
    /// As [`Reservation::reserve`].
    pub fn reserve(reservation: &Arc<Reservation>, bytes: u64) -> Result<Held> {
        reservation.reserve(bytes)?;
        Ok(Held { reservation: Arc::clone(reservation), bytes })
    }

    /// Reserves `bytes` more.
    ///
    /// # Errors
    ///
    /// As [`Reservation::reserve`].
    pub fn grow(&mut self, bytes: u64) -> Result<()> {
        self.reservation.reserve(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Returns the number of bytes that are held.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Held({})", self.bytes)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.reservation.give_back(self.bytes);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.give(*self.held.get_mut());
        self.budget.give_spare(*self.spare.get_mut());
    }
}

/// Rounds a number of bytes up to blocks.
fn in_blocks(bytes: u64) -> u64 {
    if bytes == 0 {
        return 0;
    }
    if bytes <= BLOCK {
        return bytes.next_power_of_two().max(FIRST_BLOCK);
    }
    let block = if bytes < LARGE_BLOCK { BLOCK } else { LARGE_BLOCK };
    bytes.checked_next_multiple_of(block).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;

    #[test]
    fn reservations_are_released_also_by_a_panic() {
        let budget = Budget::new(10 << 20);
        let reservation = budget.reservation();
        for (more, reserved) in
            [(1, FIRST_BLOCK), (FIRST_BLOCK, 2 * FIRST_BLOCK), (BLOCK / 2, BLOCK)]
        {
            reservation.reserve(more).unwrap();
            assert_eq!(budget.reserved(), reserved);
        }
        reservation.reserve(BLOCK / 2 - FIRST_BLOCK - 1).unwrap();
        assert_eq!(budget.reserved(), BLOCK);
        reservation.reserve(3 << 20).unwrap();
        assert_eq!(budget.reserved(), 4 << 20);
        reservation.give_back(3 << 20);
        assert_eq!((budget.reserved(), reservation.used()), (BLOCK, BLOCK));
        assert_eq!(budget.peak(), 4 << 20);
        budget.forget_peak();
        assert_eq!(budget.peak(), BLOCK);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let reservation = budget.reservation();
            reservation.reserve(5 << 20).unwrap();
            panic!("in the middle");
        }));
        assert!(panicked.is_err());
        drop(reservation);
        assert_eq!(budget.reserved(), 0);
    }

    #[test]
    fn what_is_not_there_is_refused_by_name_and_leaves_no_trace() {
        let budget = Budget::new(10 << 20);
        let (one, other) = (budget.reservation(), budget.reservation());
        one.reserve(8 << 20).unwrap();
        let error = other.reserve(3 << 20).unwrap_err();
        assert!(
            matches!(&error, Error::Limit { message } if message.contains("`memory`")
            && message.contains("8388608 of the 10485760 bytes")),
            "{error}"
        );
        assert_eq!((budget.reserved(), other.used()), (8 << 20, 0));
        other.reserve(u64::MAX).unwrap_err();
        other.reserve(SMALL).unwrap();
        drop(one);
        other.reserve(3 << 20).unwrap();
    }

    #[test]
    fn many_threads_reserve_and_release_exactly() {
        let budget = Budget::new(1 << 30);
        let reservation = budget.reservation();
        thread::scope(|scope| {
            for seed in 0..4 {
                let (reservation, budget) = (&reservation, &budget);
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(seed);
                    for _ in 0..10_000 {
                        let bytes = random.u64(..300_000);
                        let own = budget.reservation();
                        own.reserve(bytes).unwrap();
                        reservation.reserve(bytes).unwrap();
                        reservation.give_back(bytes);
                    }
                });
            }
        });
        assert_eq!(reservation.used(), 0);
        drop(reservation);
        assert_eq!(budget.reserved(), 0);
    }

    /// Two threads that need the next blocks of a request at the same time do not refuse each other
    /// what fits.
    #[test]
    fn threads_of_a_request_reserve_their_blocks_once() {
        const THREADS: u64 = 2;
        let budget = Budget::new(32 << 20);
        let (started, refused) = (AtomicU64::new(0), AtomicU64::new(0));
        let reservations: Vec<Reservation> = (0..10_000).map(|_| budget.reservation()).collect();
        let barrier = Barrier::new(THREADS as usize);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for (round, reservation) in (1..).zip(&reservations) {
                        // All threads go on within nanoseconds.
                        started.fetch_add(1, Relaxed);
                        while started.load(Relaxed) < round * THREADS {
                            std::hint::spin_loop();
                        }
                        if reservation.reserve(14 << 20).is_err() {
                            refused.fetch_add(1, Relaxed);
                        }
                        if barrier.wait().is_leader() {
                            reservation.give_back(reservation.used());
                        }
                        barrier.wait();
                    }
                });
            }
        });
        assert_eq!((refused.into_inner(), budget.reserved()), (0, 0));
    }

    #[test]
    fn small_reservations_get_the_margin() {
        let budget = Budget::new(16 << 20);
        let large: Vec<Reservation> = (0..20).map(|_| budget.reservation()).collect();
        large.iter().for_each(|reservation| drop(reservation.reserve(SMALL)));
        while large.iter().any(|reservation| reservation.reserve(LARGE_BLOCK).is_ok()) {}
        assert!((13 << 20..=14 << 20).contains(&budget.reserved()), "{}", budget.reserved());
        let small: Vec<Reservation> = (0..3).map(|_| budget.reservation()).collect();
        small.iter().for_each(|reservation| reservation.reserve(SMALL).unwrap());
        small[0].reserve(SMALL).unwrap_err();
    }

    #[test]
    fn what_was_given_back_counts_until_the_next_look() {
        let budget = Budget::watching(1 << 30, || Some(100));
        let watch = budget.inner.watch.as_ref().unwrap();
        budget.inner.ever_reserved.store(40, Relaxed);
        watch.look(&budget.inner);
        assert_eq!(watch.projected(0, 40), 100);
        assert_eq!(watch.projected(5, 90), 150);
        assert_eq!(watch.projected(200, 90), 300);
    }

    #[test]
    fn without_samples_reservations_count() {
        let budget = Budget::watching(1 << 30, || None);
        for _ in 0..30 {
            budget.reservation().reserve(100 << 20).unwrap();
        }
        let reservation = budget.reservation();
        reservation.reserve(800 << 20).unwrap();
        budget.reservation().reserve(200 << 20).unwrap_err();
        budget.check_growth().unwrap();
    }

    #[test]
    fn data_count_too_and_a_reserve_is_left() {
        let budget = Budget::watching(16 << 20, || Some(15 << 20));
        budget.check_growth().unwrap();
        let (small, large) = (budget.reservation(), budget.reservation());
        small.reserve(1 << 20).unwrap();
        let error = large.reserve(2 << 20).unwrap_err();
        assert!(error.to_string().contains("16777216 of the 16777216 bytes"), "{error}");
        let full = Budget::watching(16 << 20, || Some(17 << 20));
        assert!(matches!(full.check_growth(), Err(Error::Limit { message })
            if message.contains("no memory to add data")));
        full.reservation().reserve(1 << 20).unwrap();
        full.reservation().reserve(2 << 20).unwrap_err();
    }

    #[test]
    fn small_requests_are_answered_while_the_process_has_more_than_the_bound() {
        let budget = Budget::watching(16 << 20, || Some(17 << 20));
        let large = budget.reservation();
        large.reserve(1 << 20).unwrap();
        large.reserve(1).unwrap_err();
        let small: Vec<Reservation> = (0..16).map(|_| budget.reservation()).collect();
        for reservation in &small {
            reservation.reserve(FIRST_BLOCK).unwrap();
            reservation.reserve(BLOCK - FIRST_BLOCK).unwrap();
            // What is more than a block is not small.
            reservation.reserve(1).unwrap_err();
        }
        let next = budget.reservation();
        next.reserve(1).unwrap_err();
        drop(small);
        next.reserve(BLOCK).unwrap();
        drop((next, large));
        assert_eq!((budget.reserved(), budget.inner.spare.load(Relaxed)), (0, 0));
    }

    #[test]
    fn a_request_that_grows_returns_what_it_was_lent() {
        let budget = Budget::watching(16 << 20, || Some(0));
        let large = budget.reservation();
        large.reserve(10 << 20).unwrap();
        let fill: Vec<Reservation> = (0..24).map(|_| budget.reservation()).collect();
        fill.iter().for_each(|reservation| reservation.reserve(SMALL).unwrap());
        let lent = budget.reservation();
        lent.reserve(BLOCK).unwrap();
        assert_eq!(budget.inner.spare.load(Relaxed), BLOCK);
        drop((large, fill));
        // What was given back counts until the next sample is due.
        thread::sleep(LOOK_INTERVAL);
        lent.reserve(LARGE_BLOCK).unwrap();
        assert_eq!(budget.inner.spare.load(Relaxed), 0);
    }
}
