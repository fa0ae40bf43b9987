//! Replaced versions that are still read.
//!
//! Dropping a version frees what only it has: some kilobytes of maps, and after a compaction entire
//! columns. A reader must not pay for that. So a version with readers waits here when it is
//! replaced, and the next writer frees it. The memory is then mostly the writer's own and still in
//! its cache; a thread that frees memory of others takes twice as long. A thread frees what is left
//! when nobody writes.

use crate::graph::version::graph_version::Version;
use hexgraph_base::types::sync::{Mutex, MutexGuard};
use std::process;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// A writer checks so many waiting versions. More are rarely read at the same time.
const LOOKED_AT: usize = 16;

/// The versions that wait for their readers.
pub(super) struct Replaced {
    waiting: Arc<Mutex<Waiting>>,
    /// The process whose threads free versions: a child of a fork leaves those of its parent alone.
    process: u32,
    /// Wakes the thread. It starts with the first version that waits.
    thread: OnceLock<Option<SyncSender<()>>>,
}

#[derive(Default)]
struct Waiting {
    /// Each with the number of compactions before it was replaced.
    versions: Vec<(u64, Arc<Version>)>,
    /// How often entire columns were replaced.
    compactions: u64,
}

impl Waiting {
    /// Removes those of the first `most` versions that nobody else refers to, if they were replaced
    /// after so many compactions.
    fn pop_free(&mut self, most: usize, compactions: u64) -> Vec<(u64, Arc<Version>)> {
        let end = self.versions.len().min(most);
        // The list has one reference itself.
        let is_free = |(before, it): &mut (u64, Arc<Version>)| {
            compactions <= *before && Arc::strong_count(it) == 1
        };
        self.versions.extract_if(..end, is_free).collect()
    }
}

impl Replaced {
    pub(super) fn new() -> Replaced {
        Replaced { waiting: Arc::default(), process: process::id(), thread: OnceLock::new() }
    }

    /// Frees a replaced version, and others that are no longer read, on this thread. A version with
    /// readers waits. What a compaction replaced is not freed here, as that may need milliseconds.
    pub(super) fn retire(&self, old: Arc<Version>) {
        self.retire_behind(old, 0);
    }

    /// Frees a version that a compaction replaced.
    pub(super) fn retire_compacted(&self, old: Arc<Version>) {
        self.retire_behind(old, 1);
    }

    fn retire_behind(&self, old: Arc<Version>, compactions: u64) {
        if self.process != process::id() {
            return;
        }
        // Only a holder of a replaced version can clone a reference to it.
        let is_read = 1 < Arc::strong_count(&old);
        let mut waiting = locked(&self.waiting);
        let were_none = waiting.versions.is_empty();
        // The version and those before it have the old columns.
        let before = waiting.compactions;
        waiting.compactions += compactions;
        let now = waiting.compactions;
        let mut free = waiting.pop_free(LOOKED_AT, now);
        if is_read {
            waiting.versions.push((before, old));
        } else {
            free.push((before, old));
        }
        drop(waiting);
        if is_read && were_none {
            self.wake_thread();
        }
        // Here they are freed, without the lock.
        drop(free);
    }

    /// The number of versions that wait for their readers.
    pub(super) fn count(&self) -> usize {
        locked(&self.waiting).versions.len()
    }

    fn wake_thread(&self) {
        let start = || {
            let (sender, receiver) = mpsc::sync_channel(1);
            let waiting = Arc::clone(&self.waiting);
            let thread = thread::Builder::new().name("hexgraph-drop".to_owned());
            thread.spawn(move || free_when_idle(&waiting, &receiver)).ok().map(|_| sender)
        };
        // If the system refuses a thread, they wait for the next writer. A full channel has woken
        // it already.
        if let Some(thread) = self.thread.get_or_init(start) {
            let _ = thread.try_send(());
        }
    }
}

/// Frees what no writer has freed. It looks seldom, so that commits need not wake it.
fn free_when_idle(waiting: &Mutex<Waiting>, receiver: &Receiver<()>) {
    const SHORTEST: Duration = Duration::from_millis(20);
    const LONGEST: Duration = Duration::from_millis(200);
    while receiver.recv().is_ok() {
        let mut pause = SHORTEST;
        loop {
            thread::sleep(pause);
            pause = (2 * pause).min(LONGEST);
            let mut all = locked(waiting);
            let free = all.pop_free(usize::MAX, 0);
            let is_empty = all.versions.is_empty();
            drop(all);
            drop(free);
            if is_empty {
                break;
            }
        }
    }
}

fn locked(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    // Nothing that runs under the lock panics halfway.
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_freed_by_the_next_writer_or_by_itself() {
        let replaced = Replaced::new();
        let [read, other] = [(); 2].map(|()| Arc::new(Version::empty()));
        let (weak, read_later) = (Arc::downgrade(&read), Arc::clone(&read));
        replaced.retire(read);
        assert!(weak.upgrade().is_some(), "somebody reads it");
        drop(read_later);
        replaced.retire(other);
        assert!(locked(&replaced.waiting).versions.is_empty(), "the next writer has freed it");
        assert!(weak.upgrade().is_none());
        // Where nobody writes, a thread frees it.
        let last = Arc::new(Version::empty());
        let (weak, read_later) = (Arc::downgrade(&last), Arc::clone(&last));
        replaced.retire(last);
        drop(read_later);
        while weak.upgrade().is_some() {
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn versions_in_use_during_a_compaction_are_freed_by_the_thread() {
        let versions = (0..3).map(|before| (before, Arc::new(Version::empty()))).collect();
        let mut waiting = Waiting { versions, compactions: 2 };
        let read = Arc::clone(&waiting.versions[2].1);
        let freed = |some: Vec<(u64, Arc<Version>)>| some.into_iter().map(|it| it.0).collect();
        let by_a_writer: Vec<u64> = freed(waiting.pop_free(LOOKED_AT, 1));
        assert_eq!(by_a_writer, [1], "the last one is still read");
        drop(read);
        let by_the_thread: Vec<u64> = freed(waiting.pop_free(usize::MAX, 0));
        assert_eq!(by_the_thread, [0, 2]);
    }
}
