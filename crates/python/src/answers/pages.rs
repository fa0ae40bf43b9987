//! A long result in pages.

use super::result::PyResultSet;
use crate::interrupt::interruptible;
use hexgraph::db::Pages;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// An iterator of results, one for each page.
///
/// >>> import hexgraph
/// >>> db = hexgraph.connect()
/// >>> _ = db.mutate(set='<1> <name> "Ada" .\n<2> <name> "Bob" .\n<3> <name> "Eve" .')
/// >>> for page in db.pages("{ q(func: has(name)) { name } }", size=2):
/// ...     page.rows()
/// [('Ada',), ('Bob',)]
/// [('Eve',)]
#[pyclass(frozen, name = "Pages", module = "hexgraph")]
pub struct PyPages {
    pages: Mutex<Pages>,
    warns: bool,
}

impl PyPages {
    /// An iterator over pages.
    pub fn new(pages: Pages, warns: bool) -> PyPages {
        PyPages { pages: Mutex::new(pages), warns }
    }
}

#[pymethods]
impl PyPages {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<PyResultSet>> {
        let page = interruptible(py, None, |control| {
            self.pages.lock().unwrap_or_else(PoisonError::into_inner).next(control)
        })?;
        Ok(page.map(|page| PyResultSet::new(py, page, self.warns)))
    }
}
