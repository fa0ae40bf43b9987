//! Answers that a program still holds, and when they are copied out of their versions.
//!
//! Most answers are read at once and dropped, and a copy of those would be work for nothing:
//! reading a thousand rows would be half as fast. An answer that is still there when some more have
//! come is retained, so it is copied then, and retains nothing else of the database.

use hexgraph::db::QueryAnswer;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The length as JSON, in bytes, up to which an answer is copied out of its version.
const COPIED_BYTES_MAX: u64 = 256 << 10;

/// The number of answers, of all threads, that may hold their versions without being long. A loop
/// holds the answer before the last one while the next is made, and each thread may be in a loop.
const RECENT_MAX: usize = 32;

static RECENT: Mutex<VecDeque<Weak<Cached>>> = Mutex::new(VecDeque::new());

/// An answer that may be copied out of its version while it is there.
pub(super) struct Cached(Mutex<Arc<QueryAnswer>>);

impl Cached {
    /// Registers an answer. Returns the one that is due for a copy, if it still exists.
    pub(super) fn new(answer: QueryAnswer) -> (Arc<Cached>, Option<Arc<Cached>>) {
        let retained = Arc::new(Cached(Mutex::new(Arc::new(answer))));
        // Nothing in here panics halfway.
        let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
        recent.push_back(Arc::downgrade(&retained));
        let oldest = if RECENT_MAX < recent.len() { recent.pop_front() } else { None };
        (retained, oldest.and_then(|oldest| oldest.upgrade()))
    }

    /// The answer as it is now.
    pub(super) fn get(&self) -> Arc<QueryAnswer> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Copies the answer out of its version, unless it is long. Takes at most as long as writing
    /// half a megabyte; to be called while other threads of Python may run.
    pub(super) fn copy_out(&self) {
        if let Some(copied) = self.get().copied_out(COPIED_BYTES_MAX) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(copied);
        }
    }
}
