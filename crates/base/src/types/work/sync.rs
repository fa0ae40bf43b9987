//! The locks of the code whose interleavings are tested: those of the standard library, or, with
//! the feature `shuttle` that only a test turns on, those of a scheduler that decides at each lock
//! which thread continues. Outside of such a test the scheduler's locks panic.

#[cfg(feature = "shuttle")]
pub use shuttle::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(feature = "shuttle"))]
pub use std::sync::{Condvar, Mutex, MutexGuard};
