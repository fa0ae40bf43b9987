//! A GraphQL subscription as an iterator, blocking or asynchronous.
//!
//! Whoever commits rings a bell, without the interpreter's lock. Waiting is on the bell, and
//! without the lock, too; only the main thread takes it for a moment now and then, to look for
//! signals.

use crate::convert::errors::to_python;
use crate::convert::json::loads;
use crate::interrupt::interruptible;
use hexgraph::db::Database;
use hexgraph::db::graphql::{GraphqlError, Headers, Request, Subscription, Update};
use hexgraph_base::types::Error;
use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long is waited between two looks at signals, at the end of the token, and whether the
/// database was closed.
const LOOK: Duration = Duration::from_millis(50);

/// The results of a GraphQL subscription: dicts, one at once and one after each change.
///
/// It ends when the schema changes, the database is closed, or its token expires.
///
/// >>> import hexgraph
/// >>> db = hexgraph.connect()
/// >>> _ = db.graphql_schema("type Film @withSubscription { id: ID! title: String! }")
/// >>> with db.graphql_subscribe("subscription { queryFilm { title } }") as answers:
/// ...     print(next(answers))
/// ...     _ = db.graphql('mutation { addFilm(input: [{title: "M"}]) { numUids } }')
/// ...     print(next(answers))
/// {'data': {'queryFilm': []}}
/// {'data': {'queryFilm': [{'title': 'M'}]}}
#[pyclass(frozen, name = "Subscription", module = "hexgraph")]
pub struct PySubscription {
    /// Nothing when it has ended.
    inner: Mutex<Option<Subscription>>,
    bell: Arc<Bell>,
    timeout: Option<Duration>,
}

/// The state that is shared by commits, by threads that wait for an answer, and by whoever closes
/// the subscription.
#[derive(Default)]
struct Bell {
    state: Mutex<Rung>,
    changed: Condvar,
}

#[derive(Default)]
struct Rung {
    /// True if something has been committed that may change the answer.
    is_news: bool,
    /// True if the subscription has been closed.
    is_closed: bool,
    /// The number of times that waiting threads were interrupted.
    releases: u64,
}

impl Bell {
    fn lock(&self) -> MutexGuard<'_, Rung> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Rung)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits for news or the end, for at most `patience`.
    fn wait(&self, patience: Duration) {
        let is_quiet = |state: &mut Rung| !state.is_news && !state.is_closed;
        let waited = self.changed.wait_timeout_while(self.lock(), patience, is_quiet);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl PySubscription {
    /// Begins a subscription.
    ///
    /// # Errors
    ///
    /// `QueryError` for what is wrong with the request.
    pub fn begin(
        py: Python<'_>,
        database: &Database,
        request: &Request,
        headers: &Headers,
        timeout: Option<Duration>,
    ) -> PyResult<PySubscription> {
        let bell = Arc::new(Bell::default());
        bell.change(|state| state.is_news = true);
        let rung = Arc::clone(&bell);
        let wake = move || rung.change(|state| state.is_news = true);
        let begun = py.detach(|| database.graphql_subscribe(request, headers, wake));
        let subscription = begun.map_err(|faults| to_python(refusal(&faults)))?;
        Ok(PySubscription { inner: Mutex::new(Some(subscription)), bell, timeout })
    }

    fn inner(&self) -> MutexGuard<'_, Option<Subscription>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.bell.lock().is_closed || self.inner().as_ref().is_none_or(Subscription::is_over)
    }

    /// Returns the next answer if there is news, `None` if there is none, and `Some(None)` after
    /// the last answer.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Option<Option<Bound<'py, PyAny>>>> {
        let is_over = py.detach(|| self.is_over());
        if is_over {
            self.close(py);
            return Ok(Some(None));
        }
        if !std::mem::take(&mut self.bell.lock().is_news) {
            return Ok(None);
        }
        let requested = interruptible(py, None, |control| {
            let update = self.inner().as_mut().map_or(Update::Ended, |inner| inner.update(control));
            // An interrupt is the caller's, and no answer.
            control.check().map(|()| update)
        });
        match requested {
            Ok(Update::Next(response)) => {
                let json = response.to_json("");
                Ok(Some(Some(loads(py, &json)?)))
            }
            Ok(Update::Same) => Ok(None),
            Ok(Update::Ended) => {
                self.close(py);
                Ok(Some(None))
            }
            // Nobody has seen an answer, so the next call queries again.
            Err(error) => {
                self.bell.change(|state| state.is_news = true);
                Err(error)
            }
        }
    }
}

/// Joins all faults of a request to one error.
fn refusal(faults: &[GraphqlError]) -> Error {
    let messages: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
    Error::query(messages.join("; "))
}

#[pymethods]
impl PySubscription {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        // One beyond the range of the clock never expires.
        let end = self.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            if let Some(answer) = self.take(py)? {
                return Ok(answer);
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Err(PyTimeoutError::new_err("nothing has changed in time"));
            }
            // Waiting is cut into chunks so that Ctrl-C is seen between two of them.
            py.check_signals()?;
            py.detach(|| self.bell.wait(left.unwrap_or(LOOK).min(LOOK)));
        }
    }

    fn __aiter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __anext__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("hexgraph.subscriptions")?.call_method1("next_answer", (this,))
    }

    /// Close the subscription; threads that wait for a result are woken.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.graphql_schema("type Film @withSubscription { id: ID! title: String! }")
    /// >>> answers = db.graphql_subscribe("subscription { queryFilm { title } }")
    /// >>> next(answers)
    /// {'data': {'queryFilm': []}}
    /// >>> answers.close()
    /// >>> next(answers, "no more")
    /// 'no more'
    fn close(&self, py: Python<'_>) {
        self.bell.change(|state| state.is_closed = true);
        // A concurrent caller gets the answer when it is there.
        py.detach(|| match self.inner.try_lock() {
            Ok(mut inner) => drop(inner.take()),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => drop(poisoned.into_inner().take()),
            Err(std::sync::TryLockError::WouldBlock) => {}
        });
    }

    /// The timeout for a result in seconds, or None.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.graphql_schema("type Film @withSubscription { id: ID! title: String! }")
    /// >>> answers = db.graphql_subscribe("subscription { queryFilm { id } }", timeout=0.1)
    /// >>> answers.timeout, next(answers)
    /// (0.1, {'data': {'queryFilm': []}})
    /// >>> next(answers)
    /// Traceback (most recent call last):
    /// TimeoutError: nothing has changed in time
    #[getter]
    fn timeout(&self) -> Option<f64> {
        self.timeout.map(|timeout| timeout.as_secs_f64())
    }

    /// Wait until there is news, until the end, or until `_release`, without the interpreter's
    /// lock.
    fn _wait(&self, py: Python<'_>) {
        py.detach(|| {
            let before = self.bell.lock().releases;
            loop {
                let state = self.bell.lock();
                if state.is_news || state.is_closed || state.releases != before {
                    return;
                }
                // `is_over` takes this lock itself.
                drop(state);
                if self.is_over() {
                    return;
                }
                self.bell.wait(LOOK);
            }
        });
    }

    /// Have all threads return from `_wait`.
    fn _release(&self) {
        self.bell.change(|state| state.releases += 1);
    }

    /// The result if it has changed, otherwise None; raises StopAsyncIteration at the end.
    fn _ask<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.take(py)? {
            Some(Some(answer)) => Ok(Some(answer)),
            Some(None) => Err(pyo3::exceptions::PyStopAsyncIteration::new_err(())),
            None => Ok(None),
        }
    }

    /// Take the last answer for one that nobody has seen.
    fn _forget(&self, py: Python<'_>) {
        py.detach(|| {
            if let Some(inner) = self.inner().as_mut() {
                inner.forget();
            }
        });
        self.bell.change(|state| state.is_news = true);
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __aenter__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("hexgraph.subscriptions")?.call_method1("enter", (this,))
    }

    #[pyo3(signature = (*_exception))]
    fn __aexit__<'py>(
        this: &Bound<'py, Self>,
        _exception: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("hexgraph.subscriptions")?.call_method1("leave", (this,))
    }
}
