//! The threads, the memory and the patience that a computation has.

use hexgraph_base::types::Result;
use hexgraph_base::types::pool::{Job, Pool};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The most results that wait to be consumed, for each thread.
const PREFETCH_PER_THREAD: usize = 64;

/// The number of items of a block where each takes about as long as any other.
pub(super) const EVEN_BLOCK: usize = 16 << 10;

/// The environment of a computation: cancellation, memory, and threads.
pub trait Work: Sync {
    /// Says whether the computation may go on. Called between blocks, on all threads.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Limit`] when it was cancelled or is out of time.
    fn check(&self) -> Result<()>;

    /// Counts bytes that are about to be allocated.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Limit`] when there is no memory for them.
    fn charge(&self, bytes: usize) -> Result<()>;

    /// Takes back what was counted.
    fn uncharge(&self, bytes: usize);

    /// The threads that help; `None` where there are none.
    fn pool(&self) -> Option<&Pool>;

    /// The most threads that may work for it at a time, its own among them.
    fn threads(&self) -> usize {
        self.pool().map_or(1, Pool::threads)
    }
}

/// Work on one thread, without bounds: for tests.
pub struct Alone;

impl Work for Alone {
    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn charge(&self, _: usize) -> Result<()> {
        Ok(())
    }

    fn uncharge(&self, _: usize) {}

    fn pool(&self) -> Option<&Pool> {
        None
    }
}

/// How finely work is cut up whose chunks depend on each other, so that results depend on it, too.
/// Everybody has the usual one; tests have small graphs cut up as large ones are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The batches that the nodes of a network are moved in.
    pub batches: usize,
    /// The edge endpoints in a chunk of such a batch, or of a bucket of nodes at equal distance.
    pub batch_chunk: usize,
    /// About the edge endpoints in a chunk of groups.
    pub group_chunk: usize,
}

impl Cut {
    /// What suits threads, caches and queues of present machines: few nodes of a batch are
    /// neighbours, and a chunk is worth a thread's while.
    pub const USUAL: Cut = Cut { batches: 256, batch_chunk: 8 << 10, group_chunk: 128 << 10 };
}

/// A computation: it does blocks of work on at most so many threads.
#[derive(Clone, Copy)]
pub struct Task<'w> {
    work: &'w dyn Work,
    threads: usize,
    cut: Cut,
}

/// Memory that is counted until this is dropped.
pub(super) struct TaskMemory<'w> {
    work: &'w dyn Work,
    bytes: usize,
}

impl Drop for TaskMemory<'_> {
    fn drop(&mut self) {
        self.work.uncharge(self.bytes);
    }
}

impl<'w> Task<'w> {
    /// A computation on at most `threads` threads; `None` for all that there are.
    pub fn new(work: &'w dyn Work, threads: Option<usize>) -> Task<'w> {
        let all = work.threads();
        Task { work, threads: threads.unwrap_or(all).clamp(1, all), cut: Cut::USUAL }
    }

    /// The same computation, cut up otherwise.
    pub fn with_cut(self, cut: Cut) -> Task<'w> {
        Task { cut, ..self }
    }

    /// How finely its work is cut up.
    pub(super) fn cut(&self) -> Cut {
        self.cut
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Says whether the computation may go on.
    ///
    /// # Errors
    ///
    /// As [`Work::check`].
    pub fn check(&self) -> Result<()> {
        self.work.check()
    }

    /// Counts the memory of `items` items of some bytes each, until what is returned is dropped. To
    /// be called before it is allocated.
    ///
    /// # Errors
    ///
    /// As [`Work::charge`].
    pub(super) fn capacity(&self, items: usize, bytes_each: usize) -> Result<TaskMemory<'w>> {
        let bytes = items.saturating_mul(bytes_each);
        self.work.charge(bytes)?;
        Ok(TaskMemory { work: self.work, bytes })
    }

    /// The results of `work` for all numbers below `count`, in their order.
    ///
    /// # Errors
    ///
    /// One of `work`; those of [`Work::check`].
    pub(super) fn blocks<R: Send>(
        &self,
        count: usize,
        work: impl Fn(usize) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let checked = |number: usize| {
            self.work.check()?;
            work(number)
        };
        self.results_of(count, &checked)
    }

    /// As [`Task::blocks`], compiled once for each type of result.
    fn results_of<R: Send>(
        &self,
        count: usize,
        checked: &(dyn Fn(usize) -> Result<R> + Sync),
    ) -> Result<Vec<R>> {
        let pool =
            self.work.pool().filter(|pool| 1 < self.threads && 1 < count && pool.is_parallel());
        let Some(pool) = pool else { return (0..count).map(checked).collect() };
        let look = || drop(self.work.check());
        let ahead = PREFETCH_PER_THREAD * pool.threads();
        if pool.threads() <= self.threads {
            let mut results = Vec::with_capacity(count);
            let job = Job { count, prefetch: ahead, nests: false, work: checked };
            pool.run_on_all(&job, &look, |result| {
                results.push(result);
                Ok(())
            })?;
            return Ok(results);
        }
        // Fewer threads than the pool has: as many strands, each with every n-th block.
        let strands = self.threads.min(count);
        let strand = |first: usize| (first..count).step_by(strands).map(checked).collect();
        let job: Job<'_, Vec<R>> =
            Job { count: strands, prefetch: ahead, nests: false, work: &strand };
        let mut all = Vec::with_capacity(strands);
        pool.run_on_all(&job, &look, |results| {
            all.push(results.into_iter());
            Ok(())
        })?;
        // Each strand has its blocks in their order, so taking from one after the other brings all
        // back into theirs.
        Ok((0..count).filter_map(|number| all[number % strands].next()).collect())
    }

    /// Calls `work` to fill the parts of a list that end at `bounds`, and returns its results in
    /// the order of the parts. The last part ends with the list.
    ///
    /// # Errors
    ///
    /// As [`Task::blocks`].
    pub(super) fn fill<T: Send, R: Send>(
        &self,
        list: &mut [T],
        bounds: &[usize],
        work: impl Fn(usize, &mut [T]) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let mut parts = Vec::with_capacity(bounds.len());
        let (mut rest, mut start) = (list, 0);
        for &end in bounds {
            let (part, others) = std::mem::take(&mut rest).split_at_mut(end - start);
            parts.push(Mutex::new(part));
            (rest, start) = (others, end);
        }
        self.blocks(bounds.len(), |number| {
            // No two threads lock the same part: the lock only hands it over.
            let mut part = parts[number].lock().unwrap_or_else(PoisonError::into_inner);
            work(number, &mut part)
        })
    }

    /// As [`Task::fill`], of two lists that are of the same length and have the same parts.
    ///
    /// # Errors
    ///
    /// As [`Task::blocks`].
    pub(super) fn fill_both<T: Send, U: Send>(
        &self,
        lists: (&mut [T], &mut [U]),
        bounds: &[usize],
        work: impl Fn(usize, &mut [T], &mut [U]) -> Result<()> + Sync,
    ) -> Result<()> {
        let (mut ones, mut others) = lists;
        let (mut parts, mut start) = (Vec::with_capacity(bounds.len()), 0);
        for &end in bounds {
            let (one, rest) = std::mem::take(&mut ones).split_at_mut(end - start);
            let (other, more) = std::mem::take(&mut others).split_at_mut(end - start);
            parts.push(Mutex::new((one, other)));
            (ones, others, start) = (rest, more, end);
        }
        self.blocks(bounds.len(), |number| {
            let mut part = parts[number].lock().unwrap_or_else(PoisonError::into_inner);
            let (one, other) = &mut *part;
            work(number, one, other)
        })?;
        Ok(())
    }

    /// As [`Task::fill`], in parts of [`EVEN_BLOCK`] items, with the range of each.
    ///
    /// # Errors
    ///
    /// As [`Task::blocks`].
    pub(super) fn fill_evenly<T: Send, R: Send>(
        &self,
        list: &mut [T],
        work: impl Fn(Range<usize>, &mut [T]) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let bounds = even_bounds(list.len());
        self.fill(list, &bounds, |number, part| {
            let start = number * EVEN_BLOCK;
            work(start..start + part.len(), part)
        })
    }
}

/// Where blocks of [`EVEN_BLOCK`] of so many items end.
pub(super) fn even_bounds(items: usize) -> Vec<usize> {
    (1..=items.div_ceil(EVEN_BLOCK)).map(|number| items.min(number * EVEN_BLOCK)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexgraph_base::types::Error;

    struct Threads(Pool);

    impl Work for Threads {
        fn check(&self) -> Result<()> {
            Ok(())
        }

        fn charge(&self, bytes: usize) -> Result<()> {
            Alone.charge(bytes)
        }

        fn uncharge(&self, bytes: usize) {
            Alone.uncharge(bytes);
        }

        fn pool(&self) -> Option<&Pool> {
            Some(&self.0)
        }
    }

    #[test]
    fn blocks_come_in_order_on_any_number_of_threads() {
        for pool in [1, 2, 4] {
            let work = Threads(Pool::new(pool));
            for threads in [None, Some(1), Some(2), Some(3), Some(9)] {
                let task = Task::new(&work, threads);
                for count in [0, 1, 2, 7, 100] {
                    let all = task.blocks(count, |number| Ok(3 * number)).unwrap();
                    assert_eq!(all, (0..count).map(|number| 3 * number).collect::<Vec<_>>());
                }
                let mut list = vec![0; 100_000];
                let sums = task.fill_evenly(&mut list, |range, part| {
                    range.clone().zip(part).for_each(|(number, item)| *item = number);
                    Ok(range.len())
                });
                assert_eq!(sums.unwrap().iter().sum::<usize>(), list.len());
                assert!(list.iter().enumerate().all(|(position, item)| position == *item));
                let refuse = |number| match number {
                    70 => Err(Error::query("seventy")),
                    _ => Ok(()),
                };
                assert_eq!(task.blocks(100, refuse).unwrap_err().to_string(), "seventy");
            }
        }
    }
}
