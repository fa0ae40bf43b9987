//! What takes longer than a request should: each task has a thread and a number, and one runs at a
//! time.
//!
//! A request waits a moment for its task. So a short one is reported with its outcome, and a long
//! one goes on after the client has got its number.

use crate::db::RequestContext;
use crate::db::guard::guarded;
use hexgraph_base::types::{DateTime, Error, Result};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The time for which a request waits for its task before it is answered without the result.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The largest number of tasks that wait or run. Each has a thread, which sleeps while the task
/// waits.
const OPEN_MAX: usize = 16;

/// The number of tasks that are remembered.
const EXISTING_MAX: usize = 1000;

/// The tasks of a surface: exports and backups, one at a time in the order in which they were
/// requested.
pub struct Tasks {
    existing: Mutex<Resolved>,
    /// Notified whenever the status of a task changes.
    moved: Condvar,
    /// Cancels all tasks.
    context: RequestContext,
}

struct Resolved {
    next: u64,
    /// The tasks in the order of their numbers.
    tasks: VecDeque<Task>,
}

/// One task and its status.
#[derive(Debug, Clone)]
pub struct Task {
    /// The number of the task.
    pub id: u64,
    /// The kind of the task: a value of `TaskKind`.
    pub kind: &'static str,
    /// The present status.
    pub status: Status,
    /// The time of the last change of the status.
    pub updated: SystemTime,
}

/// The status of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// The task waits for those before it.
    Queued,
    /// The task is running.
    Running,
    /// The task failed with this message.
    Failed(String),
    /// The task has finished and written these files.
    Success(Vec<String>),
}

impl Status {
    /// The status as a value of `TaskStatus`.
    ///
    /// ```
    /// use hexgraph::db::graphql::Tasks;
    /// use std::{sync::Arc, time::Duration};
    ///
    /// let tasks = Arc::new(Tasks::default());
    /// let task = tasks.start("Export", Duration::from_secs(10), |_| Ok(Vec::new()))?;
    /// assert_eq!(task.status.name(), "Success");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn name(&self) -> &'static str {
        match self {
            Status::Queued => "Queued",
            Status::Running => "Running",
            Status::Failed(_) => "Failed",
            Status::Success(_) => "Success",
        }
    }

    fn is_over(&self) -> bool {
        matches!(self, Status::Failed(_) | Status::Success(_))
    }
}

impl Task {
    /// The time of the last change of the status, as text.
    ///
    /// ```
    /// use hexgraph::db::graphql::Tasks;
    /// use std::{sync::Arc, time::Duration};
    ///
    /// let tasks = Arc::new(Tasks::default());
    /// let task = tasks.start("Export", Duration::from_secs(10), |_| Ok(Vec::new()))?;
    /// assert!(task.updated().contains('T'));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn updated(&self) -> String {
        shown_time(self.updated)
    }
}

/// A time as text, to the second.
pub(super) fn shown_time(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(0);
    let mut out = Vec::with_capacity(32);
    DateTime::from_unix(seconds, 0).write(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

impl Default for Tasks {
    /// Creates an empty list. Numbers begin with the present time, so that a number from an earlier
    /// run is unknown: the seconds since 1970, times 65536, so an earlier run would need that many
    /// tasks a second to collide.
    fn default() -> Tasks {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let existing = Resolved { next: since.as_secs() << 16, tasks: VecDeque::new() };
        Tasks {
            existing: Mutex::new(existing),
            moved: Condvar::new(),
            context: RequestContext::new(),
        }
    }
}

impl Tasks {
    /// Queues `job` behind all earlier tasks, and waits for its end for at most `patience`. A job
    /// returns the files that it wrote.
    ///
    /// ```
    /// use hexgraph::db::graphql::Tasks;
    /// use std::{sync::Arc, time::Duration};
    ///
    /// let tasks = Arc::new(Tasks::default());
    /// let task = tasks.start("Export", Duration::from_secs(10), |context| {
    ///     context.check()?;
    ///     Ok(vec!["people.rdf.gz".to_owned()])
    /// })?;
    /// assert_eq!(task.kind, "Export");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when too many wait already; `Query` when so many came meanwhile that this
    /// one was forgotten. Where the system gives no thread the task has failed, as when its job
    /// fails.
    pub fn start(
        self: &Arc<Tasks>,
        kind: &'static str,
        patience: Duration,
        job: impl FnOnce(&RequestContext) -> Result<Vec<String>> + Send + 'static,
    ) -> Result<Task> {
        let id = self.enter(kind)?;
        let tasks = Arc::clone(self);
        let thread = thread::Builder::new().name("hexgraph-task".to_owned());
        let started = thread.spawn(move || tasks.execute(id, job));
        if let Err(error) = started {
            self.set(id, Status::Failed(error.to_string()));
        }
        let end = Instant::now() + patience;
        let is_open =
            |existing: &Resolved| existing.get(id).is_some_and(|task| !task.status.is_over());
        let existing = self.wait_while(end, is_open);
        existing.get(id).cloned().ok_or_else(forgotten)
    }

    /// Looks up a task by its number.
    ///
    /// ```
    /// use hexgraph::db::graphql::Tasks;
    /// use std::{sync::Arc, time::Duration};
    ///
    /// let tasks = Arc::new(Tasks::default());
    /// let task = tasks.start("Backup", Duration::from_secs(10), |_| Ok(Vec::new()))?;
    /// assert_eq!(tasks.get(task.id).map(|task| task.kind), Some("Backup"));
    /// assert!(tasks.get(1).is_none());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn get(&self, id: u64) -> Option<Task> {
        self.existing().get(id).cloned()
    }

    /// Cancels the tasks that run or wait, and waits for their end for at most `patience`. It is
    /// for good: later tasks fail at once.
    ///
    /// ```
    /// use hexgraph::db::graphql::Tasks;
    /// use std::{sync::Arc, time::Duration};
    ///
    /// let tasks = Arc::new(Tasks::default());
    /// tasks.close(Duration::from_secs(1));
    /// let task = tasks.start("Export", Duration::from_secs(10), |_| Ok(Vec::new()))?;
    /// assert_eq!(task.status.name(), "Failed");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn close(&self, patience: Duration) {
        self.context.canceller().cancel();
        self.wait(patience);
    }

    /// Waits until all tasks have ended, for at most `patience`.
    ///
    /// ```
    /// use hexgraph::db::graphql::Tasks;
    /// use std::{sync::Arc, time::Duration};
    ///
    /// let tasks = Arc::new(Tasks::default());
    /// let task = tasks.start("Export", Duration::ZERO, |_| Ok(Vec::new()))?;
    /// tasks.wait(Duration::from_secs(10));
    /// assert_eq!(tasks.get(task.id).unwrap().status.name(), "Success");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn wait(&self, patience: Duration) {
        let end = Instant::now() + patience;
        drop(self.wait_while(end, |existing| 0 < existing.open()));
    }

    fn enter(&self, kind: &'static str) -> Result<u64> {
        let mut existing = self.existing();
        if OPEN_MAX <= existing.open() {
            let message = format!("{OPEN_MAX} tasks are running already: try again later");
            return Err(Error::Limit { message });
        }
        if EXISTING_MAX <= existing.tasks.len() {
            // Open ones are the newest, and fewer than that.
            existing.tasks.pop_front();
        }
        let id = existing.next;
        existing.next += 1;
        let updated = SystemTime::now();
        existing.tasks.push_back(Task { id, kind, status: Status::Queued, updated });
        Ok(id)
    }

    fn execute(&self, id: u64, job: impl FnOnce(&RequestContext) -> Result<Vec<String>>) {
        let is_behind = |existing: &Resolved| {
            let mut before = existing.tasks.iter().take_while(|task| task.id < id);
            before.any(|task| !task.status.is_over())
        };
        drop(self.moved.wait_while(self.existing(), |existing| is_behind(existing)));
        self.set(id, Status::Running);
        let done = match self.context.check() {
            Ok(()) => guarded(|| job(&self.context)),
            Err(error) => Err(error),
        };
        self.set(id, done.map_or_else(|error| Status::Failed(error.to_string()), Status::Success));
    }

    fn set(&self, id: u64, status: Status) {
        if let Some(task) = self.existing().tasks.iter_mut().find(|task| task.id == id) {
            (task.status, task.updated) = (status, SystemTime::now());
        }
        self.moved.notify_all();
    }

    fn wait_while(
        &self,
        end: Instant,
        goes_on: impl Fn(&Resolved) -> bool,
    ) -> MutexGuard<'_, Resolved> {
        let left = end.saturating_duration_since(Instant::now());
        let waited =
            self.moved.wait_timeout_while(self.existing(), left, |existing| goes_on(existing));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn existing(&self) -> MutexGuard<'_, Resolved> {
        self.existing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Resolved {
    fn get(&self, id: u64) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    fn open(&self) -> usize {
        self.tasks.iter().filter(|task| !task.status.is_over()).count()
    }
}

fn forgotten() -> Error {
    Error::query("the task was forgotten: too many came after it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn one_after_the_other() {
        let tasks = Arc::new(Tasks::default());
        let (go, wait) = mpsc::channel::<()>();
        let first = tasks.start("Export", Duration::ZERO, move |_| {
            wait.recv().unwrap();
            Ok(vec!["a".to_owned()])
        });
        let first = first.unwrap().id;
        let second = tasks.start("Backup", Duration::ZERO, |_| Err(Error::query("no"))).unwrap();
        assert_eq!((second.id, second.status), (first + 1, Status::Queued));
        assert!(!tasks.get(first).unwrap().status.is_over());
        go.send(()).unwrap();
        let third = tasks.start("Export", LONG, |_| panic!("oh")).unwrap();
        assert_eq!(third.status.name(), "Failed");
        assert_eq!(tasks.get(first).unwrap().status, Status::Success(vec!["a".to_owned()]));
        assert_eq!(tasks.get(second.id).unwrap().status, Status::Failed("no".to_owned()));
        assert!(tasks.get(first + 3).is_none());
    }

    #[test]
    fn many_are_refused_and_all_end() {
        let tasks = Arc::new(Tasks::default());
        let wait = |context: &RequestContext| {
            while context.check().is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
            context.check().map(|()| Vec::new())
        };
        let ids: Vec<u64> = (0..OPEN_MAX)
            .map(|_| tasks.start("Export", Duration::ZERO, wait).unwrap().id)
            .collect();
        let refused = tasks.start("Export", Duration::ZERO, wait).err().map(|it| it.to_string());
        let why = "16 tasks are running already: try again later";
        assert_eq!(refused.as_deref(), Some(why));
        tasks.close(LONG);
        for id in ids {
            assert_eq!(tasks.get(id).unwrap().status.name(), "Failed");
        }
    }
}
