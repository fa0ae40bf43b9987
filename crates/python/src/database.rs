//! The database as a Python object.

use super::files;
use super::graphql::{self, GraphqlArguments};
use super::interrupt::{detached, interruptible, interruptible_with};
use super::mutation::{MutationArguments, PyUpsert, to_drop};
use super::requests::{Checks, QueryCall, Target, UpsertArguments, refuse_arguments, to_timeout};
use super::server::{PyServer, Servers, Settings};
use super::source::{PyLoadReport, PySchemaReport, to_schema_text};
use super::stats::stats_dict;
use super::tables::{EdgeArguments, NodeArguments, OptionArguments, to_tables, with_bar};
use super::txn::PyTxn;
use crate::answers::each::PyAnswers;
use crate::answers::explanation::{PyExplanation, slow_dict};
use crate::answers::keys::{Created, KeyFields, create_key, keys};
use crate::answers::pages::PyPages;
use crate::answers::result::PyResultSet;
use crate::answers::subscription::PySubscription;
use crate::convert::arrow::ArrowTable;
use crate::convert::errors::{to_python, to_python_with_text};
use crate::convert::variables::{to_rows, to_variables};
use hexgraph::db::{Database, ManyRequest, QueryRequest, Recovery, RequestContext, TxnOptions};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::PathBuf;

/// An open database, as `connect` returns it. Thread-safe, and usable after a fork.
///
/// >>> import hexgraph
/// >>> with hexgraph.connect() as db:
/// ...     _ = db.mutate(set_json={"name": "Ada", "knows": {"name": "Bob"}})
/// ...     db.query("{ q(func: has(knows)) { name knows { name } } }").to_dict()
/// {'q': [{'name': 'Ada', 'knows': {'name': 'Bob'}}]}
#[pyclass(frozen, weakref, name = "Database", module = "hexgraph")]
pub struct PyDatabase {
    database: Database,
    path: Option<PathBuf>,
    read_only: bool,
    checks: Checks,
    servers: Servers,
}

impl PyDatabase {
    /// What Python sees of a database.
    pub fn new(
        database: Database,
        (path, read_only): (Option<PathBuf>, bool),
        checks: Checks,
    ) -> PyDatabase {
        PyDatabase { database, path, read_only, checks, servers: Servers::default() }
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Whether what is likely a mistake in a query comes with Python's warnings.
    pub(crate) fn warns(&self) -> bool {
        self.checks.warns
    }
}

#[pymethods]
impl PyDatabase {
    /// Set definitions of predicates and types, and build their indexes. A definition replaces the
    /// previous one entirely: what it omits (an index, @reverse, @lang, a field of a type) is
    /// dropped. Returns a report of what was added, changed, dropped and built.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> db.alter("name: string @index(term) .")
    /// <hexgraph.SchemaReport
    ///   added: name: string @index(term)>
    /// >>> db.alter("name: string @index(exact) .").dropped
    /// ['name: @index(term)']
    ///
    /// `schema` is a string, or the path of a file; a dict whose values are definitions, Python
    /// types, or dicts with the fields of a type; or a dataclass, a pydantic model, or a list of
    /// these, each of which is a type.
    ///
    /// >>> db.alter({"Film": {"title": "string @index(term)", "year": int, "actor": ["Person"]}})
    /// <hexgraph.SchemaReport
    ///   added: title: string @index(term)
    ///   added: year: int
    ///   added: actor: [uid]
    ///   added: type Film: title, year, actor>
    ///
    /// Raises ParseError or SchemaError; nothing is changed then.
    fn alter(&self, py: Python<'_>, schema: &Bound<'_, PyAny>) -> PyResult<PySchemaReport> {
        let schema = &to_schema_text(schema)?;
        let alter = |control: &RequestContext| self.database.alter_with(schema, control);
        let to_exception = |error| to_python_with_text(error, schema);
        let report = interruptible_with(py, None, |_| Ok(()), alter, to_exception)?;
        Ok(PySchemaReport::new(report))
    }

    /// Drop "all", the "data" (the schema stays), or the "predicate" or "type" of a name.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.alter("name: string .")
    /// >>> db.drop("predicate", "name")
    #[pyo3(signature = (what, name = None))]
    fn drop(&self, py: Python<'_>, what: &str, name: Option<String>) -> PyResult<()> {
        let what = to_drop(what, name)?;
        detached(py, || self.database.drop(&what)).map_err(to_python)
    }

    /// Load N-Quads or JSON (lines, an array, or values in any layout) from a path, bytes or a
    /// binary file, plain or compressed, or from a list of these, in one commit. A path may be a
    /// pattern such as "data/*.rdf.gz", a folder of such files, or a .parquet folder of `export`.
    /// The definitions of `schema` (a string or a path) are added first; `graphql_schema`,
    /// likewise, is set at the end.
    ///
    /// Nodes of N-Quads may have names, such as `<alice>` or an IRI. `xid` names the predicate that
    /// stores them: a node that has the value is reused. It gets an index and is @unique if it is
    /// new. Without `xid`, names are valid only within this load.
    ///
    /// A line that can't be stored raises LoadError and nothing is loaded; with `on_error="skip"`
    /// it is left out and reported. `progress` shows a bar with the rate and the remaining time in
    /// terminals and notebooks. A function is called with a dict instead: done and total bytes,
    /// records, records_per_second, seconds, seconds_left. `memory`, bytes or "512MiB", limits the
    /// load in addition to its largest predicate; the rest is spilled to temporary files in the
    /// directory of the database.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> report = db.load(b'<1> <name> "Ada" .', schema="name: string .")
    /// >>> report.triples, report.skipped
    /// (1, 0)
    /// >>> [db.load(line, xid="xid").new_nodes for line in (b'<alice> <knows> <bob> .', b'<bob> <knows> <alice> .')]
    /// [2, 0]
    #[pyo3(signature = (
        source, schema = None, *, graphql_schema = None, xid = None, on_error = "raise", progress = None, memory = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are named where it is called")]
    fn load(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        schema: Option<&Bound<'_, PyAny>>,
        graphql_schema: Option<&Bound<'_, PyAny>>,
        xid: Option<String>,
        on_error: &str,
        progress: Option<&Bound<'_, PyAny>>,
        memory: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyLoadReport> {
        let given = OptionArguments {
            schema: schema.cloned(),
            on_error: on_error.to_owned(),
            memory: memory.cloned(),
            progress: progress.cloned(),
            ..OptionArguments::default()
        };
        files::load(py, &self.database, source, (graphql_schema, xid), given)
    }

    /// Load tables of nodes: what `load_nodes` of `hexgraph.methods` calls, all options in a dict.
    #[pyo3(signature = (tables, options))]
    fn _load_nodes(
        &self,
        py: Python<'_>,
        tables: &Bound<'_, PyAny>,
        options: NodeArguments<'_>,
    ) -> PyResult<PyLoadReport> {
        let progress = options.table.progress.clone();
        let options = options.read()?;
        let (tables, read) = (to_tables(tables)?, options.table.progress.clone());
        let schema = options.table.schema.clone();
        with_bar(py, progress.as_ref(), read, schema.as_deref(), |control| {
            self.database.load_nodes_with(tables, options, control)
        })
    }

    /// Load tables of edges: what `load_edges` of `hexgraph.methods` calls, all options in a dict.
    #[pyo3(signature = (tables, options))]
    fn _load_edges(
        &self,
        py: Python<'_>,
        tables: &Bound<'_, PyAny>,
        options: EdgeArguments<'_>,
    ) -> PyResult<PyLoadReport> {
        let progress = options.table.progress.clone();
        let options = options.read()?;
        let (tables, read) = (to_tables(tables)?, options.table.progress.clone());
        let schema = options.table.schema.clone();
        with_bar(py, progress.as_ref(), read, schema.as_deref(), |control| {
            self.database.load_edges_with(tables, options, control)
        })
    }

    /// Run a query in DQL.
    ///
    /// `variables` are the values of its `$` names: strings, numbers, booleans, dates and times, or
    /// lists and arrays of them in `eq`, `uid`, `uid_in`, as a vector, and as coordinates.
    /// `timeout` is in seconds. `debug` adds the uid to every object.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.alter("name: string @index(exact) .")
    /// >>> _ = db.mutate(set='_:a <name> "Ada" .')
    /// >>> dql = "query q($n: string) { q(func: eq(name, $n)) { name } }"
    /// >>> db.query(dql, {"n": "Ada"}).to_dict()
    /// {'q': [{'name': 'Ada'}]}
    /// >>> db.query(dql, {"n": ["Ada", "Bob"]}).to_dict()
    /// {'q': [{'name': 'Ada'}]}
    ///
    /// Names that the schema does not have, and edges without braces, have no values and are listed
    /// in `Result.warnings`. With `strict=True`, here or in `connect`, they are errors.
    ///
    /// >>> db.query("{ q(func: has(nmae)) { name } }").warnings
    /// ['line 1 column 11: there is no predicate `nmae` (did you mean `name`?)']
    ///
    /// Raises ParseError with line, column and a hint; QueryError; LimitError after `timeout`.
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
        Target::Database(&self.database).query(py, requested, variables)
    }

    /// Run one query for each row of a table, on all threads and on one version, and return one
    /// Arrow table.
    ///
    /// `table` is a list of dicts, a data frame, or Arrow columns: a column for each variable; a
    /// missing value is left out. Rows are in the order of the table, with their number, from 0, in
    /// the column `number`. The other columns are those of `to_arrow(block)`, with a nested node as
    /// columns `boss.name`. Lists of nodes are refused.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<1> <name> "Ada" .\n<2> <name> "Bob" .')
    /// >>> dql = "query q($n: string) { q(func: has(name)) @filter(eq(name, $n)) { uid name } }"
    /// >>> db.query_many(dql, [{"n": "Bob"}, {"n": "Ada"}])
    /// <hexgraph.ArrowTable: 2 rows, columns row: Int64, uid: Utf8, name: Utf8>
    ///
    /// Raises the errors of `query`; TypeError for an unsupported table.
    #[pyo3(signature = (dql, table, *, block = None, number = "row", timeout = None))]
    fn query_many(
        &self,
        py: Python<'_>,
        dql: String,
        table: &Bound<'_, PyAny>,
        block: Option<String>,
        number: &str,
        timeout: Option<f64>,
    ) -> PyResult<ArrowTable> {
        let (rows, number) = (to_rows(table)?, number.to_owned());
        let request = ManyRequest { text: dql, rows, block, number };
        interruptible_with(
            py,
            to_timeout(timeout)?,
            |_| Ok(()),
            |control| {
                let table = ArrowTable::new(self.database.query_many_with(&request, control)?)?;
                Ok(table.drawing(control))
            },
            |error| to_python_with_text(error, &request.text),
        )
    }

    /// Run one query for each row of a table, and return an iterator of results in the order of the
    /// rows.
    ///
    /// Threads prefetch at most a few dozen results. `table` is as for `query_many`; an iterator of
    /// dicts is read on demand. `timeout` is in seconds, for each row. All results are from one
    /// version. `close()` or the end of `with` cancels. A query that fails raises at its position,
    /// and `next` continues after it.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> dql = "query q($n: string) { q(func: has(name)) @filter(eq(name, $n)) { uid } }"
    /// >>> [answer.rows() for answer in db.query_each(dql, [{"n": "Bob"}, {"n": "Ada"}])]
    /// [[], []]
    ///
    /// Raises the errors of `query_many`.
    #[pyo3(signature = (dql, table, *, timeout = None))]
    fn query_each(
        &self,
        py: Python<'_>,
        dql: String,
        table: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<PyAnswers> {
        let timeout = to_timeout(timeout)?;
        let rows = py.import("hexgraph.frames")?.call_method1("each_row_of", (table,))?.unbind();
        let answers = detached(py, || self.database.query_each(&dql, timeout));
        let answers = answers.map_err(|error| to_python_with_text(error, &dql))?;
        Ok(PyAnswers::new(answers, dql, rows, self.checks.warns))
    }

    /// Return the plan of a query without running it; with `analyze=True` with rows and times.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.alter("name: string @index(exact) .")
    /// >>> _ = db.mutate(set='<1> <name> "Ada" .')
    /// >>> plan = db.explain('{ q(func: eq(name, "Ada")) { name } }', analyze=True)
    /// >>> [(step["operator"], step["detail"], step["rows"]) for step in plan.steps][:2]
    /// [('Project', 'q', 1), ('IndexSeek', 'eq(name, "Ada")', 1)]
    ///
    /// Raises what `query` does.
    #[pyo3(signature = (dql, variables = None, *, analyze = false, timeout = None))]
    fn explain(
        &self,
        py: Python<'_>,
        dql: String,
        variables: Option<&Bound<'_, PyAny>>,
        analyze: bool,
        timeout: Option<f64>,
    ) -> PyResult<PyExplanation> {
        let (variables, timeout) = (to_variables(variables)?, to_timeout(timeout)?);
        let request = QueryRequest { text: dql, variables, debug: false };
        let explain = if analyze { Database::profile_with } else { Database::explain_with };
        let explanation = interruptible_with(
            py,
            timeout,
            |_| Ok(()),
            |control| explain(&self.database, &request, control),
            |error| to_python_with_text(error, &request.text),
        );
        Ok(PyExplanation::new(explanation?))
    }

    /// Set the GraphQL schema, a string or the path of a file, and return the current one; None if
    /// there is none.
    ///
    /// Adds the predicates and types that it needs to the schema of the database. It is stored with
    /// the data.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> db.graphql_schema()
    /// >>> db.graphql_schema("type Film { id: ID! title: String! @search(by: [term]) }")
    /// 'type Film { id: ID! title: String! @search(by: [term]) }'
    ///
    /// Raises SchemaError with all errors of the schema.
    #[pyo3(signature = (sdl = None))]
    fn graphql_schema(
        &self,
        py: Python<'_>,
        sdl: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<String>> {
        let sdl = sdl.map(to_schema_text).transpose()?;
        graphql::schema(py, &self.database, sdl)
    }

    /// Run a GraphQL request. Returns a dict with "data", and with "errors" if something is wrong.
    ///
    /// Errors are returned and not raised, since one part of a request may fail while others
    /// succeed. `headers` are those that a client would send, such as a token.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.graphql_schema("type Film { id: ID! title: String! @search(by: [term]) }")
    /// >>> add = 'mutation { addFilm(input: [{title: "Metropolis"}]) { numUids } }'
    /// >>> db.graphql(add)
    /// {'data': {'addFilm': {'numUids': 1}}}
    /// >>> text = "query($t: String) { queryFilm(filter: {title: {anyofterms: $t}}) { title } }"
    /// >>> db.graphql(text, {"t": "metropolis"})
    /// {'data': {'queryFilm': [{'title': 'Metropolis'}]}}
    /// >>> db.graphql("{ queryFilm { name } }")["errors"][0]["message"]
    /// 'Cannot query field "name" on type "Film".'
    ///
    /// Raises the errors of `query` when it is interrupted or exceeds its timeout.
    #[pyo3(signature = (text, variables = None, *, operation = None, headers = None, timeout = None))]
    fn graphql<'py>(
        &self,
        py: Python<'py>,
        text: String,
        variables: Option<&Bound<'py, PyAny>>,
        operation: Option<String>,
        headers: Option<&Bound<'py, PyDict>>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arguments = GraphqlArguments { variables, operation, headers, timeout };
        graphql::ask(py, &self.database, text, arguments)
    }

    /// Subscribe to a GraphQL operation. Returns an iterator of results in the form of `graphql`:
    /// one at once, then one after each commit that changes it. Rapid changes are combined.
    ///
    /// `for` and `next` wait without the GIL; `async for` is a coroutine. `timeout` limits the wait
    /// for a result, in seconds: it raises TimeoutError, after which you can wait again. The
    /// iterator ends when the schema changes, the database is closed, the token in `headers`
    /// expires, or by `with`, `async with` and `close`.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.graphql_schema("type Film @withSubscription { id: ID! title: String! }")
    /// >>> with db.graphql_subscribe("subscription { aggregateFilm { count } }") as answers:
    /// ...     print(next(answers))
    /// ...     _ = db.graphql('mutation { addFilm(input: [{title: "M"}]) { numUids } }')
    /// ...     print(next(answers))
    /// {'data': {'aggregateFilm': {'count': 0}}}
    /// {'data': {'aggregateFilm': {'count': 1}}}
    ///
    /// Raises QueryError for an invalid request; nothing is started then.
    #[pyo3(signature = (text, variables = None, *, operation = None, headers = None, timeout = None))]
    fn graphql_subscribe<'py>(
        &self,
        py: Python<'py>,
        text: String,
        variables: Option<&Bound<'py, PyAny>>,
        operation: Option<String>,
        headers: Option<&Bound<'py, PyDict>>,
        timeout: Option<f64>,
    ) -> PyResult<PySubscription> {
        let arguments = GraphqlArguments { variables, operation, headers, timeout };
        graphql::subscribe(py, &self.database, text, arguments)
    }

    /// The last 128 queries that exceeded the limit `slow`, the newest last, as dicts: "text",
    /// "variables", "seconds", and "at" in seconds since 1970.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect(limits={"slow": 0})
    /// >>> _ = db.query("{ q(func: uid(1)) { uid } }")
    /// >>> [query["text"] for query in db.slow_queries()]
    /// ['{ q(func: uid(1)) { uid } }']
    fn slow_queries<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.database.slow_queries().iter().map(|query| slow_dict(py, query)).collect()
    }

    /// Run a query page by page: `size` nodes of its one visible block at a time, in the order of
    /// their uids. All pages read one version, and each costs the same.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.load(b'<1> <name> "Ada" .\n<2> <name> "Bob" .\n<3> <name> "Eve" .')
    /// >>> [len(page) for page in db.pages("{ q(func: has(name)) { name } }", size=2)]
    /// [2, 1]
    #[pyo3(signature = (dql, size = 1000, variables = None))]
    fn pages(
        &self,
        py: Python<'_>,
        dql: &str,
        size: usize,
        variables: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyPages> {
        let variables = to_variables(variables)?;
        let pages = detached(py, || self.database.pages(dql, &variables, size));
        Ok(PyPages::new(pages.map_err(|error| to_python_with_text(error, dql))?, self.checks.warns))
    }

    /// Delete and set in one commit, the deletes first. Returns the uids of new nodes by the names
    /// of their blank nodes.
    ///
    /// `set` and `delete` are N-Quads, one on each line. `set_json` and `delete_json` are dicts,
    /// lists of them, or JSON text. A dict is a node, identified by "uid" (as "0x1f", 31 or
    /// "_:name"; a new node without it). Nested dicts are target nodes of an edge, "name@en" is a
    /// language and "friend|since" a facet. A delete of None deletes all values of the predicate,
    /// one of only the uid all predicates of the node's types.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> db.mutate(set='<0x5> <friend> _:a .\n_:a <name> "Ada" .').keys()
    /// dict_keys(['a'])
    /// >>> db.mutate(set_json={"uid": "_:b", "name": "Bob", "friend": [{"uid": "0x5"}]}).keys()
    /// dict_keys(['b'])
    /// >>> db.mutate(delete_json={"uid": "0x5", "friend": None})
    /// {}
    ///
    /// Raises ParseError, SchemaError or QueryError; nothing is changed then.
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
        Target::Database(&self.database).mutate(py, &arguments, self.checks.warns)
    }

    /// Run a query, and change its nodes, in one commit without another writer in between.
    ///
    /// `dql` is a query whose variables the mutation uses. `uid(v)` is every node of v, or one new
    /// node if v is empty; `val(x)` is the value of x at the changed node. If the condition `cond`,
    /// such as `@if(eq(len(v), 0))`, is false, nothing is changed. `mutations` are further
    /// mutations to run after the first: dicts with the keys "set", "delete", "set_json",
    /// "delete_json" and "cond". Without any of these `dql` is a complete block `upsert { query
    /// {...} mutation {...} }`.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.alter("email: string @index(exact) @unique .")
    /// >>> find = 'query q($e: string) { q(func: eq(email, $e)) { v as uid } }'
    /// >>> node = {"uid": "uid(v)", "email": "ada@x.io", "name": "Ada"}
    /// >>> db.upsert(find, {"e": "ada@x.io"}, set_json=node)
    /// <hexgraph.Upsert: 1 new node, 2 values set>
    /// >>> db.upsert(find, {"e": "ada@x.io"}, set_json=node)
    /// <hexgraph.Upsert: nothing changed>
    ///
    /// Raises ParseError, SchemaError or QueryError; nothing is changed then.
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
        Target::Database(&self.database).upsert(py, upsert, &arguments)
    }

    /// Begin a transaction: requests that read one version and are committed together.
    ///
    /// As a context manager it commits at the end of the block, and discards on an exception.
    /// Concurrent writes to the same value of a node, the same edge, or the same indexed value of
    /// an `@upsert` predicate conflict: the first commit wins, later ones raise ConflictError. With
    /// `read_only` it changes nothing and never conflicts: all its queries read one version.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> with db.txn() as txn:
    /// ...     ada = txn.mutate(set='_:ada <name> "Ada" .')["ada"]
    /// ...     _ = txn.mutate(set=f'<{ada}> <born> "1815"^^<xs:int> .')
    /// >>> db.query("{ q(func: has(born)) { name born } }").to_dict()
    /// {'q': [{'name': 'Ada', 'born': 1815}]}
    #[pyo3(signature = (*, read_only = false))]
    fn txn(&self, py: Python<'_>, read_only: bool) -> PyResult<PyTxn> {
        let options = TxnOptions { read_only, ..TxnOptions::default() };
        let txn = detached(py, || self.database.begin(options)).map_err(to_python)?;
        Ok(PyTxn::new(txn, self.checks))
    }

    /// Reserve `count` contiguous uids that no new node gets, and return them, for programs that
    /// number their nodes themselves.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> uids = db.assign_uids(3)
    /// >>> len(uids), uids[2] - uids[0]
    /// (3, 2)
    fn assign_uids<'py>(&self, py: Python<'py>, count: u64) -> PyResult<Bound<'py, PyAny>> {
        let first = detached(py, || self.database.assign_uids(count)).map_err(to_python)?;
        py.import("builtins")?.call_method1("range", (first.0, first.0 + count))
    }

    /// For `grammar` of `hexgraph.methods`.
    fn _grammar(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        detached(py, || self.database.grammar(format.parse()?)).map_err(to_python)
    }

    /// The schema as plain text, for `schema` of `hexgraph.methods`.
    fn _schema(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || self.database.schema_text()).map_err(to_python)
    }

    /// The size of the database: "nodes", the number of the last "commit", and "predicates". Each
    /// predicate has its "nodes", its "values", its "bytes" including indexes, and the bytes of its
    /// "parts": "values" (or edges), "indexes", "reverse" edges and "facets".
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<1> <name> "Ada" .\n<1> <knows> <2> .\n<1> <knows> <3> .')
    /// >>> stats = db.stats()
    /// >>> stats["nodes"], stats["predicates"]["knows"]["nodes"], stats["predicates"]["knows"]["values"]
    /// (1, 1, 2)
    /// >>> sorted(stats["predicates"]["name"]["parts"])
    /// ['facets', 'indexes', 'reverse', 'values']
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = detached(py, || self.database.stats()).map_err(to_python)?;
        stats_dict(py, &stats)
    }

    /// Write the database to a directory, which `connect` opens. An existing one is replaced when
    /// the new one is complete. This database stays open at its path; readers and writers continue.
    ///
    /// >>> import hexgraph, pathlib, tempfile
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<0x1f> <name> "Ada" .')
    /// >>> folder = pathlib.Path(tempfile.mkdtemp()) / "films"
    /// >>> db.save(folder)
    /// >>> with hexgraph.connect(folder) as saved:
    /// ...     saved.query("{ q(func: has(name)) { name } }").rows()
    /// [('Ada',)]
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        interruptible(py, None, |control| self.database.save_with(&path, control))
    }

    /// Write a new snapshot, which replaces the log. It happens automatically when the log has
    /// grown long. Cost: a pass over all data; readers and writers continue. Does nothing for a
    /// database in memory.
    ///
    /// >>> import hexgraph, pathlib, tempfile
    /// >>> folder = pathlib.Path(tempfile.mkdtemp()) / "films"
    /// >>> db = hexgraph.connect(folder)
    /// >>> _ = db.mutate(set='<0x1f> <name> "Ada" .')
    /// >>> db.checkpoint()
    /// >>> db.close()
    /// >>> hexgraph.connect(folder).recovery["commits"]
    /// 0
    fn checkpoint(&self, py: Python<'_>) -> PyResult<()> {
        interruptible(py, None, |control| self.database.checkpoint_with(control))
    }

    /// Compact: merge all changes into the columns, which makes reads faster and saves memory, and
    /// write a snapshot. Readers and writers continue meanwhile.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<1> <name> "Ada" .')
    /// >>> _ = db.mutate(set='<1> <name> "Ada Lovelace" .')
    /// >>> db.compact()
    /// >>> db.query("{ q(func: uid(1)) { name } }").rows()
    /// [('Ada Lovelace',)]
    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        interruptible(py, None, |control| self.database.compact_with(control))
    }

    /// Update a read-only database to the newest commit of another process, and return its number.
    /// Cost: proportional to the new commits, not to the database.
    ///
    /// >>> import hexgraph, pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "films"
    /// >>> with hexgraph.connect(path) as writer, hexgraph.connect(path, read_only=True) as reader:
    /// ...     commit = writer.mutate(set='<0x1f> <name> "Ada" .')
    /// ...     before = len(reader.query('{ q(func: has(name)) { name } }').rows())
    /// ...     _ = reader.refresh()
    /// ...     before, len(reader.query('{ q(func: has(name)) { name } }').rows())
    /// (0, 1)
    fn refresh(&self, py: Python<'_>) -> PyResult<u64> {
        detached(py, || self.database.refresh()).map_err(to_python)
    }

    /// The result of replaying the log when the database was opened: the number of replayed
    /// "commits", the "bytes" of the log, and the number of bytes "cut" off its end, or ignored if
    /// read-only, because they are no complete commit: one that was never acknowledged, or that
    /// another process is writing. A log shorter than what was on disk is an error.
    ///
    /// >>> import hexgraph, pathlib, tempfile
    /// >>> folder = pathlib.Path(tempfile.mkdtemp()) / "films"
    /// >>> with hexgraph.connect(folder) as db:
    /// ...     _ = db.mutate(set='<0x1f> <name> "Ada" .')
    /// >>> recovery = hexgraph.connect(folder).recovery
    /// >>> recovery["commits"], recovery["cut"]
    /// (1, 0)
    #[getter]
    fn recovery<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Recovery { commits, bytes, cut } = self.database.recovery().map_err(to_python)?;
        let result = PyDict::new(py);
        result.set_item("commits", commits)?;
        result.set_item("bytes", bytes)?;
        result.set_item("cut", cut)?;
        Ok(result)
    }

    /// Write the data to `path`: N-Quads for .rdf, lines of JSON for .jsonl, each optionally
    /// followed by .gz or .zst. The schema is written to a file of the same name with .schema, a
    /// GraphQL schema to one with .graphql. For .parquet, `path` is a new folder with a table for
    /// the nodes of each type (a node is in that of its first type), such as nodes.Airport.parquet,
    /// one for the edges of each predicate, such as edges.near.parquet, graph.schema and
    /// graph.graphql; nodes without a type are in nodes.parquet. Returns the number of triples.
    /// `load` of a file and its schemas, or of the folder, into an empty database restores the
    /// graph with the same uids.
    ///
    /// >>> import hexgraph, pathlib, tempfile
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<0x1f> <name> "Ada" .')
    /// >>> folder = pathlib.Path(tempfile.mkdtemp())
    /// >>> db.export(folder / "all.rdf.gz")
    /// 1
    /// >>> copy = hexgraph.connect()
    /// >>> copy.load(folder / "all.rdf.gz", folder / "all.schema").triples
    /// 1
    ///
    /// With `format="dgraph"`, `path` is a new folder with the three files of Dgraph's bulk and
    /// live loaders: g01.rdf.gz, g01.schema.gz and g01.gql_schema.gz.
    #[pyo3(signature = (path, *, format = None))]
    fn export(&self, py: Python<'_>, path: PathBuf, format: Option<&str>) -> PyResult<u64> {
        files::export(py, &self.database, &path, format)
    }

    fn _serve(&self, py: Python<'_>, settings: Settings) -> PyResult<PyServer> {
        self.servers.start(py, &self.database, settings)
    }

    /// Close the database and stop the servers of `serve`. A snapshot replaces a long log first.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> db.close()
    /// >>> db.query("{ q(func: uid(1)) { uid } }")
    /// Traceback (most recent call last):
    /// hexgraph.errors.ClosedError: the database is closed
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.servers.stop());
        detached(py, || self.database.close()).map_err(to_python)
    }

    /// The path of the database; None for one in memory.
    #[getter]
    fn path(&self) -> Option<&PathBuf> {
        self.path.as_ref()
    }

    /// Whether it is open read-only.
    #[getter]
    fn read_only(&self) -> bool {
        self.read_only
    }

    /// The number of its namespace.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> other = db.open_namespace(db.create_namespace())
    /// >>> db.namespace, other.namespace
    /// (0, 1)
    #[getter]
    fn namespace(&self) -> u64 {
        self.database.namespace_id()
    }

    fn _namespaces(&self) -> PyResult<Vec<u64>> {
        self.database.namespaces().map_err(to_python)
    }

    fn _open_namespace(&self, py: Python<'_>, id: u64) -> PyResult<PyDatabase> {
        let database = detached(py, || self.database.namespace(id)).map_err(to_python)?;
        Ok(PyDatabase::new(database, (self.path.clone(), self.read_only), self.checks))
    }

    fn _create_namespace(&self, py: Python<'_>) -> PyResult<u64> {
        detached(py, || self.database.create_namespace(None)).map_err(to_python)
    }

    fn _drop_namespace(&self, py: Python<'_>, id: u64) -> PyResult<()> {
        detached(py, || self.database.drop_namespace(id)).map_err(to_python)
    }

    fn _create_key(&self, py: Python<'_>, key: (String, String, Option<f64>)) -> PyResult<Created> {
        create_key(py, &self.database, (&key.0, &key.1), to_timeout(key.2)?)
    }

    fn _keys(&self) -> PyResult<Vec<KeyFields>> {
        keys(&self.database)
    }

    fn _revoke_key(&self, py: Python<'_>, id: &str) -> PyResult<()> {
        detached(py, || self.database.revoke_key(id)).map_err(to_python)
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    /// Graph algorithms, such as `db.algo.pagerank("follows")`; see `hexgraph.algo.Algorithms`.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set="<1> <follows> <3> .\n<2> <follows> <3> .\n<3> <follows> <1> .")
    /// >>> [row["uid"] for row in db.algo.pagerank("follows").top(2)]
    /// ['0x3', '0x1']
    #[getter]
    fn algo<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("hexgraph.algo")?.getattr("Algorithms")?.call1((this,))
    }

    fn __repr__(&self) -> String {
        files::shown(&self.database, self.path.as_deref(), self.read_only)
    }
}
