//! The threads of a database, and work that a caller distributes to idle ones.
//!
//! Whoever has many chunks of work does them on its own thread, one after the other, and threads of
//! the pool help as long as there are chunks left. A chunk is never handed to a thread that has
//! something else to do, so nobody waits behind the work of others: the caller waits for chunks
//! that are being worked on, and for nothing else. Chunks do not distribute their own work; so a
//! chunk never waits for another.
//!
//! Large chunks, the branches of a job that nests, do distribute their own work. A caller that has
//! nothing left to do but to wait for its branches gives its slot to a thread that helps in these,
//! so the branches that are left are done by as many threads as there are.

use super::placement::Positions;
use crate::types::error::{Error, Result};
use arc_swap::ArcSwapOption;
use rayon::{Scope, ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{LocalKey, available_parallelism};
use std::time::Duration;
use std::{fmt, mem, process};

/// The stack of a thread: as large as that of a program's first thread mostly is, so that answers
/// may nest as deep on both. Memory is allocated for the used part.
const STACK: usize = 8 << 20;

/// The time between two calls of the caller's own question while it waits for other threads.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

thread_local! {
    /// True while this thread works on a shared chunk.
    static IN_CHUNK: Cell<bool> = const { Cell::new(false) };
    /// True while this thread works on a branch.
    static IN_BRANCH: Cell<bool> = const { Cell::new(false) };
}

/// A thread pool that starts when it is first requested, and again in a forked child.
pub struct Pool {
    threads: usize,
    running: ArcSwapOption<Running>,
}

/// The threads of one process.
struct Running {
    process: u32,
    pool: ThreadPool,
    /// Where its threads were last.
    positions: Arc<Positions>,
    /// The number of threads that are promised to some work, without callers that wait for
    /// branches. It may be more than there are.
    busy: Mutex<isize>,
}

/// Some threads that are promised to some work, until this is dropped.
struct Claim {
    running: Arc<Running>,
    threads: isize,
}

impl Drop for Claim {
    fn drop(&mut self) {
        *lock(&self.running.busy) -= self.threads;
    }
}

impl Running {
    /// Promises one thread, where fewer than `most` are promised.
    fn claim(self: &Arc<Running>, most: usize) -> Option<Claim> {
        let mut busy = lock(&self.busy);
        if most as isize <= *busy {
            return None;
        }
        *busy += 1;
        Some(Claim { running: Arc::clone(self), threads: 1 })
    }

    /// Gives the slot of this thread, which counts as one of the threads, to others until the
    /// result is dropped.
    fn release_slot(self: &Arc<Running>) -> Claim {
        *lock(&self.busy) -= 1;
        Claim { running: Arc::clone(self), threads: -1 }
    }
}

/// All threads of a pool, for a load or another change of everything. While it exists, no other
/// work is helped by them.
pub struct AllThreads(Claim);

impl Deref for AllThreads {
    type Target = ThreadPool;

    fn deref(&self) -> &ThreadPool {
        &self.0.running.pool
    }
}

impl Pool {
    /// Creates a pool of `threads` threads; 0 represents the number of cores. No thread is started
    /// yet.
    pub fn new(threads: usize) -> Pool {
        let threads = match threads {
            0 => available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        Pool { threads, running: ArcSwapOption::empty() }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// True once threads were started in this process.
    pub fn is_started(&self) -> bool {
        self.running.load().as_ref().is_some_and(|running| running.process == process::id())
    }

    /// Returns all threads, to install work that uses rayon. They are started at the first call.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when the system gives no threads.
    pub fn all(&self) -> Result<AllThreads> {
        let running = self.start()?;
        // The sum may exceed the number of threads; while it does, `claim` promises none of them to
        // others.
        let threads = self.threads as isize;
        *lock(&running.busy) += threads;
        running.positions.release();
        Ok(AllThreads(Claim { running, threads }))
    }

    /// The running threads. When two threads make the first call at once each may start some; those
    /// that were stored last are used from then on.
    fn start(&self) -> Result<Arc<Running>> {
        let process = process::id();
        if let Some(running) = &*self.running.load()
            && running.process == process
        {
            return Ok(Arc::clone(running));
        }
        let builder = ThreadPoolBuilder::new().num_threads(self.threads).stack_size(STACK);
        let positions = Arc::new(Positions::new(self.threads));
        let begun = Arc::clone(&positions);
        let builder = builder.start_handler(move |thread| begun.begin(thread));
        let pool = builder.thread_name(|number| format!("hexgraph-{number}")).build();
        let pool = pool.map_err(|error| Error::Limit {
            message: format!("threads = {}: can't start them: {error}", self.threads),
        })?;
        let running = Arc::new(Running { process, pool, positions, busy: Mutex::new(0) });
        if let Some(old) = self.running.swap(Some(Arc::clone(&running)))
            && old.process != process
        {
            // Its threads stayed with the parent; shutting it down would wait on their locks.
            mem::forget(old);
        }
        Ok(running)
    }

    /// Whether chunks of work on this thread would be shared with others. False in a pool of one
    /// thread, and inside of a chunk.
    pub fn is_parallel(&self) -> bool {
        1 < self.threads && !IN_CHUNK.get()
    }

    /// Whether a thread would help now with chunks of work on this one.
    pub fn has_free(&self) -> bool {
        let most = self.threads as isize - 1;
        self.is_parallel() && self.start().is_ok_and(|running| *lock(&running.busy) < most)
    }

    /// True while this thread works on a branch of a job that nests.
    pub fn is_in_branch(&self) -> bool {
        IN_BRANCH.get()
    }

    /// Has a free thread of the pool do `work`, which distributes nothing further. Returns false,
    /// and does nothing, where none is free, as always in a pool of one thread.
    pub fn lend(&self, work: impl FnOnce() + Send + 'static) -> bool {
        if !self.is_parallel() {
            return false;
        }
        let Ok(running) = self.start() else { return false };
        // The thread that lends goes on with its own work, so it counts as one of the threads.
        let Some(claim) = running.claim(self.threads - 1) else { return false };
        running.positions.make_space();
        let positions = Arc::clone(&running.positions);
        running.pool.spawn(move || {
            let _claim = claim;
            let _in_chunk = Raised::begin(&IN_CHUNK);
            positions.help(rayon::current_thread_index(), work);
        });
        true
    }

    /// Does `job` for each number below its count, and passes the results to `consume` on this
    /// thread, in the order of the numbers. Idle threads of the pool help: in all at most as many
    /// as the pool has. While this thread waits for others, `look` is called every 50 ms.
    ///
    /// # Errors
    ///
    /// The error of the first failed chunk or `consume`; later chunks may have run, too. A panic of
    /// a chunk is resumed on this thread, in order.
    pub fn run_on_all<R: Send>(
        &self,
        job: &Job<'_, R>,
        look: &dyn Fn(),
        mut consume: impl FnMut(R) -> Result<()>,
    ) -> Result<()> {
        let running = if self.is_parallel() && 1 < job.count { self.start().ok() } else { None };
        let Some(running) = running else {
            // Also where the system gives no threads: without them it takes longer.
            return (0..job.count).try_for_each(|number| consume((job.work)(number)?));
        };
        // The results that wait, and the one that is consumed meanwhile. Only these lines are
        // compiled for each type of result.
        let waiting = job.count.min(job.prefetch.saturating_add(1));
        let slots: Vec<Mutex<Option<Result<R>>>> = (0..waiting).map(|_| Mutex::default()).collect();
        let slot = |number: usize| lock(&slots[number % waiting]);
        let work = |number: usize| {
            let result = (job.work)(number);
            let is_ok = result.is_ok();
            *slot(number) = Some(result);
            is_ok
        };
        let mut consume = |number: usize| {
            let result = slot(number).take();
            consume(result.expect("a chunk that is done has a result")?)
        };
        let Job { count, prefetch, nests, .. } = *job;
        let chunks = Chunks { count, prefetch, nests, work: &work };
        self.run_chunks(&running, &chunks, look, &mut consume)
    }

    fn run_chunks(
        &self,
        running: &Arc<Running>,
        chunks: &Chunks<'_>,
        look: &dyn Fn(),
        consume: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<()> {
        let shared = Shared { chunks, state: Mutex::default(), changed: Condvar::new() };
        running.pool.in_place_scope(|scope| {
            // They are dropped before the scope waits for the helpers: they finish the chunks at
            // hand, and begin no others.
            let _calls_back = CallsBack(&running.positions);
            let _stops = Stops(&shared);
            loop {
                match shared.next_step(running) {
                    Step::Consume(number, done) => {
                        done.unwrap_or_else(|panic| resume_unwind(panic));
                        consume(number)?;
                    }
                    Step::Work(number) => {
                        shared.invite(scope, running, self.threads - 1);
                        shared.work(number);
                    }
                    Step::Look => look(),
                    Step::End => return Ok(()),
                }
            }
        })
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("threads", &self.threads).finish()
    }
}

/// While this exists, a flag of its thread is set.
struct Raised {
    flag: &'static LocalKey<Cell<bool>>,
    before: bool,
}

impl Raised {
    fn begin(flag: &'static LocalKey<Cell<bool>>) -> Raised {
        Raised { flag, before: flag.replace(true) }
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        self.flag.set(self.before);
    }
}

/// Work in chunks.
pub struct Job<'j, R> {
    /// The number of chunks.
    pub count: usize,
    /// The maximal number of results that wait to be consumed; at least 1.
    pub prefetch: usize,
    /// Whether a chunk may distribute its own work, as one that is large does. Else it stays on its
    /// thread.
    pub nests: bool,
    /// Does the chunk of a number.
    pub work: &'j (dyn Fn(usize) -> Result<R> + Sync),
}

/// The same without the type of results.
struct Chunks<'j> {
    count: usize,
    prefetch: usize,
    nests: bool,
    /// Does the chunk of a number, stores its result, and says whether it is none that stops the
    /// others.
    work: &'j (dyn Fn(usize) -> bool + Sync),
}

/// Whether a chunk's result is no error, or what it panicked with.
type Done = std::result::Result<bool, Box<dyn Any + Send>>;

/// The common state of the threads that work on a job.
struct Shared<'j> {
    chunks: &'j Chunks<'j>,
    state: Mutex<State>,
    /// Notifies the caller of a result.
    changed: Condvar,
}

/// The progress of a job. Chunks are begun in their order, so those before one that has failed are
/// all begun.
#[derive(Default)]
struct State {
    /// The number of chunks that were begun.
    begun: usize,
    /// The number of results that were consumed.
    consumed: usize,
    /// The results of the chunks after the consumed ones, if complete.
    done: VecDeque<Option<Done>>,
    /// No further chunk is begun.
    is_stopped: bool,
    /// The number of threads that help, or were invited.
    helping: usize,
}

impl State {
    /// The number of a chunk that is begun now; `None` where there is none left, or too many
    /// results wait.
    fn begin(&mut self, job: &Chunks<'_>) -> Option<usize> {
        let is_over = self.is_stopped || self.begun == job.count;
        if is_over || self.consumed + job.prefetch <= self.begun {
            return None;
        }
        self.begun += 1;
        self.done.push_back(None);
        Some(self.begun - 1)
    }
}

/// What the caller does next.
enum Step {
    Consume(usize, Done),
    Work(usize),
    Look,
    End,
}

/// Has no further chunk begun when the caller leaves, also by a panic.
struct Stops<'s, 'j>(&'s Shared<'j>);

impl Drop for Stops<'_, '_> {
    fn drop(&mut self) {
        lock(&self.0.state).is_stopped = true;
    }
}

/// Calls helpers that have not begun to the core of the caller when it leaves, which waits for them
/// there.
struct CallsBack<'p>(&'p Positions);

impl Drop for CallsBack<'_> {
    fn drop(&mut self) {
        self.0.call_back();
    }
}

impl Shared<'_> {
    /// Takes a result, or else begins a chunk, or else waits for a result.
    fn next_step(&self, running: &Arc<Running>) -> Step {
        let mut state = lock(&self.state);
        loop {
            // The front is looked at before it is popped: the slot of an incomplete chunk has to
            // stay.
            if let Some(Some(_)) = state.done.front()
                && let Some(Some(done)) = state.done.pop_front()
            {
                state.consumed += 1;
                return Step::Consume(state.consumed - 1, done);
            }
            if state.consumed == self.chunks.count {
                return Step::End;
            }
            if let Some(number) = state.begin(self.chunks) {
                return Step::Work(number);
            }
            let _others_help = self.chunks.nests.then(|| running.release_slot());
            let waited = self.changed.wait_timeout(state, LOOK_INTERVAL);
            let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            if timeout.timed_out() {
                return Step::Look;
            }
            state = guard;
        }
    }

    /// Invites idle threads, one for each remaining chunk.
    fn invite<'scope>(
        &'scope self,
        scope: &Scope<'scope>,
        running: &'scope Arc<Running>,
        helpers: usize,
    ) {
        // A thread of the pool does by itself what it invited others to and nobody has begun.
        // Branches do without: there, no more threads than the pool has work on all of them.
        let is_inside = running.pool.current_thread_index().is_some() && !IN_BRANCH.get();
        let is_expected = || {
            // The caller has just begun a chunk of its own, so of the `prefetch` results that may
            // wait one is not for helpers.
            let mut state = lock(&self.state);
            let left = (self.chunks.count - state.begun).min(self.chunks.prefetch - 1);
            let is_expected = state.helping < helpers.min(left);
            state.helping += usize::from(is_expected);
            is_expected
        };
        while is_expected() {
            let claim = running.claim(helpers);
            if claim.is_none() && !is_inside {
                lock(&self.state).helping -= 1;
                return;
            }
            running.positions.make_space();
            scope.spawn(move |_| {
                let _claim = claim;
                running.positions.help(running.pool.current_thread_index(), || self.help());
            });
        }
    }

    /// Works on chunks until none is left, or too many results wait.
    fn help(&self) {
        loop {
            let mut state = lock(&self.state);
            let Some(number) = state.begin(self.chunks) else {
                state.helping -= 1;
                return;
            };
            drop(state);
            self.work(number);
        }
    }

    /// Runs a chunk that was begun, and notes that it is done.
    fn work(&self, number: usize) {
        let raised = Raised::begin(if self.chunks.nests { &IN_BRANCH } else { &IN_CHUNK });
        let done = catch_unwind(AssertUnwindSafe(|| (self.chunks.work)(number)));
        drop(raised);
        let mut state = lock(&self.state);
        state.is_stopped |= !matches!(done, Ok(true));
        // The result is not there yet, so this chunk was not consumed: `consumed` is at most its
        // number, and `begin` has added its slot to the queue.
        let position = number - state.consumed;
        state.done[position] = Some(done);
        drop(state);
        // Only the caller waits.
        self.changed.notify_one();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;
    use std::thread;
    use std::thread::ThreadId;

    /// The results of chunks in their order, and the threads that worked on them: never more than
    /// the pool has at one time. Over the entire there may be more of them, as another thread may
    /// help on when one has left.
    fn shared(pool: &Pool, count: usize, prefetch: usize) -> (Vec<usize>, BTreeSet<String>) {
        let (mut results, mut threads) = (Vec::new(), BTreeSet::new());
        let at_work = AtomicUsize::new(0);
        let work = |number: usize| {
            assert!(at_work.fetch_add(1, Relaxed) < pool.threads(), "too many at one time");
            thread::sleep(Duration::from_millis((number % 3) as u64));
            at_work.fetch_sub(1, Relaxed);
            Ok((number, name(thread::current().id())))
        };
        let job = Job { count, prefetch, nests: false, work: &work };
        let consumed = pool.run_on_all(&job, &|| (), |(number, thread)| {
            results.push(number);
            threads.insert(thread);
            Ok(())
        });
        consumed.unwrap();
        (results, threads)
    }

    fn name(id: ThreadId) -> String {
        format!("{id:?}")
    }

    #[test]
    fn chunks_are_consumed_in_order() {
        for threads in [1, 2, 3, 8] {
            let pool = Pool::new(threads);
            for (count, prefetch) in [(0, 1), (1, 1), (2, 1), (50, 1), (50, 2), (50, 7), (50, 99)] {
                let (results, _) = shared(&pool, count, prefetch);
                assert_eq!(results, (0..count).collect::<Vec<_>>());
            }
            let (_, seen) = shared(&pool, 50, 50);
            assert!(1 < seen.len() || threads == 1, "{seen:?}");
            assert!(seen.contains(&name(thread::current().id())), "the caller works, too");
        }
    }

    #[test]
    fn one_thread_starts_no_other() {
        let pool = Pool::new(1);
        assert!(!pool.is_parallel());
        assert_eq!(shared(&pool, 20, 20).1, BTreeSet::from([name(thread::current().id())]));
        assert!(!pool.is_started());
        let pool = Pool::new(2);
        shared(&pool, 1, 1);
        assert!(!pool.is_started(), "for one chunk");
        shared(&pool, 2, 2);
        assert!(pool.is_started());
    }

    #[test]
    fn the_first_fault_wins() {
        let pool = Pool::new(3);
        for _ in 0..50 {
            let work = |number: usize| match number {
                7 => {
                    thread::sleep(Duration::from_millis(1));
                    Err(Error::query("seven"))
                }
                8 => Err(Error::query("eight")),
                9 => panic!("nine"),
                number => Ok(number),
            };
            let job = Job { count: 40, prefetch: 40, nests: false, work: &work };
            let mut consumed = 0;
            let error = pool.run_on_all(&job, &|| (), |_| {
                consumed += 1;
                Ok(())
            });
            assert_eq!((error.unwrap_err().to_string().as_str(), consumed), ("seven", 7));
            let error = pool.run_on_all(&job, &|| (), |number| match number {
                3 => Err(Error::query("three")),
                _ => Ok(()),
            });
            assert_eq!(error.unwrap_err().to_string(), "three");
        }
    }

    #[test]
    #[should_panic(expected = "in the chunk")]
    fn a_panic_reaches_the_caller() {
        let work = |number: usize| if number == 20 { panic!("in the chunk") } else { Ok(()) };
        let job = Job { count: 40, prefetch: 4, nests: false, work: &work };
        let _ = Pool::new(2).run_on_all(&job, &|| (), |()| Ok(()));
    }

    /// Many callers at once, on threads of the pool and others, each of whose chunks requests
    /// shared work again: all end, and in a pool that does something else nobody waits for it.
    #[test]
    fn nobody_waits_for_others() {
        let pool = Pool::new(3);
        let inner = |number: usize| {
            let mut sum = 0;
            let add = |number: usize| Ok(number);
            let job = Job { count: number % 5, prefetch: 5, nests: false, work: &add };
            pool.run_on_all(&job, &|| (), |number| {
                sum += number;
                Ok(())
            })?;
            Ok(sum)
        };
        let outer = || {
            let job = Job { count: 200, prefetch: 9, nests: false, work: &inner };
            let mut all = 0;
            pool.run_on_all(&job, &|| (), |sum| {
                all += sum;
                Ok(())
            })
            .unwrap();
            assert_eq!(all, 40 * (1 + 3 + 6));
        };
        thread::scope(|scope| {
            (0..6).for_each(|_| drop(scope.spawn(|| (0..20).for_each(|_| outer()))));
            let all = pool.all().unwrap();
            all.install(|| rayon::join(outer, || rayon::join(outer, outer)));
        });
        let all = pool.all().unwrap();
        assert_eq!(shared(&pool, 20, 20).1.len(), 1, "all threads are promised");
        drop(all);
        assert_eq!(*lock(&pool.start().unwrap().busy), 0);
    }

    /// While the caller has a branch of its own, the others of two threads have no third one to
    /// help; once it waits, they have.
    #[test]
    fn waiting_for_branches_frees_a_slot() {
        let pool = Pool::new(2);
        let (both, at_work) = (Barrier::new(2), AtomicUsize::new(0));
        let caller = thread::current().id();
        let busy = |millis: u64| {
            assert!(at_work.fetch_add(1, Relaxed) < 2, "too many at one time");
            thread::sleep(Duration::from_millis(millis));
            at_work.fetch_sub(1, Relaxed);
            name(thread::current().id())
        };
        let branch = |_: usize| -> Result<BTreeSet<String>> {
            both.wait();
            let mut threads = BTreeSet::new();
            if thread::current().id() == caller {
                busy(10);
                return Ok(threads);
            }
            let chunk = |_: usize| -> Result<String> { Ok(busy(1)) };
            let job = Job { count: 60, prefetch: 60, nests: false, work: &chunk };
            pool.run_on_all(&job, &|| (), |thread| {
                threads.insert(thread);
                Ok(())
            })?;
            Ok(threads)
        };
        let job = Job { count: 2, prefetch: 2, nests: true, work: &branch };
        let mut seen = BTreeSet::new();
        pool.run_on_all(&job, &|| (), |threads| {
            seen.extend(threads);
            Ok(())
        })
        .unwrap();
        assert_eq!(seen.len(), 2, "{seen:?} ran the chunks of a branch");
        assert_eq!(*lock(&pool.start().unwrap().busy), 0);
    }

    #[test]
    fn who_waits_looks_around() {
        let pool = Pool::new(2);
        let requested = Cell::new(0);
        let caller = thread::current().id();
        let both = Barrier::new(2);
        let work = |_| {
            both.wait();
            if thread::current().id() != caller {
                thread::sleep(Duration::from_millis(180));
            }
            Ok(())
        };
        let job = Job { count: 2, prefetch: 2, nests: false, work: &work };
        pool.run_on_all(&job, &|| requested.set(requested.get() + 1), |()| Ok(())).unwrap();
        assert!(0 < requested.get());
    }
}
