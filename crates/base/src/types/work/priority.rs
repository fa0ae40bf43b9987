//! The priority of a thread.

/// The steps by which [`lower_priority`] lowers it, as a nice value: where all cores are busy, the
/// scheduler of Linux gives a thread at this level about a tenth of the time of another one; so it
/// goes on, and gives back what it locked, however busy the others are.
#[cfg(target_os = "linux")]
const LOWER: i32 = 10;

/// The lowest priority that a thread can have, as a nice value.
#[cfg(target_os = "linux")]
const LOWEST: i32 = 19;

/// Lowers the priority of this thread, which can't raise it again without rights. A process that
/// was begun with a low priority has threads that are lower still. Where a single thread has no
/// priority, as elsewhere than on Linux, or it is refused, nothing happens: all threads go on as
/// equals.
pub fn lower_priority() {
    // `None` names the calling thread.
    #[cfg(target_os = "linux")]
    if let Ok(before) = rustix::process::getpriority_process(None) {
        let lower = before.saturating_add(LOWER).min(LOWEST);
        let _ = rustix::process::setpriority_process(None, lower);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn the_priority_is_that_of_one_thread() {
        let here = || rustix::process::getpriority_process(None).unwrap();
        let before = here();
        let there = thread::spawn(move || {
            lower_priority();
            here()
        });
        assert_eq!(there.join().unwrap(), (before + LOWER).min(LOWEST));
        assert_eq!(here(), before);
    }
}
