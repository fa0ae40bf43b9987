//! [`Meter`]: counts the runs of one background task, such as compaction.

use hexgraph_base::types::Result;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a task of the database has run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Runs {
    /// The number of current runs.
    pub running: u64,
    /// The number of runs that have succeeded.
    pub done: u64,
    /// The number of runs that have failed or were stopped.
    pub failed: u64,
    /// The wall time of all runs that have ended.
    pub time: Duration,
}

impl Runs {
    pub(super) fn add(&mut self, other: Runs) {
        let Runs { running, done, failed, time } = other;
        self.running += running;
        self.done += done;
        self.failed += failed;
        self.time += time;
    }
}

/// Counts the runs of one task.
#[derive(Default)]
pub(in crate::db) struct Meter(Mutex<Runs>);

impl Meter {
    /// Runs the task and counts it. Nothing is counted where it returns `None`: there was nothing
    /// to do.
    ///
    /// # Errors
    ///
    /// Those of `task`.
    pub(in crate::db) fn run<T>(
        &self,
        task: impl FnOnce() -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let _running = Running::begin(self);
        let started = Instant::now();
        let result = task();
        let mut runs = self.lock();
        match &result {
            Ok(None) => return result,
            Ok(Some(_)) => runs.done += 1,
            Err(_) => runs.failed += 1,
        }
        runs.time += started.elapsed();
        drop(runs);
        result
    }

    pub(super) fn runs(&self) -> Runs {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Runs> {
        // Nothing that runs under the lock panics halfway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a run as current until it is dropped, also where the task panics.
struct Running<'a>(&'a Meter);

impl Running<'_> {
    fn begin(meter: &Meter) -> Running<'_> {
        meter.lock().running += 1;
        Running(meter)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexgraph_base::types::Error;

    #[test]
    fn runs_are_counted_by_how_they_end() {
        let meter = Meter::default();
        let during = meter.run(|| Ok(Some(meter.runs().running))).unwrap();
        assert_eq!(during, Some(1));
        assert!(meter.run(|| Ok(None::<()>)).unwrap().is_none());
        assert!(meter.run(|| Err::<Option<()>, _>(Error::Closed)).is_err());
        let Runs { running, done, failed, .. } = meter.runs();
        assert_eq!((running, done, failed), (0, 1, 1));
    }
}
