//! A number of bytes that requests share: each draws what it is about to allocate, in blocks, and
//! gives it back when it ends.
//!
//! What is drawn is a promise, and promises may be wrong. So the budget of a server also looks at
//! the anonymous memory that the process really has, every few milliseconds: where that, or the
//! data with what is drawn, passes the bound, nothing more is drawn but for a small reserve, which
//! keeps a server answering small requests when its data alone fill the bound.
//!
//! ```text
//!   bound ├────────────────────────────────────────────┤
//!         │ data and the rest │ drawn now │    free    │   rest = anonymous memory when all was quiet
//!         │ anonymous memory, sampled │ drawn since │  │   whichever is more decides
//! ```
//!
//! What was given back since the last look is not taken off: the allocator keeps pages for a while, and only the next
//! look tells whether the process has them still.
//!
//! A draw within a block that is held already costs an atomic addition on the request's own
//! counter; another block costs one on that of the process.

use super::machine::{anonymous_memory, memory_limit};
use crate::types::{Error, Result};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use std::{fmt, thread};

/// The first blocks double from this many bytes on up to [`BLOCK`]: most requests need no more, and there may be
/// thousands of them.
const FIRST_BLOCK: u64 = 4 << 10;

/// Small draws come in blocks of this many bytes.
const BLOCK: u64 = 64 << 10;

/// Whoever holds this much draws in blocks of this many bytes.
const LARGE_BLOCK: u64 = 1 << 20;

/// The part of a budget that is drawn whatever the process has: one in so many.
const RESERVE: u64 = 16;

/// The part of a budget that only small shares get: one in so many, but at least [`MARGIN_MIN`]. So they are given
/// something when great requests have drawn all that they get; and it is room for what is allocated beyond what was drawn,
/// until the next look tells.
const MARGIN: u64 = 8;

/// What may be allocated until the next look, and kept by the allocator, does not depend on the bound of a process: so
/// many bytes, or a quarter of a small bound.
const MARGIN_MIN: u64 = 96 << 20;

/// A share of at most so many bytes is small.
const SMALL: u64 = 256 << 10;

/// How often [`Budget::tidy`] does something after much was given back: what is given back is freed a little later, and the
/// allocator looks at a part of its pages at a time.
const TIDY_TIMES: u64 = 5;

/// How often the memory of the process is looked at, at the most, where it had less than half of the bound the last time.
/// A look costs some 20 µs.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// The same where it had more: two cores fill several megabytes in a millisecond.
const CLOSE_LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// The memory that requests share. A clone is the same budget.
#[derive(Clone)]
pub struct Budget {
    inner: Arc<Inner>,
}

struct Inner {
    bound: u64,
    drawn: AtomicU64,
    /// All that was ever drawn.
    taken: AtomicU64,
    /// What was given back since the last [`Budget::tidy`].
    given: AtomicU64,
    /// How often [`Budget::tidy`] has still something to do.
    untidy: AtomicU64,
    watch: Option<Watch>,
}

/// What is known of the memory of the process.
struct Watch {
    started: Instant,
    /// Nanoseconds from the start on.
    next_look: AtomicU64,
    /// The anonymous memory at the last look, and all that had ever been drawn then.
    anonymous: AtomicU64,
    taken: AtomicU64,
    /// The anonymous memory when hardly anything was drawn the last time.
    quiet: AtomicU64,
    read: fn() -> Option<u64>,
}

/// What one request has drawn of a budget. It is given back when this is dropped.
pub struct Share {
    budget: Budget,
    used: AtomicU64,
    /// The whole blocks that were drawn for it.
    held: AtomicU64,
}

impl Budget {
    /// A budget of so many bytes for what is drawn. The memory of the process is not looked at.
    pub fn new(bound: u64) -> Budget {
        Budget::with(bound, None)
    }

    fn with(bound: u64, watch: Option<Watch>) -> Budget {
        let none = || AtomicU64::new(0);
        let (drawn, taken, given, untidy) = (none(), none(), none(), none());
        Budget { inner: Arc::new(Inner { bound, drawn, taken, given, untidy, watch }) }
    }

    /// A budget of so many bytes for the whole process: its data, and what is drawn.
    pub fn of_process(bound: u64) -> Budget {
        Budget::watching(bound, anonymous_memory)
    }

    /// What all databases of this process share that say nothing else: so many hundredths of the
    /// memory that it may have, or no bound where the system does not tell how much that is.
    pub fn shared() -> Budget {
        static SHARED: OnceLock<Budget> = OnceLock::new();
        SHARED.get_or_init(|| Budget::new(Budget::part_of_machine(80))).clone()
    }

    /// So many hundredths of the memory that this process may have.
    pub fn part_of_machine(percent: u64) -> u64 {
        memory_limit().map_or(u64::MAX, |bytes| bytes / 100 * percent)
    }

    fn watching(bound: u64, read: fn() -> Option<u64>) -> Budget {
        let none = || AtomicU64::new(0);
        let (next_look, anonymous, taken, quiet) = (none(), none(), none(), none());
        let started = Instant::now();
        Budget::with(bound, Some(Watch { started, next_look, anonymous, taken, quiet, read }))
    }

    /// The bytes that there are in all.
    pub fn bound(&self) -> u64 {
        self.inner.bound
    }

    /// The bytes that are drawn now.
    pub fn drawn(&self) -> u64 {
        self.inner.drawn.load(Relaxed)
    }

    /// A share that has drawn nothing yet.
    pub fn share(&self) -> Share {
        Share { budget: self.clone(), used: AtomicU64::new(0), held: AtomicU64::new(0) }
    }

    /// Says whether data may be added: what is added stays, so it is refused as soon as the process
    /// has more than its bound.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] that names the bound.
    pub fn check_growth(&self) -> Result<()> {
        let Some(watch) = &self.inner.watch else { return Ok(()) };
        watch.look(&self.inner);
        let anonymous = watch.anonymous.load(Relaxed);
        match self.inner.bound < anonymous {
            true => Err(self.full("to add data", anonymous)),
            false => Ok(()),
        }
    }

    /// Has the allocator give pages back that it keeps since they were freed. To be called once a second: it does nothing
    /// where little was given back lately.
    ///
    /// The allocator keeps freed pages for a second, and looks for those that it has kept for long when a thread ends, or
    /// has allocated much. So where only small requests come, the pages of a large one before them would be kept for as
    /// long, and taken for data.
    pub fn tidy(&self) {
        let Inner { given, untidy, .. } = &*self.inner;
        if LARGE_BLOCK <= given.swap(0, Relaxed) {
            untidy.store(TIDY_TIMES, Relaxed);
        }
        let times = untidy.load(Relaxed);
        if 0 < times {
            untidy.store(times - 1, Relaxed);
            let thread = thread::Builder::new().name("hexgraph-tidy".to_owned());
            // One that has allocated something. Where the system has no thread there is a next time.
            let _ = thread.spawn(|| drop(std::hint::black_box(Box::new(0_u8))));
        }
    }

    /// Takes bytes for a share that will hold so many then.
    fn take(&self, bytes: u64, held: u64) -> Result<()> {
        let Inner { bound, drawn, taken, watch, .. } = &*self.inner;
        let least = if watch.is_some() { MARGIN_MIN.min(*bound / 4) } else { 0 };
        let margin = least.max(*bound / MARGIN);
        let kept = if held <= SMALL { 0 } else { margin };
        if *bound - kept < bytes {
            return Err(self.full(&format!("for another {bytes} bytes"), self.drawn()));
        }
        let looked =
            watch.as_ref().filter(|_| bound / RESERVE < self.drawn().saturating_add(bytes));
        if let Some(watch) = looked {
            watch.look(&self.inner);
        }
        let after = drawn.fetch_add(bytes, Relaxed).saturating_add(bytes);
        let ever = taken.fetch_add(bytes, Relaxed).wrapping_add(bytes);
        let projected = looked.map_or(after, |watch| watch.projected(after, ever));
        if projected <= *bound - kept {
            return Ok(());
        }
        drawn.fetch_sub(bytes, Relaxed);
        taken.fetch_sub(bytes, Relaxed);
        Err(self.full(&format!("for another {bytes} bytes"), projected - bytes))
    }

    fn give(&self, bytes: u64) {
        self.inner.drawn.fetch_sub(bytes, Relaxed);
        self.inner.given.fetch_add(bytes, Relaxed);
    }

    fn full(&self, what: &str, taken: u64) -> Error {
        let bound = self.inner.bound;
        Error::Limit {
            message: format!(
                "there is no memory {what}: {taken} of the {bound} bytes that this process may use \
                 are taken; try again later, ask for less, or raise the setting `memory` of the \
                 server or of `connect`"
            ),
        }
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bound, drawn) = (self.bound(), self.drawn());
        f.debug_struct("Budget").field("bound", &bound).field("drawn", &drawn).finish()
    }
}

impl Watch {
    /// Looks at the memory of the process, unless somebody did so a moment ago.
    fn look(&self, inner: &Inner) {
        let now = self.started.elapsed().as_nanos() as u64;
        let due = self.next_look.load(Relaxed);
        let is_close = inner.bound / 2 < self.anonymous.load(Relaxed);
        let interval = if is_close { CLOSE_LOOK_INTERVAL } else { LOOK_INTERVAL };
        let next = now + interval.as_nanos() as u64;
        // One of those who come at once looks.
        if now < due || self.next_look.compare_exchange(due, next, Relaxed, Relaxed).is_err() {
            return;
        }
        // What is drawn while the system counts may be counted twice, and is not forgotten.
        let (drawn, taken) = (inner.drawn.load(Relaxed), inner.taken.load(Relaxed));
        let Some(anonymous) = (self.read)() else { return };
        self.anonymous.store(anonymous, Relaxed);
        self.taken.store(taken, Relaxed);
        if drawn <= inner.bound / RESERVE {
            self.quiet.store(anonymous.saturating_sub(drawn), Relaxed);
        }
    }

    /// What the process has when all is allocated that is drawn, of all that was `ever` drawn.
    fn projected(&self, drawn: u64, ever: u64) -> u64 {
        let since = ever.saturating_sub(self.taken.load(Relaxed));
        let sampled = self.anonymous.load(Relaxed).saturating_add(since);
        sampled.max(self.quiet.load(Relaxed).saturating_add(drawn))
    }
}

impl Share {
    /// Draws bytes that are about to be allocated.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when the budget has no more; nothing is drawn then.
    pub fn draw(&self, bytes: u64) -> Result<()> {
        // More than there is would wrap the counters around.
        if self.budget.bound() < bytes {
            return self.budget.take(bytes, bytes);
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

    /// Gives bytes back that were drawn before.
    pub fn give_back(&self, bytes: u64) {
        let used = self.used.fetch_sub(bytes, Relaxed).saturating_sub(bytes);
        let held = self.held.load(Relaxed);
        let wanted = in_blocks(used);
        // A little is kept: who gives back small things draws them again.
        if wanted + LARGE_BLOCK < held
            && self.held.compare_exchange(held, wanted, Relaxed, Relaxed).is_ok()
        {
            self.budget.give(held - wanted);
        }
    }

    /// Gives back all but so many bytes, when the rest of what was drawn is freed.
    pub fn keep_only(&self, bytes: u64) {
        self.give_back(self.used().saturating_sub(bytes));
    }

    /// The bytes that are drawn.
    pub fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// The budget that it is a share of.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Sees to it that blocks for `used` bytes are held.
    fn hold(&self, used: u64) -> Result<()> {
        loop {
            let held = self.held.load(Relaxed);
            let wanted = in_blocks(used);
            if wanted <= held {
                return Ok(());
            }
            self.budget.take(wanted - held, wanted)?;
            if self.held.compare_exchange(held, wanted, Relaxed, Relaxed).is_ok() {
                return Ok(());
            }
            // Another thread of the request drew meanwhile.
            self.budget.give(wanted - held);
        }
    }
}

/// Bytes of a share, which are given back when this is dropped.
pub struct Held {
    share: Arc<Share>,
    bytes: u64,
}

impl Held {
    /// Draws bytes of a share.
    ///
    /// # Errors
    ///
    /// As [`Share::draw`].
    pub fn draw(share: &Arc<Share>, bytes: u64) -> Result<Held> {
        share.draw(bytes)?;
        Ok(Held { share: Arc::clone(share), bytes })
    }

    /// Draws more.
    ///
    /// # Errors
    ///
    /// As [`Share::draw`].
    pub fn grow(&mut self, bytes: u64) -> Result<()> {
        self.share.draw(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// The bytes.
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
        self.share.give_back(self.bytes);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.give(*self.held.get_mut());
    }
}

/// So many bytes in whole blocks.
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

    #[test]
    fn what_is_drawn_is_given_back_also_by_a_panic() {
        let budget = Budget::new(10 << 20);
        let share = budget.share();
        for (more, drawn) in [(1, FIRST_BLOCK), (FIRST_BLOCK, 2 * FIRST_BLOCK), (BLOCK / 2, BLOCK)]
        {
            share.draw(more).unwrap();
            assert_eq!(budget.drawn(), drawn);
        }
        share.draw(BLOCK / 2 - FIRST_BLOCK - 1).unwrap();
        assert_eq!(budget.drawn(), BLOCK);
        share.draw(3 << 20).unwrap();
        assert_eq!(budget.drawn(), 4 << 20);
        share.give_back(3 << 20);
        assert_eq!((budget.drawn(), share.used()), (BLOCK, BLOCK));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let share = budget.share();
            share.draw(5 << 20).unwrap();
            panic!("in the middle");
        }));
        assert!(panicked.is_err());
        drop(share);
        assert_eq!(budget.drawn(), 0);
    }

    #[test]
    fn what_is_not_there_is_refused_by_name_and_leaves_no_trace() {
        let budget = Budget::new(10 << 20);
        let (one, other) = (budget.share(), budget.share());
        one.draw(8 << 20).unwrap();
        let error = other.draw(3 << 20).unwrap_err();
        assert!(
            matches!(&error, Error::Limit { message } if message.contains("`memory`")
            && message.contains("8388608 of the 10485760 bytes")),
            "{error}"
        );
        assert_eq!((budget.drawn(), other.used()), (8 << 20, 0));
        other.draw(u64::MAX).unwrap_err();
        other.draw(SMALL).unwrap();
        drop(one);
        other.draw(3 << 20).unwrap();
    }

    #[test]
    fn many_threads_draw_and_give_back_exactly() {
        let budget = Budget::new(1 << 30);
        let share = budget.share();
        thread::scope(|scope| {
            for seed in 0..4 {
                let (share, budget) = (&share, &budget);
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(seed);
                    for _ in 0..10_000 {
                        let bytes = random.u64(..300_000);
                        let own = budget.share();
                        own.draw(bytes).unwrap();
                        share.draw(bytes).unwrap();
                        share.give_back(bytes);
                    }
                });
            }
        });
        assert_eq!(share.used(), 0);
        drop(share);
        assert_eq!(budget.drawn(), 0);
    }

    #[test]
    fn when_all_else_is_drawn_small_shares_get_the_rest() {
        let budget = Budget::new(16 << 20);
        let large: Vec<Share> = (0..20).map(|_| budget.share()).collect();
        large.iter().for_each(|share| drop(share.draw(SMALL)));
        while large.iter().any(|share| share.draw(LARGE_BLOCK).is_ok()) {}
        assert!((13 << 20..=14 << 20).contains(&budget.drawn()), "{}", budget.drawn());
        let small: Vec<Share> = (0..3).map(|_| budget.share()).collect();
        small.iter().for_each(|share| share.draw(SMALL).unwrap());
        small[0].draw(SMALL).unwrap_err();
    }

    #[test]
    fn what_was_given_back_counts_until_the_next_look() {
        let budget = Budget::watching(1 << 30, || Some(100));
        let watch = budget.inner.watch.as_ref().unwrap();
        budget.inner.taken.store(40, Relaxed);
        watch.look(&budget.inner);
        assert_eq!(watch.projected(0, 40), 100);
        assert_eq!(watch.projected(5, 90), 150);
        assert_eq!(watch.projected(200, 90), 300);
    }

    #[test]
    fn data_count_too_and_a_reserve_is_left() {
        let budget = Budget::watching(16 << 20, || Some(15 << 20));
        budget.check_growth().unwrap();
        let (small, large) = (budget.share(), budget.share());
        small.draw(1 << 20).unwrap();
        let error = large.draw(2 << 20).unwrap_err();
        assert!(error.to_string().contains("16777216 of the 16777216 bytes"), "{error}");
        let full = Budget::watching(16 << 20, || Some(17 << 20));
        assert!(matches!(full.check_growth(), Err(Error::Limit { message })
            if message.contains("no memory to add data")));
        full.share().draw(1 << 20).unwrap();
        full.share().draw(2 << 20).unwrap_err();
    }
}
