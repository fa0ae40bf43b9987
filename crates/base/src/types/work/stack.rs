//! How deep a walk may go: as deep as the stack of its thread has space for.
//!
//! Requests, plans, answers and values are trees, and walks over them call themselves. Fixed bounds
//! on nesting do not help a thread with a small stack (128 KiB are usual with musl, and a program
//! may request less than that), so every function that calls itself, over however many others,
//! checks here first. The reserve is for the work between two checks, which does not call itself.
//!
//! A walk that can fail calls [`check`]; one that can't calls [`require`], which unwinds with the
//! same error to `Database`. Trees that are made without recursion are dropped by it: their builder
//! checks the depth with [`check_levels`]. Code of others that calls itself within a bound of its
//! own runs in [`with_space`].

use crate::types::error::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// What has to be left. Frames of code that is not optimised are several times as large.
const RESERVE: usize = if cfg!(debug_assertions) { 64 << 10 } else { 24 << 10 };

/// What dropping, comparing or copying one level of a tree takes.
const LEVEL: usize = if cfg!(debug_assertions) { 2 << 10 } else { 512 };

/// What code of others gets that nests at most some hundred levels.
const CAPACITY: usize = if cfg!(debug_assertions) { 4 << 20 } else { 1 << 20 };

/// Says whether a walk may go one level deeper. Costs a few nanoseconds.
///
/// # Errors
///
/// [`Error::Limit`] when the thread is almost out of stack.
#[inline]
pub fn check() -> Result<()> {
    check_levels(0)
}

/// As [`check`], for a tree of so many levels that is not made by a recursion, but dropped by one.
///
/// # Errors
///
/// [`Error::Limit`] when the thread lacks the stack for it.
#[inline]
pub fn check_levels(levels: usize) -> Result<()> {
    if has(RESERVE + LEVEL * levels) { Ok(()) } else { Err(too_deep()) }
}

/// As [`check`]; at the end of the stack the thread unwinds with the error, which `Database`
/// returns.
#[inline]
pub fn require() {
    if !has(RESERVE) {
        resume_unwind(Box::new(too_deep()));
    }
}

/// Runs work that may call itself some hundred times without checks here: on another stack if this
/// one is too small. The work may not call into Python, which has the bounds of its threads'
/// stacks. Without memory for another stack the thread unwinds with the error of
/// [`try_with_space`], which `Database` returns.
pub fn with_space<T>(work: impl FnOnce() -> T) -> T {
    try_with_space(work).unwrap_or_else(|error| resume_unwind(Box::new(error)))
}

/// As [`with_space`], for work that may be left out.
///
/// # Errors
///
/// [`Error::Limit`] when there is no memory for another stack; then the work has not begun.
pub fn try_with_space<T>(work: impl FnOnce() -> T) -> Result<T> {
    if has(CAPACITY) { Ok(work()) } else { on_new_stack(CAPACITY, work) }
}

fn on_new_stack<T>(bytes: usize, work: impl FnOnce() -> T) -> Result<T> {
    let mut has_begun = false;
    // `stacker` panics when the system refuses the memory.
    let result = catch_unwind(AssertUnwindSafe(|| {
        stacker::grow(bytes, || {
            has_begun = true;
            work()
        })
    }));
    match result {
        Err(_) if !has_begun => Err(Error::Limit {
            message: format!("there is no memory for a stack of {bytes} bytes: try again later"),
        }),
        Err(payload) => resume_unwind(payload),
        Ok(value) => Ok(value),
    }
}

/// The error at the end of the stack.
#[cold]
pub fn too_deep() -> Error {
    let message = "the request is nested too deeply for the stack of its thread: nest less, or ask \
                   on a thread with a larger stack";
    Error::Limit { message: message.to_owned() }
}

/// Systems that don't report the size of their stacks have large ones.
#[inline]
fn has(bytes: usize) -> bool {
    stacker::remaining_stack().is_none_or(|left| bytes <= left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;
    use std::thread;

    fn on_stack<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
        thread::Builder::new().stack_size(bytes).spawn(work).unwrap().join().unwrap()
    }

    #[test]
    fn recursion_stops_before_the_stack_overflows() {
        fn walk(depth: usize) -> usize {
            match check() {
                Ok(()) => std::hint::black_box(walk(depth + 1)),
                Err(error) => {
                    assert!(error.to_string().contains("too deeply"), "{error}");
                    depth
                }
            }
        }
        let (small, large) = (on_stack(256 << 10, || walk(0)), on_stack(1 << 20, || walk(0)));
        assert!(0 < small && 2 * small < large, "{small} {large}");
    }

    #[test]
    fn what_can_not_fail_unwinds_with_the_error() {
        fn walk(depth: usize) -> usize {
            require();
            if depth == usize::MAX { 0 } else { std::hint::black_box(walk(depth + 1)) + 1 }
        }
        let payload = on_stack(256 << 10, || catch_unwind(|| walk(0)).unwrap_err());
        assert!(matches!(*payload.downcast::<Error>().unwrap(), Error::Limit { .. }));
    }

    #[test]
    fn other_code_gets_enough_stack() {
        fn walk(levels: usize) -> u8 {
            let frame = std::hint::black_box([1_u8; 4096]);
            if levels == 0 { frame[0] } else { walk(levels - 1) + frame[levels] - 1 }
        }
        assert_eq!(on_stack(128 << 10, || with_space(|| walk(200))), 1);
        let refused = on_new_stack(usize::MAX / 4, || unreachable!("it has no stack"));
        assert!(refused.unwrap_err().to_string().contains("no memory for a stack"));
        assert!(catch_unwind(|| on_new_stack(CAPACITY, || panic!("its own"))).is_err());
        assert!(on_stack(256 << 10, || check_levels(10)).is_ok());
        assert!(on_stack(256 << 10, || check_levels(10_000)).is_err());
    }
}
