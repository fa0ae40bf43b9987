//! What is loaded, and what came of it.

use crate::convert::encoding::text_of;
use crate::convert::errors::to_python;
use bytes::Bytes;
use hexgraph::db::{
    LoadReport, SchemaItem, SchemaReport, Source, files_of, has_triples, refuse_loaders_export,
};
use hexgraph::tables::{is_export_folder, is_table_name, refuse_other_names};
use hexgraph_base::types::Error;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use std::path::{Path, PathBuf};

/// The report of a load.
///
/// >>> import hexgraph
/// >>> db = hexgraph.connect()
/// >>> _ = db.load_nodes([{"id": 1}, {"id": 2}], "Person")
/// >>> report = db.load_nodes([{"id": 2, "name": "Bob"}, {"id": 3, "name": "Eve"}], "Person")
/// >>> report.nodes, report.new_nodes, report.warnings
/// (2, 1, [])
#[pyclass(frozen, name = "LoadReport", module = "hexgraph")]
pub struct PyLoadReport {
    report: LoadReport,
}

impl PyLoadReport {
    /// What Python sees of a report.
    pub fn new(report: LoadReport) -> PyLoadReport {
        PyLoadReport { report }
    }
}

#[pymethods]
impl PyLoadReport {
    /// The number of triples that were stored.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> db.load(b'<1> <name> "Ada" .\n<1> <knows> <2> .').triples
    /// 2
    #[getter]
    fn triples(&self) -> u64 {
        self.report.triples
    }

    /// The number of distinct nodes in these triples.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> db.load(b'<1> <name> "Ada" .\n<1> <knows> <2> .').nodes
    /// 2
    #[getter]
    fn nodes(&self) -> u64 {
        self.report.nodes
    }

    /// The number of new nodes. Explicit uids are not counted.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> people = [{"id": 1}, {"id": 2}]
    /// >>> [db.load_nodes(people).new_nodes for _ in range(2)]
    /// [2, 0]
    #[getter]
    fn new_nodes(&self) -> u64 {
        self.report.new_nodes
    }

    /// The number of stored values that the load replaced by other ones, including single edges
    /// (`uid`).
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.load_nodes([{"id": 1, "age": 36}, {"id": 2, "age": 40}])
    /// >>> db.load_nodes([{"id": 1, "age": 37}, {"id": 2, "age": 40}]).replaced
    /// 1
    #[getter]
    fn replaced(&self) -> u64 {
        self.report.replaced
    }

    /// The number of values of the load that later values of the same load replaced.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> lines = b'<1> <age> "36" .\n<1> <age> "37" .'
    /// >>> db.load(lines, schema="age: int .").overridden
    /// 1
    #[getter]
    fn overridden(&self) -> u64 {
        self.report.overridden
    }

    /// The number of rows of nodes whose id an earlier row has. They are one node: the last values
    /// win.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> report = db.load_nodes([{"id": 1, "age": 36}, {"id": 1, "age": 37}])
    /// >>> report.duplicate_ids
    /// 1
    /// >>> report.warnings[0].partition(";")[0]
    /// '1 row has the id of an earlier one: row 2 of <table>, id 1'
    #[getter]
    fn duplicate_ids(&self) -> u64 {
        self.report.duplicates.rows
    }

    /// The number of edges and values that were repeated, or already stored, with other facets: the
    /// last ones win.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> routes = [{"from": 1, "to": 2, "km": 5}, {"from": 1, "to": 2, "km": 6}]
    /// >>> db.load_edges(routes, "route", facets="km", uid=True).merged
    /// 1
    /// >>> db.query("{ q(func: uid(1)) { route @facets { uid } } }").to_dict()
    /// {'q': [{'route': [{'uid': '0x2', 'route|km': 6}]}]}
    #[getter]
    fn merged(&self) -> u64 {
        self.report.merged
    }

    /// The number of edges that were repeated in the table, or already stored. Two nodes have at
    /// most one edge of a predicate.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> db.load_edges([(1, 2), (2, 3), (1, 2)], "knows", uid=True).repeated
    /// 1
    #[getter]
    fn repeated(&self) -> u64 {
        self.report.repeated
    }

    /// The number of cells with an id that no node has, whose edges `missing="skip"` left out.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.load_nodes([{"id": 1}, {"id": 2}])
    /// >>> report = db.load_edges([(1, 2), (1, 7), (8, 2)], "knows", on="id", missing="skip")
    /// >>> report.triples, report.lost
    /// (1, 2)
    #[getter]
    fn lost(&self) -> u64 {
        self.report.lost.count
    }

    /// The first few of those ids, as strings.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.load_nodes([{"id": 1}, {"id": 2}])
    /// >>> db.load_edges([(1, 2), (1, 7), (8, 2)], "knows", on="id", missing="skip").lost_ids
    /// ['7', '8']
    #[getter]
    fn lost_ids(&self) -> Vec<String> {
        self.report.lost.first.clone()
    }

    /// The number of nodes created by `load_edges` without a type, because the other nodes on that
    /// side of the edges have none, or different ones.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.load_nodes([{"iata": "ZRH"}], "Airport", id="iata")
    /// >>> db.load_edges([("ZRH", "JFK")], "route", on="iata").untyped
    /// 1
    #[getter]
    fn untyped(&self) -> u64 {
        self.report.untyped
    }

    /// Likely mistakes, as sentences.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.load_nodes([{"iata": "ZRH"}], "Airport", id="iata")
    /// >>> report = db.load_edges([(1, 2), (2, 3)], "route", on="iata")
    /// >>> report.warnings[0].partition(",")[0]
    /// 'all 3 nodes at the ends of the edges are new'
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.report.warnings.clone()
    }

    /// How each text file was read, which columns are strings because of one cell, the predicates
    /// of renamed columns, and the types that `load_edges` added its predicate to: sentences in the
    /// order of the files.
    ///
    /// >>> import hexgraph, pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "airports.csv"
    /// >>> _ = path.write_text("iata;city\nZRH;Zürich\n")
    /// >>> db = hexgraph.connect()
    /// >>> db.load_nodes(path, "Airport", id="iata").notes[0].partition(": ")[2]
    /// 'semicolon, header (assumed, as all cells are texts), utf-8, 2 columns'
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.report.notes.clone()
    }

    /// The duration of the load.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> db.load(b'<1> <name> "Ada" .').seconds < 10
    /// True
    #[getter]
    fn seconds(&self) -> f64 {
        self.report.elapsed.as_secs_f64()
    }

    /// The number of lines that were left out.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> lines = b'<1> <age> "36" .\n<2> <age> "old" .'
    /// >>> db.load(lines, schema="age: int .", on_error="skip").skipped
    /// 1
    #[getter]
    fn skipped(&self) -> u64 {
        self.report.skipped
    }

    /// The first lines that were left out, up to 1000, as (line number, reason). Lines count from
    /// 1.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> lines = b'<1> <age> "36" .\n<2> <age> "old" .'
    /// >>> db.load(lines, schema="age: int .", on_error="skip").skipped_lines
    /// [(2, '`old` is no int (`age` of 0x2 is of type int)')]
    #[getter]
    fn skipped_lines(&self) -> Vec<(u64, String)> {
        let lines = self.report.skipped_lines.iter();
        lines.map(|line| (line.line, line.reason.clone())).collect()
    }

    fn __repr__(&self) -> String {
        let LoadReport { triples, nodes, new_nodes, skipped, .. } = &self.report;
        let seconds = self.seconds();
        let lost = match self.report.lost.count {
            0 => String::new(),
            count => format!(", {count} ends not found"),
        };
        let untyped = match self.report.untyped {
            0 => String::new(),
            count => format!(", {count} of them without a type"),
        };
        let repeated = match self.report.repeated {
            0 => String::new(),
            count => format!(", {count} edges repeated"),
        };
        let replaced = match self.report.replaced {
            0 => String::new(),
            count => format!(", {count} values replaced"),
        };
        let warnings: String = self.report.warnings.iter().map(|it| format!("; {it}")).collect();
        format!(
            "<hexgraph.LoadReport: {triples} triples, {nodes} nodes, {new_nodes} new{untyped}, {seconds:.2} s, \
             {skipped} lines skipped{lost}{repeated}{replaced}{warnings}>"
        )
    }

    fn __str__(this: &Bound<'_, Self>) -> PyResult<String> {
        let display = this.py().import("hexgraph.loading.reports")?;
        display.call_method1("to_text", (this,))?.extract()
    }

    fn _repr_html_(this: &Bound<'_, Self>) -> PyResult<String> {
        let display = this.py().import("hexgraph.loading.reports")?;
        display.call_method1("to_html", (this,))?.extract()
    }
}

/// The report of a schema change. Its parts are lists of strings, such as "name: @index(term)".
///
/// >>> import hexgraph
/// >>> db = hexgraph.connect()
/// >>> _ = db.alter("name: string @index(term) .\nage: int .")
/// >>> db.alter("name: string @index(exact) .\nage: float .")
/// <hexgraph.SchemaReport
///   added: name: @index(exact)
///   changed: age: float instead of int
///   dropped: name: @index(term)>
#[pyclass(frozen, name = "SchemaReport", module = "hexgraph")]
pub struct PySchemaReport {
    report: SchemaReport,
}

impl PySchemaReport {
    /// What Python sees of a report.
    pub fn new(report: SchemaReport) -> PySchemaReport {
        PySchemaReport { report }
    }
}

fn texts(items: &[SchemaItem]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

#[pymethods]
impl PySchemaReport {
    /// New predicates and types, and new parts of existing ones.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> db.alter("name: string .\ntype Person {\n  name\n}").added
    /// ['name: string', 'type Person: name']
    #[getter]
    fn added(&self) -> Vec<String> {
        texts(&self.report.added)
    }

    /// Predicates whose type changed.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.alter("age: int .")
    /// >>> db.alter("age: float .").changed
    /// ['age: float instead of int']
    #[getter]
    fn changed(&self) -> Vec<String> {
        texts(&self.report.changed)
    }

    /// Dropped predicates and types, and dropped parts of existing ones.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.alter("name: string @index(term) @lang .")
    /// >>> db.alter("name: string @lang .").dropped
    /// ['name: @index(term)']
    #[getter]
    fn dropped(&self) -> Vec<String> {
        texts(&self.report.dropped)
    }

    /// Indexes and reverse edges that were built from existing data.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<1> <name> "Ada" .')
    /// >>> db.alter("name: string @index(term) .").rebuilt
    /// ['name: @index(term)']
    #[getter]
    fn rebuilt(&self) -> Vec<String> {
        texts(&self.report.rebuilt)
    }

    /// Predicates with values that can't be read as their new type: how many, the first ones, and
    /// what to do.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<1> <age> "36" .\n<2> <age> "old" .')
    /// >>> db.alter("age: int .").unread
    /// ["age: 1 of 2 values can't be read as int: `old` of 0x2; asking for them is an error until they are set anew, or `age` is default again"]
    #[getter]
    fn unread(&self) -> Vec<String> {
        texts(&self.report.unread)
    }

    fn __repr__(&self) -> String {
        let mut lines = vec!["<hexgraph.SchemaReport".to_owned()];
        for (name, items) in self.report.parts() {
            lines.extend(items.iter().map(|item| format!("  {name}: {item}")));
        }
        match lines.len() {
            1 => "<hexgraph.SchemaReport: nothing changed>".to_owned(),
            _ => lines.join("\n") + ">",
        }
    }
}

/// Returns the path if it is a folder that an export of tables has written.
pub(crate) fn to_export_folder(given: &Bound<'_, PyAny>) -> Option<PathBuf> {
    given.extract::<PathBuf>().ok().filter(|path| is_export_folder(path))
}

/// Sources: what [`to_source`] takes, a folder or a pattern of files, or a list or tuple of these.
/// The files of a folder are those with extensions of triples, sorted by name. A binary file is
/// read into memory completely.
///
/// # Errors
///
/// `TypeError` when it is none of these; `QueryError` for what means no file.
pub(crate) fn to_sources(given: &Bound<'_, PyAny>, has_schema: bool) -> PyResult<Vec<Source>> {
    sources_within(given, has_schema, 0)
}

fn sources_within(
    given: &Bound<'_, PyAny>,
    has_schema: bool,
    depth: usize,
) -> PyResult<Vec<Source>> {
    if let Ok(path) = given.extract::<PathBuf>() {
        let name = path.display().to_string();
        if is_table_name(&name) {
            let advice = "a table is loaded by load_nodes, or load_edges where its rows are edges";
            return Err(to_python(Error::query(format!("{name}: {advice}"))));
        }
        refuse_other_names(&name).map_err(to_python)?;
        if !has_schema {
            refuse_loaders_export(&path).map_err(to_python)?;
        }
        let files = files_of(&path, has_triples).map_err(to_python)?;
        return Ok(files.into_iter().map(Source::File).collect());
    }
    // A path comes first, since a str is a sequence too; a list may hold lists.
    if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
        check_lists(depth)?;
        let mut sources = Vec::new();
        for one in given.try_iter()? {
            sources.extend(sources_within(&one?, has_schema, depth + 1)?);
        }
        return Ok(sources);
    }
    Ok(vec![to_source(given)?])
}

/// How deep lists of what is loaded may be in each other: more are unusual, and a recursive list
/// stops here instead of exhausting the stack.
const LISTS_MAX: usize = 16;

/// Checks how deep a list is in others.
///
/// # Errors
///
/// `ValueError` for one that is too deep.
pub(crate) fn check_lists(depth: usize) -> PyResult<()> {
    if depth < LISTS_MAX {
        return Ok(());
    }
    let fault =
        format!("lists are in each other deeper than {LISTS_MAX} levels, or one holds itself");
    Err(PyValueError::new_err(fault))
}

/// A path, bytes, or a binary file that is read to its end: no Python code runs during the load.
///
/// # Errors
///
/// `TypeError` when it is none of these.
fn to_source(given: &Bound<'_, PyAny>) -> PyResult<Source> {
    if let Ok(path) = given.extract::<PathBuf>() {
        return Ok(Source::File(path));
    }
    if given.hasattr("read")? {
        return to_bytes(&given.call_method0("read")?, "a file must be open in binary mode");
    }
    if given.hasattr("__arrow_c_stream__")? {
        let advice = "load_nodes takes a table, or load_edges where its rows are edges";
        let kind = given.get_type().name()?;
        return Err(PyTypeError::new_err(format!("load takes no {kind}: {advice}")));
    }
    to_bytes(given, "load takes a path, bytes, or a binary file, or a list of these")
}

/// Copies bytes; `otherwise` begins the message for what is none.
fn to_bytes(given: &Bound<'_, PyAny>, otherwise: &str) -> PyResult<Source> {
    // A copy, since the load runs without the interpreter's lock, and a bytearray may be changed
    // then.
    let bytes: Vec<u8> = match given.cast::<pyo3::types::PyBytes>() {
        Ok(bytes) => bytes.as_bytes().to_vec(),
        Err(_) if given.is_instance_of::<pyo3::types::PyByteArray>() => given.extract()?,
        Err(_) => {
            let kind = given.get_type().name()?;
            return Err(PyTypeError::new_err(format!("{otherwise}, not {kind}")));
        }
    };
    Ok(Source::Bytes(Bytes::from(bytes)))
}

/// The text of a schema: the content of the file when a path is given, a text itself; a dict or a
/// class is written as one.
///
/// # Errors
///
/// `StorageError` when the file can't be read; `TypeError` for what is neither.
pub(crate) fn to_schema_text(given: &Bound<'_, PyAny>) -> PyResult<String> {
    let Ok(text) = given.cast::<PyString>() else {
        if let Ok(path) = given.extract::<PathBuf>() {
            return read_schema(&path);
        }
        let definitions = given.py().import("hexgraph.schemas.definitions")?;
        return definitions.call_method1("text_of", (given,))?.extract();
    };
    let text = text_of(text, || "schema".to_owned())?;
    // A single word without a colon, a brace or a `#` can be no schema, so it is a path even where
    // no file is: the error names it. A schema has a colon or a brace, and so may a path; but a
    // schema names no file.
    let is_word = !text.is_empty() && !text.contains(char::is_whitespace);
    let is_name = is_word && !text.contains([':', '{', '#']);
    // The file is requested only where the text could be a path, of one line.
    let is_path = is_name || !text.contains('\n') && Path::new(text).is_file();
    if is_path { read_schema(Path::new(text)) } else { Ok(text.to_owned()) }
}

fn read_schema(path: &Path) -> PyResult<String> {
    std::fs::read_to_string(path).map_err(|error| {
        let missing = match error.kind() {
            std::io::ErrorKind::NotFound => " (a schema is its text, `name: string .`, or a file)",
            _ => "",
        };
        to_python(Error::io(format!("reading the schema {}{missing}", path.display()), error))
    })
}
