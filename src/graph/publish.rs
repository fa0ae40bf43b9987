//! The current version, and how the next one takes its place.
//!
//! Readers take the current version with one atomic operation and never wait. Writers come one
//! after the other. A version that was replaced goes to a thread of its own, which keeps it until
//! nobody else does: so freeing a large version never falls to a reader.

use super::version::Version;
use crate::types::Result;
use arc_swap::ArcSwap;
use crossbeam::channel;
use crossbeam::channel::RecvTimeoutError;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::OnceLock;
use std::sync::PoisonError;
use std::thread;
use std::time::Duration;

/// A graph that changes.
pub struct Store {
    current: ArcSwap<Version>,
    writer: Mutex<()>,
    /// The process whose thread drops old versions: a child of a fork has none.
    process: u32,
    /// To the thread that drops old versions, which starts with the first of them.
    dropper: OnceLock<Option<channel::Sender<Arc<Version>>>>,
}

impl Default for Store {
    fn default() -> Store {
        Store::new()
    }
}

impl Store {
    /// An empty graph.
    pub fn new() -> Store {
        Store::with_version(Version::empty())
    }

    /// A graph that begins as `version`.
    pub fn with_version(version: Version) -> Store {
        let current = ArcSwap::from_pointee(version);
        let process = std::process::id();
        Store { current, writer: Mutex::new(()), process, dropper: OnceLock::new() }
    }

    /// The newest version. Takes no lock.
    pub fn version(&self) -> Arc<Version> {
        self.current.load_full()
    }

    /// Makes the next version from the current one and publishes it. Waits for other writers.
    ///
    /// # Errors
    ///
    /// Those of `change`; the current version stays then.
    pub fn write<T>(
        &self,
        change: impl FnOnce(&Arc<Version>) -> Result<(Version, T)>,
    ) -> Result<T> {
        // The lock guards no data: a writer that panicked published nothing.
        let _turn = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let old = self.current.load_full();
        let (mut next, answer) = change(&old)?;
        next.commit = old.commit + 1;
        drop(old);
        self.retire(self.current.swap(Arc::new(next)));
        Ok(answer)
    }

    fn retire(&self, old: Arc<Version>) {
        if self.process != std::process::id() {
            return;
        }
        if let Some(dropper) = self.dropper.get_or_init(start_dropper) {
            // The thread ends with the store only, so this does not fail; if it did, the version
            // would be dropped here.
            let _ = dropper.send(old);
        }
    }
}

/// `None` when the system gives no thread; then versions are dropped where they are replaced.
fn start_dropper() -> Option<channel::Sender<Arc<Version>>> {
    let (sender, receiver) = channel::unbounded();
    let thread = thread::Builder::new().name("hexgraph-drop".to_owned());
    thread.spawn(move || drop_versions(&receiver)).ok().map(|_| sender)
}

fn drop_versions(receiver: &channel::Receiver<Arc<Version>>) {
    const SHORTEST: Duration = Duration::from_millis(1);
    const LONGEST: Duration = Duration::from_millis(200);
    let mut waiting: Vec<Arc<Version>> = Vec::new();
    let mut pause = SHORTEST;
    loop {
        let received = match waiting.is_empty() {
            true => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => receiver.recv_timeout(pause),
        };
        match received {
            Ok(version) => {
                waiting.push(version);
                pause = SHORTEST;
            }
            Err(RecvTimeoutError::Timeout) => pause = (2 * pause).min(LONGEST),
            Err(RecvTimeoutError::Disconnected) if waiting.is_empty() => return,
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(pause);
                pause = (2 * pause).min(LONGEST);
            }
        }
        waiting.retain(|version| 1 < Arc::strong_count(version));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Error;

    #[test]
    fn versions_are_counted_and_freed() {
        let store = Store::new();
        let first = store.version();
        assert_eq!(store.write(|version| Ok((Version::clone(version), 7))).unwrap(), 7);
        assert_eq!((first.commit + 1, store.version().commit), (1, 1));
        let weak = Arc::downgrade(&first);
        drop(first);
        while weak.upgrade().is_some() {
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_failed_write_changes_nothing() {
        let store = Store::new();
        let failed = store.write(|_| Err::<(Version, ()), _>(Error::query("no")));
        assert!(failed.is_err());
        assert_eq!(store.version().commit, 0);
    }
}
