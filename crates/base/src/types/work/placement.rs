//! The cores on which threads of a pool begin to help.
//!
//! A thread that wakes up begins on the core where it ran last. Where that one is busy, Linux looks for an idle core only as long as the cores that share a
//! cache are not much used: on two cores, of which one works and the other one does half of the time, it does not look (`SIS_UTIL`, kernel/sched/fair.c, since 5.19). Then the
//! thread waits for the core of the very one that asked it for help, until a tick of the clock or the end of the work: 0.8 to 3 ms. So who asks sees to it that
//! threads which ran on its own core last begin on another one.

#[cfg(target_os = "linux")]
pub(super) use on_linux::Places;

/// Elsewhere the system decides.
#[cfg(not(target_os = "linux"))]
pub(super) struct Places;

#[cfg(not(target_os = "linux"))]
impl Places {
    pub(super) fn new(_threads: usize) -> Places {
        Places
    }

    pub(super) fn begin(&self, _thread: usize) {}

    pub(super) fn arrive(&self, _thread: Option<usize>) {}

    pub(super) fn leave(&self, _thread: Option<usize>) {}

    pub(super) fn make_room(&self) {}

    pub(super) fn release(&self) {}
}

#[cfg(target_os = "linux")]
mod on_linux {
    use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering::Relaxed;
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    /// Stands for the core of a thread that has not helped yet.
    const NOWHERE: usize = usize::MAX;

    /// Where the threads of a pool were last.
    pub(in super::super) struct Places(Box<[Place]>);

    struct Place {
        /// The thread, and the cores that it may use; nothing where the system does not tell.
        thread: OnceLock<(Pid, CpuSet)>,
        /// The core on which it helped last.
        core: AtomicUsize,
        /// Whether it may not use all of its cores at present.
        is_sent: AtomicBool,
    }

    impl Places {
        /// Those of so many threads, none of which runs yet.
        pub(in super::super) fn new(threads: usize) -> Places {
            let place = || Place {
                thread: OnceLock::new(),
                core: AtomicUsize::new(NOWHERE),
                is_sent: AtomicBool::new(false),
            };
            Places((0..threads).map(|_| place()).collect())
        }

        /// To be called by each thread when it starts.
        pub(in super::super) fn begin(&self, thread: usize) {
            let (Some(place), Ok(cores)) = (self.0.get(thread), sched_getaffinity(None)) else {
                return;
            };
            place.core.store(sched_getcpu(), Relaxed);
            let _ = place.thread.set((gettid(), cores));
        }

        /// To be called by a thread when it begins to help: it may use all of its cores again.
        pub(in super::super) fn arrive(&self, thread: Option<usize>) {
            if let Some(place) = thread.and_then(|thread| self.0.get(thread))
                && place.is_sent.swap(false, Relaxed)
                && let Some((_, cores)) = place.thread.get()
            {
                let _ = sched_setaffinity(None, cores);
            }
        }

        /// To be called by a thread when it has helped.
        pub(in super::super) fn leave(&self, thread: Option<usize>) {
            if let Some(place) = thread.and_then(|thread| self.0.get(thread)) {
                place.core.store(sched_getcpu(), Relaxed);
            }
        }

        /// To be called by who is about to wake up some thread: those that were last on its core begin on another one, if they may use any. A look at each thread, and
        /// a call of the system for each of those.
        pub(in super::super) fn make_room(&self) {
            let here = sched_getcpu();
            for place in self.0.iter().filter(|place| place.core.load(Relaxed) == here) {
                let Some((thread, cores)) = place.thread.get() else { continue };
                let mut others = *cores;
                if here < CpuSet::MAX_CPU {
                    others.unset(here);
                }
                // It may be refused, as in some sandboxes: then it begins where the system says.
                if 0 < others.count() && sched_setaffinity(Some(*thread), &others).is_ok() {
                    place.is_sent.store(true, Relaxed);
                    place.core.store(NOWHERE, Relaxed);
                }
            }
        }

        /// Lets all threads use all of their cores, for work of another kind.
        pub(in super::super) fn release(&self) {
            for place in self.0.iter().filter(|place| place.is_sent.swap(false, Relaxed)) {
                if let Some((thread, cores)) = place.thread.get() {
                    let _ = sched_setaffinity(Some(*thread), cores);
                }
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::sync::mpsc::channel;
        use std::thread;

        /// A thread that was on the core of who asks begins on another one, where there is one, and gets all of its cores back.
        #[test]
        fn a_helper_begins_elsewhere() {
            let places = Places::new(1);
            let (wake, woken) = channel();
            let (tell, told) = channel();
            let all = sched_getaffinity(None).unwrap();
            thread::scope(|scope| {
                let places = &places;
                scope.spawn(move || {
                    places.begin(0);
                    tell.send(sched_getaffinity(None).unwrap()).unwrap();
                    while let Ok(()) = woken.recv() {
                        let before = sched_getaffinity(None).unwrap();
                        places.arrive(Some(0));
                        tell.send(before).unwrap();
                        tell.send(sched_getaffinity(None).unwrap()).unwrap();
                    }
                });
                assert_eq!(told.recv().unwrap(), all);
                for _ in 0..50 {
                    let here = sched_getcpu();
                    places.0[0].core.store(here, Relaxed);
                    places.make_room();
                    let is_sent = places.0[0].is_sent.load(Relaxed);
                    wake.send(()).unwrap();
                    let (before, behind) = (told.recv().unwrap(), told.recv().unwrap());
                    assert_eq!(behind, all);
                    // This thread may have moved on between two questions for its core.
                    assert_eq!(is_sent, before != all);
                    assert!(!is_sent || before.count() + 1 == all.count());
                }
                drop(wake);
            });
        }
    }
}
