//! Work outside of the interpreter's lock that Ctrl-C stops.
//!
//! The work runs on the thread that requested it, so a short query pays for no other one. Every 50
//! ms that thread takes the lock for a moment and lets Python look at its signals, which only the
//! main thread of Python ever has.

use crate::convert::errors::to_python;
use hexgraph::db::{Canceller, RequestContext, guarded};
use hexgraph_base::types::Result;
use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pyo3::import_exception!(concurrent.futures, CancelledError);

thread_local! {
    /// Who may stop the work of this thread; `None` for nobody.
    static CANCELLED: RefCell<Option<Arc<Cancelled>>> = const { RefCell::new(None) };
}

/// Whether work shall stop, and the requests that do it, the innermost last. They are reported at
/// once: one that holds a lock of the engine, as a mutation does while it is executed, is not
/// requested Python's signals.
#[derive(Default)]
struct Cancelled(Mutex<(bool, Vec<Canceller>)>);

impl Cancelled {
    fn cancel(&self) {
        let (is_cancelled, running) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *is_cancelled = true;
        running.iter().for_each(Canceller::cancel);
    }

    fn is_cancelled(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    fn begin(&self, request: Canceller) {
        let (is_cancelled, running) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_cancelled {
            request.cancel();
        }
        running.push(request);
    }

    fn end(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.pop();
    }
}

/// Stops calls that run on other threads: what a task of asyncio has in hand for the thread that
/// works for it.
#[pyclass(frozen, module = "hexgraph._native")]
pub struct Cancel {
    cancelled: Arc<Cancelled>,
}

#[pymethods]
impl Cancel {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Cancel> {
        // At the end of the interpreter nothing can be imported any more.
        py.import("concurrent.futures")?;
        _ = CancelledError::type_object(py);
        Ok(Cancel { cancelled: Arc::default() })
    }

    /// Make the call of `run` that is running, and later ones, end within about 50 ms.
    fn cancel(&self) {
        self.cancelled.cancel();
    }

    /// Call a function, which this can cancel while the engine works for it.
    #[pyo3(signature = (function, *arguments, **named))]
    fn run<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        arguments: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let own = Some(Arc::clone(&self.cancelled));
        // Calls may nest: what was there before is put back, also for the call around.
        let before = CANCELLED.with(|current| current.replace(own));
        let done = function.call(arguments, named);
        CANCELLED.with(|current| current.replace(before));
        done
    }
}

/// Runs `work` with the lock released.
///
/// # Errors
///
/// What a signal handler raised (`KeyboardInterrupt`, mostly), else the exception of the error.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    timeout: Option<Duration>,
    work: impl FnOnce(&RequestContext) -> Result<T> + Send,
) -> PyResult<T> {
    interruptible_with(py, timeout, |_| Ok(()), work, to_python)
}

/// As [`interruptible`]; also calls `tick` with the lock held whenever it looks for signals, and
/// makes the exception by `to_exception`.
pub(crate) fn interruptible_with<T: Send>(
    py: Python<'_>,
    timeout: Option<Duration>,
    tick: impl Fn(Python<'_>) -> PyResult<()> + Send + Sync + 'static,
    work: impl FnOnce(&RequestContext) -> Result<T> + Send,
    to_exception: impl FnOnce(hexgraph_base::types::Error) -> PyErr,
) -> PyResult<T> {
    let raised = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&raised);
    let cancelled = CANCELLED.with(|current| current.borrow().clone());
    let poll = move || {
        let looked = Python::attach(|py| py.check_signals().and_then(|()| tick(py)));
        let Err(error) = looked else { return false };
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        true
    };
    let mut control = RequestContext::new().with_poll(poll);
    if let Some(timeout) = timeout {
        control = control.with_timeout(timeout);
    }
    if let Some(cancelled) = &cancelled {
        cancelled.begin(control.canceller());
    }
    let done = py.detach(|| guarded(|| work(&control)));
    if let Some(cancelled) = &cancelled {
        cancelled.end();
    }
    // What the handler raised counts, not the error of the request that it has ended.
    match raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(error) => Err(error),
        None if done.is_err() && cancelled.is_some_and(|cancelled| cancelled.is_cancelled()) => {
            Err(CancelledError::new_err("the task was cancelled"))
        }
        None => done.map_err(to_exception),
    }
}

/// Runs `work`, which nothing stops, with the lock released.
///
/// # Errors
///
/// Those of `work`; [`hexgraph_base::types::Error::Internal`] when it panics.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    py.detach(|| guarded(work))
}

/// Returns true if Python has seen a signal that requests a stop.
pub(crate) fn signal_came() -> bool {
    Python::attach(|py| py.check_signals().is_err())
}
