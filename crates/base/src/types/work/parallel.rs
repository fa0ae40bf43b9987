//! Parallel work: on all threads of a pool where there is one, otherwise on the current thread.
//!
//! Loads, changes of the schema and compactions run in the pool of their database, and use all of
//! it. A commit runs on the thread of its caller: if it merged changes on other threads, readers
//! would lose their cores, and a read of 30 µs would need milliseconds.
//!
//! So the caller chooses by the thread on which it runs: any thread of a rayon pool distributes its
//! work in that pool. The results are the same either way. A panic in one item propagates to the
//! caller.

use rayon::prelude::*;
use std::cmp::Ordering;

/// What `f` makes of each item, in order.
pub fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    if is_in_pool() { items.par_iter().map(f).collect() } else { items.iter().map(f).collect() }
}

/// What `f` makes of each item that it takes, in order.
pub fn map_into<T: Send, R: Send>(items: Vec<T>, f: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    match is_in_pool() {
        true => items.into_par_iter().map(f).collect(),
        false => items.into_iter().map(f).collect(),
    }
}

/// Calls both functions, at the same time where another thread of the pool is free, and returns
/// both results.
pub fn join<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    if is_in_pool() { rayon::join(one, other) } else { (one(), other()) }
}

/// Sorts; equal items may change positions.
pub fn sort_unstable<T: Ord + Send>(items: &mut [T]) {
    if is_in_pool() { items.par_sort_unstable() } else { items.sort_unstable() }
}

/// Sorts by a comparison; equal items may change positions.
pub fn sort_unstable_by<T: Send>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
    match is_in_pool() {
        true => items.par_sort_unstable_by(compare),
        false => items.sort_unstable_by(compare),
    }
}

fn is_in_pool() -> bool {
    rayon::current_thread_index().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// The threads that a job of many items ran on.
    fn threads() -> usize {
        let items: Vec<u32> = (0..64).collect();
        let pause = || thread::sleep(std::time::Duration::from_millis(1));
        let mut ids = map(&items, |_| {
            pause();
            format!("{:?}", thread::current().id())
        });
        ids.sort();
        ids.dedup();
        ids.len()
    }

    #[test]
    fn work_is_shared_in_a_pool_only() {
        assert_eq!(threads(), 1);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        assert_eq!(pool.install(threads), 2);
    }

    #[test]
    fn order_is_preserved() {
        let items: Vec<u32> = (0..1000).rev().collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let run = || {
            let mut sorted = map_into(items.clone(), |it| it + 1);
            assert_eq!(sorted[0], 1000);
            sort_unstable(&mut sorted);
            sort_unstable_by(&mut sorted, |one, other| other.cmp(one));
            assert_eq!(join(|| sorted[0], || sorted[999]), (1000, 1));
        };
        run();
        pool.install(run);
    }
}
