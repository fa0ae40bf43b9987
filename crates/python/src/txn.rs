//! A transaction as a Python object.

use super::interrupt::detached;
use super::mutation::{MutationArguments, PyUpsert};
use super::requests::{Checks, QueryCall, Target, UpsertArguments, refuse_arguments};
use crate::answers::result::PyResultSet;
use crate::convert::errors::to_python;
use hexgraph::db::Txn;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Several requests that read one version and are committed together. Made by `Database.txn`.
///
/// It reads the data as of its start, and its own changes; others see these after the commit. As a
/// context manager it commits at the end of the block, and discards on an exception; a read-only
/// one always discards. A transaction that is garbage-collected, or not used for five minutes, is
/// discarded. It may be used from several threads.
///
/// >>> import hexgraph
/// >>> db = hexgraph.connect()
/// >>> with db.txn() as txn:
/// ...     ada = txn.mutate(set='_:ada <name> "Ada" .')["ada"]
/// ...     _ = txn.mutate(set=f'<{ada}> <age> "36"^^<xs:int> .')
/// >>> txn
/// <hexgraph.Txn: read-write, ended>
/// >>> db.query("{ q(func: has(age)) { name age } }").rows()
/// [('Ada', 36)]
#[pyclass(frozen, weakref, name = "Txn", module = "hexgraph")]
pub struct PyTxn {
    txn: Txn,
    checks: Checks,
}

impl PyTxn {
    /// What Python sees of a transaction.
    pub fn new(txn: Txn, checks: Checks) -> PyTxn {
        PyTxn { txn, checks }
    }

    pub(crate) fn txn(&self) -> &Txn {
        &self.txn
    }

    /// Whether what is likely a mistake in a query comes with Python's warnings.
    pub(crate) fn warns(&self) -> bool {
        self.checks.warns
    }
}

#[pymethods]
impl PyTxn {
    /// Run a query on the data that the transaction sees; as `Database.query`.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> with db.txn() as txn:
    /// ...     _ = txn.mutate(set='_:a <name> "Ada" .')
    /// ...     inside = txn.query("{ q(func: has(name)) { name } }").to_dict()
    /// ...     outside = db.query("{ q(func: has(name)) { name } }").to_dict()
    /// >>> inside, outside
    /// ({'q': [{'name': 'Ada'}]}, {'q': []})
    ///
    /// Raises ConflictError if it was aborted, QueryError if it has ended.
    #[expect(clippy::too_many_arguments, reason = "they are named where it is called")]
    #[pyo3(signature = (dql, variables = None, *, timeout = None, debug = false, strict = None, **other))]
    fn query(
        &self,
        py: Python<'_>,
        dql: String,
        variables: Option<&Bound<'_, PyAny>>,
        timeout: Option<f64>,
        debug: bool,
        strict: Option<bool>,
        other: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyResultSet> {
        refuse_arguments(py, other)?;
        let requested = QueryCall { dql, timeout, debug, checks: self.checks.with_strict(strict) };
        Target::Txn(&self.txn).query(py, requested, variables)
    }

    /// Delete and set in the transaction, the deletes first; as `Database.mutate`. If it fails,
    /// nothing of it is changed, and the transaction continues.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> with db.txn() as txn:
    /// ...     ada = txn.mutate(set_json={"uid": "_:ada", "name": "Ada"})["ada"]
    /// ...     txn.mutate(set_json={"uid": ada, "born": 1815})
    /// {}
    #[pyo3(
        signature = (*given, set = None, delete = None, set_json = None, delete_json = None),
        text_signature = "($self, *, set=None, delete=None, set_json=None, delete_json=None)"
    )]
    fn mutate<'py>(
        &self,
        py: Python<'py>,
        given: &Bound<'py, PyTuple>,
        set: Option<&Bound<'py, PyAny>>,
        delete: Option<&Bound<'py, PyAny>>,
        set_json: Option<&Bound<'py, PyAny>>,
        delete_json: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let arguments = MutationArguments { given, set, delete, set_json, delete_json };
        Target::Txn(&self.txn).mutate(py, &arguments, self.checks.warns)
    }

    /// Run a query, and change its nodes, in the transaction; as `Database.upsert`.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.alter("email: string @index(exact) @upsert .")
    /// >>> find = '{ q(func: eq(email, "ada@x.io")) { v as uid } }'
    /// >>> with db.txn() as txn:
    /// ...     txn.upsert(find, set='uid(v) <email> "ada@x.io" .')
    /// <hexgraph.Upsert: 1 new node, 1 value set>
    #[pyo3(signature = (
        dql, variables = None, *, set = None, delete = None, set_json = None, delete_json = None,
        cond = "", mutations = None, timeout = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are named where it is called")]
    fn upsert<'py>(
        &self,
        py: Python<'py>,
        dql: &str,
        variables: Option<&Bound<'py, PyAny>>,
        set: Option<&Bound<'py, PyAny>>,
        delete: Option<&Bound<'py, PyAny>>,
        set_json: Option<&Bound<'py, PyAny>>,
        delete_json: Option<&Bound<'py, PyAny>>,
        cond: &str,
        mutations: Option<&Bound<'py, PyAny>>,
        timeout: Option<f64>,
    ) -> PyResult<PyUpsert> {
        let warns = self.checks.warns;
        let upsert = UpsertArguments { dql, variables, cond, mutations, timeout, warns };
        let given = &PyTuple::empty(py);
        let arguments = MutationArguments { given, set, delete, set_json, delete_json };
        Target::Txn(&self.txn).upsert(py, upsert, &arguments)
    }

    /// Make the changes visible to all. This ends the transaction, also if it fails.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> one, other = db.txn(), db.txn()
    /// >>> _ = one.mutate(set='<0x1> <name> "Ada" .')
    /// >>> _ = other.mutate(set='<0x1> <name> "Bob" .')
    /// >>> one.commit()
    /// >>> other.commit()
    /// Traceback (most recent call last):
    /// hexgraph.errors.ConflictError: Transaction has been aborted. Please retry
    ///
    /// Raises ConflictError if another transaction changed the same data after this one began:
    /// `Database.run` retries automatically.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || self.txn.commit()).map(drop).map_err(to_python)
    }

    /// Discard the changes. Does nothing if the transaction has ended.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> txn = db.txn()
    /// >>> _ = txn.mutate(set='<1> <name> "Ada" .')
    /// >>> txn.discard()
    /// >>> db.query("{ q(func: has(name)) { name } }").rows()
    /// []
    fn discard(&self, py: Python<'_>) {
        py.detach(|| self.txn.discard());
    }

    /// Whether it is still usable: not committed, discarded or aborted.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> txn = db.txn()
    /// >>> txn.is_open
    /// True
    /// >>> txn.commit()
    /// >>> txn.is_open
    /// False
    #[getter]
    fn is_open(&self, py: Python<'_>) -> bool {
        py.detach(|| self.txn.is_open())
    }

    /// Whether it is read-only.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> with db.txn(read_only=True) as txn:
    /// ...     txn.read_only, txn.query("{ q(func: uid(1)) { uid } }").rows()
    /// (True, [('0x1',)])
    #[getter]
    fn read_only(&self) -> bool {
        self.txn.is_read_only()
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        // Without an exception Python passes None three times.
        let failed = exception.get_item(0).is_ok_and(|kind| !kind.is_none());
        let is_finished = self.txn.is_finished();
        // An exception inside of `with` means that the work is incomplete.
        if failed || is_finished || self.txn.is_read_only() {
            self.discard(py);
            return Ok(());
        }
        self.commit(py)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let mode = if self.txn.is_read_only() { "read-only" } else { "read-write" };
        let state = if self.is_open(py) { "open" } else { "ended" };
        format!("<hexgraph.Txn: {mode}, {state}>")
    }
}
