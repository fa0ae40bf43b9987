//! The answers to many questions, one after the other.

use super::result::PyResultSet;
use crate::convert::errors::to_python_with_text;
use crate::convert::variables::row_variables;
use crate::interrupt::interruptible_with;
use hexgraph::db::EachAnswer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The rows that are read per consumed answer. So a slow source blocks nothing, and a fast one soon
/// has enough rows for all threads.
const ROWS_PER_ANSWER: usize = 2;

/// An iterator of results, one for each row of arguments, in their order. Idle threads read rows
/// and prefetch a few results. `close`, or the end of `with`, cancels the rest.
///
/// >>> import hexgraph
/// >>> db = hexgraph.connect()
/// >>> _ = db.mutate(set='<1> <name> "Ada" .\n<2> <name> "Bob" .')
/// >>> dql = "query q($of: string) { q(func: uid($of)) { name } }"
/// >>> with db.query_each(dql, [{"of": "0x2"}, {"of": "0x1"}]) as answers:
/// ...     [answer.rows() for answer in answers]
/// [[('Bob',)], [('Ada',)]]
#[pyclass(frozen, name = "Answers", module = "hexgraph")]
pub struct PyAnswers {
    answers: EachAnswer,
    text: String,
    source: Mutex<Source>,
    warns: bool,
}

/// Where rows of arguments come from.
struct Source {
    rows: State,
    /// The number of rows that were read.
    count: usize,
}

enum State {
    Waits(Py<PyAny>),
    /// A thread of Python reads a row, which may run any code.
    IsRead,
    /// A row could not be read. That is reported after the answers to the rows before it.
    Failed(PyErr),
    /// There are no more, or they are not needed.
    Ended,
}

impl PyAnswers {
    /// The answers to the rows that an iterator of Python has.
    pub(crate) fn new(
        answers: EachAnswer,
        text: String,
        rows: Py<PyAny>,
        warns: bool,
    ) -> PyAnswers {
        let source = Mutex::new(Source { rows: State::Waits(rows), count: 0 });
        PyAnswers { answers, text, source, warns }
    }

    /// Never held while Python runs.
    fn lock(&self) -> MutexGuard<'_, Source> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads some rows and has them answered.
    fn read_on(&self, py: Python<'_>) -> PyResult<()> {
        let mut source = self.lock();
        let rows = match std::mem::replace(&mut source.rows, State::IsRead) {
            State::Waits(rows) => rows,
            State::IsRead => {
                return Err(PyValueError::new_err("another thread reads the next row already"));
            }
            ended => {
                source.rows = ended;
                return Ok(());
            }
        };
        let mut count = source.count;
        drop(source);
        let read = self.read_rows(rows.bind(py), &mut count);
        let next = match read {
            Ok(true) => State::Waits(rows),
            Ok(false) => State::Ended,
            Err(error) => State::Failed(error),
        };
        let mut source = self.lock();
        source.count = count;
        // Unless it was closed while it was read.
        if matches!(source.rows, State::IsRead) {
            source.rows = next;
        }
        Ok(())
    }

    /// Reads a few rows. Returns false when there are no more.
    fn read_rows(&self, rows: &Bound<'_, PyAny>, count: &mut usize) -> PyResult<bool> {
        for _ in 0..self.answers.capacity().min(ROWS_PER_ANSWER) {
            let Some(row) = rows.try_iter()?.next() else { return Ok(false) };
            self.answers.push(row_variables(&row?, *count)?);
            *count += 1;
        }
        Ok(true)
    }

    /// What went wrong when rows were read, once.
    fn failure(&self) -> Option<PyErr> {
        let mut source = self.lock();
        match std::mem::replace(&mut source.rows, State::Ended) {
            State::Failed(error) => Some(error),
            other => {
                source.rows = other;
                None
            }
        }
    }
}

#[pymethods]
impl PyAnswers {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<PyResultSet>> {
        self.read_on(py)?;
        let answer = interruptible_with(
            py,
            None,
            |_| Ok(()),
            |control| Ok(self.answers.next(control)?.map(|(_, answer)| answer)),
            |error| to_python_with_text(error, &self.text),
        )?;
        match answer {
            Some(answer) => Ok(Some(PyResultSet::new(py, answer, self.warns))),
            None => self.failure().map_or(Ok(None), Err),
        }
    }

    /// Cancel running queries. There are no more results then.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> from itertools import count
    /// >>> _ = db.mutate(set='<1> <name> "Ada" .')
    /// >>> dql = "query q($of: string) { q(func: uid($of)) { name } }"
    /// >>> answers = db.query_each(dql, ({"of": number} for number in count(1)))
    /// >>> next(answers).rows()
    /// [('Ada',)]
    /// >>> answers.close()
    /// >>> list(answers)
    /// []
    fn close(&self, py: Python<'_>) {
        let rows = std::mem::replace(&mut self.lock().rows, State::Ended);
        py.detach(|| self.answers.close());
        // Its last reference may run code of Python.
        drop(rows);
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }
}
