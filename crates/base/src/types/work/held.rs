//! Locks that others wait for while much is done: who holds one of them must not wait in a queue,
//! where those could stand before him who wait for the lock.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

thread_local! {
    /// The number of such locks that this thread holds.
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// The guard of a lock that may be held for long. It stays on its thread, as guards of mutexes do.
pub struct LockGuard<G> {
    guard: G,
    /// Its end is noted where its beginning was.
    _here: PhantomData<*const ()>,
}

impl<G> LockGuard<G> {
    /// Notes that this thread holds a lock until what is returned is dropped.
    pub fn new(guard: G) -> LockGuard<G> {
        HELD.set(HELD.get() + 1);
        LockGuard { guard, _here: PhantomData }
    }
}

impl<G> Drop for LockGuard<G> {
    fn drop(&mut self) {
        HELD.set(HELD.get() - 1);
    }
}

impl<G: Deref> Deref for LockGuard<G> {
    type Target = G::Target;

    fn deref(&self) -> &G::Target {
        &self.guard
    }
}

impl<G: DerefMut> DerefMut for LockGuard<G> {
    fn deref_mut(&mut self) -> &mut G::Target {
        &mut self.guard
    }
}

/// Whether this thread holds a lock that others may wait for.
pub fn holds_lock() -> bool {
    HELD.get() != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn locks_are_counted() {
        let (one, other) = (Mutex::new(1), Mutex::new(2));
        assert!(!holds_lock());
        let mut first = LockGuard::new(one.lock().unwrap());
        let second = LockGuard::new(other.lock().unwrap());
        *first += *second;
        drop(first);
        assert!(holds_lock());
        std::thread::scope(|scope| assert!(!scope.spawn(holds_lock).join().unwrap()));
        drop(second);
        assert!(!holds_lock());
        assert_eq!(*one.lock().unwrap(), 3);
    }
}
