//! The cores on which threads of a pool begin to help.
//!
//! A thread that wakes up begins on the core where it ran last. Where that one is busy, Linux looks
//! for an idle core only while the cores with a common cache are not much used: on two cores, of
//! which one works and the other one does half of the time, it does not look (`SIS_UTIL`,
//! kernel/sched/fair.c, since 5.19). Then the thread waits for the core of the thread that woke it,
//! until a tick of the clock or the end of the work: 0.8 to 3 ms. So the caller sees to it that
//! threads which ran on its own core last begin on another one. Where that one is busy with
//! something else, they are called back when there is nothing left to do but to wait for them.

use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use system::{Thread, this_core};

/// Represents the core of a thread that has not helped yet.
const NOWHERE: usize = usize::MAX;

/// Where the threads of a pool were last.
pub(super) struct Positions(Box<[Position]>);

struct Position {
    /// The thread, and the cores that it may use; nothing where the system does not report them.
    thread: OnceLock<Thread>,
    /// The core on which it helped last.
    core: AtomicUsize,
    /// Whether it may not use all of its cores at present.
    is_sent: AtomicBool,
}

impl Positions {
    /// Positions of `threads` threads that do not run yet.
    pub(super) fn new(threads: usize) -> Positions {
        let position = || Position {
            thread: OnceLock::new(),
            core: AtomicUsize::new(NOWHERE),
            is_sent: AtomicBool::new(false),
        };
        Positions((0..threads).map(|_| position()).collect())
    }

    /// To be called by each thread when it starts.
    pub(super) fn begin(&self, thread: usize) {
        if let (Some(position), Some(thread)) = (self.0.get(thread), Thread::this()) {
            position.core.store(this_core(), Relaxed);
            let _ = position.thread.set(thread);
        }
    }

    /// To be called by a thread that helps, of a number: it may use all of its cores again while it
    /// does `work`, and where it ended is noted.
    pub(super) fn help(&self, thread: Option<usize>, work: impl FnOnce()) {
        let position = thread.and_then(|thread| self.0.get(thread));
        if let Some(position) = position {
            position.release();
        }
        work();
        if let Some(position) = position {
            position.core.store(this_core(), Relaxed);
        }
    }

    /// To be called by who is about to wake up some thread: those that were last on its core begin
    /// on another one, if they may use any. A look at each thread, and a call of the system for
    /// each of those.
    pub(super) fn make_space(&self) {
        let here = this_core();
        for position in self.0.iter().filter(|position| position.core.load(Relaxed) == here) {
            // It may be refused, as in some sandboxes: then it begins where the system says.
            if position.thread.get().is_some_and(|thread| thread.avoid(here)) {
                position.is_sent.store(true, Relaxed);
                position.core.store(NOWHERE, Relaxed);
            }
        }
    }

    /// Called by a thread that only waits for threads that it woke up: those that have not begun
    /// yet come to its core, which is free now. Where they were sent, another program may be at
    /// work, and each core has its own queue.
    pub(super) fn call_back(&self) {
        // A thread that arrives at the same time moves once more, and no harm is done.
        for thread in self.0.iter().filter_map(Position::reset_sent) {
            thread.move_to(this_core());
            thread.use_all();
        }
    }

    /// Lets all threads use all of their cores, for work of another kind.
    pub(super) fn release(&self) {
        self.0.iter().for_each(Position::release);
    }
}

impl Position {
    /// The thread, where it was sent away: the caller first sees to it that it may use all of its
    /// cores.
    fn reset_sent(&self) -> Option<&Thread> {
        // Mostly it was not, and a load is cheaper than a swap.
        let is_sent = self.is_sent.load(Relaxed) && self.is_sent.swap(false, Relaxed);
        self.thread.get().filter(|_| is_sent)
    }

    fn release(&self) {
        if let Some(thread) = self.reset_sent() {
            thread.use_all();
        }
    }
}

/// What Linux knows of threads and cores.
#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_setaffinity};

    pub(super) use rustix::thread::sched_getcpu as this_core;

    /// A thread, and the cores that it may use.
    pub(super) struct Thread {
        id: Pid,
        cores: CpuSet,
    }

    impl Thread {
        /// The thread that calls.
        pub(super) fn this() -> Option<Thread> {
            Some(Thread { id: gettid(), cores: sched_getaffinity(None).ok()? })
        }

        /// Has it use any of its cores.
        pub(super) fn use_all(&self) {
            let _ = sched_setaffinity(Some(self.id), &self.cores);
        }

        /// Has it use one core alone, in whose queue it is then.
        pub(super) fn move_to(&self, core: usize) {
            let mut one = CpuSet::new();
            if core < CpuSet::MAX_CPU {
                one.set(core);
                let _ = sched_setaffinity(Some(self.id), &one);
            }
        }

        /// Has it use any of its cores but one. False where it has no other, and where that is
        /// refused.
        pub(super) fn avoid(&self, core: usize) -> bool {
            let mut others = self.cores;
            if core < CpuSet::MAX_CPU {
                others.unset(core);
            }
            0 < others.count() && sched_setaffinity(Some(self.id), &others).is_ok()
        }
    }
}

/// Elsewhere the system decides.
#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) struct Thread;

    impl Thread {
        pub(super) fn this() -> Option<Thread> {
            None
        }

        pub(super) fn use_all(&self) {}

        pub(super) fn move_to(&self, _core: usize) {}

        pub(super) fn avoid(&self, _core: usize) -> bool {
            false
        }
    }

    pub(super) fn this_core() -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::thread;

    /// A thread that was on the core of the caller begins on another one, where there is one, and
    /// gets all of its cores back.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_helper_begins_elsewhere() {
        use rustix::thread::sched_getaffinity;

        let positions = &Positions::new(1);
        let (wake, woken) = channel();
        let (sender, reported) = channel();
        let all = sched_getaffinity(None).unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                positions.begin(0);
                sender.send(sched_getaffinity(None).unwrap()).unwrap();
                while let Ok(()) = woken.recv() {
                    let before = sched_getaffinity(None).unwrap();
                    positions.help(Some(0), || {
                        sender.send(before).unwrap();
                        sender.send(sched_getaffinity(None).unwrap()).unwrap();
                    });
                }
            });
            assert_eq!(reported.recv().unwrap(), all);
            let mut sent = 0;
            for round in 0..50 {
                positions.0[0].core.store(this_core(), Relaxed);
                positions.make_space();
                let is_sent = positions.0[0].is_sent.load(Relaxed);
                if round % 2 == 1 {
                    positions.call_back();
                }
                wake.send(()).unwrap();
                let (before, behind) = (reported.recv().unwrap(), reported.recv().unwrap());
                assert_eq!(behind, all);
                if round % 2 == 1 {
                    // It was called back, and had all of its cores then.
                    assert_eq!(before, all);
                    continue;
                }
                assert_eq!(is_sent, before != all);
                assert!(!is_sent || before.count() + 1 == all.count());
                sent += usize::from(is_sent);
            }
            // This thread may have moved on between two questions for its core, but not always.
            assert_eq!(0 < sent, 1 < all.count());
            drop(wake);
        });
    }
}
