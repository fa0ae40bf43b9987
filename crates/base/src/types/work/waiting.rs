//! Notice of waiting: code that may have to wait, for a lock that is held for long, for the disk or
//! for another machine, says so first. Who lent it the thread can then see to it that nobody else
//! is retained waiting with it.

use std::cell::Cell;

thread_local! {
    /// What is to be called on this thread before it waits.
    static NOTICE: Cell<Option<fn()>> = const { Cell::new(None) };
}

/// Does `work`, and says whether it has waited. Before it waits for the first time, `notice` is
/// called on this thread.
pub fn with_notice<T>(notice: fn(), work: impl FnOnce() -> T) -> (T, bool) {
    let _before = Before(NOTICE.replace(Some(notice)));
    let done = work();
    (done, NOTICE.get().is_none())
}

/// Says that this thread may wait now. Calls the notice of [`with_notice`], if there is one that
/// was not called yet. O(1).
pub fn before_waiting() {
    if let Some(notice) = NOTICE.take() {
        notice();
    }
}

/// Puts the notice of before back when it is dropped, also where work panics.
struct Before(Option<fn()>);

impl Drop for Before {
    fn drop(&mut self) {
        NOTICE.set(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    thread_local! {
        static CALLED: Cell<usize> = const { Cell::new(0) };
    }

    fn note() {
        CALLED.set(CALLED.get() + 1);
    }

    #[test]
    fn notice_is_given_once_and_ends_with_the_work() {
        before_waiting();
        assert_eq!(CALLED.get(), 0, "nobody listens");
        let ((), has_waited) = with_notice(note, || {
            assert_eq!(CALLED.get(), 0, "nothing waited yet");
            before_waiting();
            before_waiting();
        });
        assert!(has_waited);
        assert!(!with_notice(note, || ()).1);
        assert_eq!(CALLED.get(), 1);
        before_waiting();
        assert_eq!(CALLED.get(), 1, "the work is over");
        let panicked = catch_unwind(|| with_notice(note, || panic!("in the work")));
        assert!(panicked.is_err());
        before_waiting();
        assert_eq!(CALLED.get(), 1, "the work is over");
    }
}
