//! The threads of a database.

use arc_swap::ArcSwapOption;
use hexgraph_base::types::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;
use std::{mem, process};

/// A thread pool that starts when it is first asked for, and again in a forked child.
pub(super) struct Pool {
    threads: usize,
    running: ArcSwapOption<Running>,
}

struct Running {
    process: u32,
    pool: Arc<ThreadPool>,
}

impl Pool {
    /// Creates a pool of `threads` threads; 0 stands for the number of cores. No thread is started yet.
    pub(super) fn new(threads: usize) -> Pool {
        Pool { threads, running: ArcSwapOption::empty() }
    }

    /// Returns the running pool, and starts it at the first call. When two threads make the first call at once each may start
    /// a pool; the one that was stored last is used from then on.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when the system gives no threads.
    pub(super) fn get(&self) -> Result<Arc<ThreadPool>> {
        let process = process::id();
        if let Some(running) = &*self.running.load()
            && running.process == process
        {
            return Ok(Arc::clone(&running.pool));
        }
        let pool = Arc::new(self.start()?);
        let running = Running { process, pool: Arc::clone(&pool) };
        if let Some(old) = self.running.swap(Some(Arc::new(running)))
            && old.process != process
        {
            // Its threads stayed with the parent; shutting it down would wait on their locks.
            mem::forget(old);
        }
        Ok(pool)
    }

    fn start(&self) -> Result<ThreadPool> {
        let builder = ThreadPoolBuilder::new().num_threads(self.threads);
        let builder = builder.thread_name(|number| format!("hexgraph-{number}"));
        builder.build().map_err(|error| Error::Limit {
            message: format!("threads = {}: can't start them: {error}", self.threads),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_is_started_once() {
        let pool = Pool::new(2);
        let first = pool.get().unwrap();
        assert_eq!(first.current_num_threads(), 2);
        assert!(Arc::ptr_eq(&first, &pool.get().unwrap()));
    }
}
