//! A graph as a folder of Parquet files.
//!
//! ```text
//! graph.schema             the schema
//! graph.graphql            the GraphQL schema, where there is one
//! nodes.Person.parquet     the nodes whose first type is Person: their uid, and a column a predicate
//! nodes.parquet            the nodes that have values and no type
//! edges.knows.parquet      the edges of a predicate: source, target, a column a facet
//! edges.knows…~1.parquet   the same, where the name is too long for a file and was cut
//! ```
//!
//! What the names of columns say is in `plan_nodes.rs`; what is a list in the schema is a list
//! here. Instants are timestamps in UTC, or texts where some have a zone or don't fit.

use super::columns::{NodeColumns, edge_batch, edge_schema};
use crate::db::{Database, ExportReport, RequestContext};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use hexgraph_base::schema::is_reserved;
use hexgraph_base::types::{Error, Result};
use hexgraph_store::graph::{
    Direction, Predicate, Version, is_exported, settle_all, space_to_settle,
};
use hexgraph_store::storage::text_of;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use roaring::RoaringBitmap;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The file of the schema.
pub(super) const SCHEMA_FILE: &str = "graph.schema";

/// The file of the GraphQL schema.
pub(super) const GRAPHQL_FILE: &str = "graph.graphql";

/// The number of nodes or edges that are converted to columns at a time.
const BATCH_ROWS: usize = 1 << 16;

/// The number of rows in a row group. A reader may decode each group on a thread of its own.
const GROUP_ROWS: usize = 1 << 18;

/// The most bytes of the name of a file before its number and its end: file systems have 255.
const NAME_LEN_MAX: usize = 200;

/// The predicate of the types of nodes.
const TYPE_PREDICATE: &str = "dgraph.type";

/// # Exports as tables
impl Database {
    /// Writes the data to a folder of Parquet files for the extension `.parquet`, else as
    /// [`Database::export`].
    ///
    /// ```
    /// let folder = tempfile::tempdir().unwrap();
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// db.export_as(&folder.path().join("people.parquet"))?;
    /// assert!(hexgraph::tables::is_export_folder(&folder.path().join("people.parquet")));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::export_as_with`].
    pub fn export_as(&self, path: &Path) -> Result<ExportReport> {
        self.export_as_with(path, &RequestContext::new())
    }

    /// Writes the data, as it is now, where the end of the name says how: a folder of Parquet files
    /// for `.parquet`, else as [`Database::export`]. [`Database::load_folder`] makes the same graph
    /// of such a folder, and each file is one that [`Database::load_nodes`] or
    /// [`Database::load_edges`] loads with uids as ids.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let path = folder.path().join("people.rdf.gz");
    /// assert_eq!(db.export_as_with(&path, &RequestContext::new())?.triples, 1);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::export`]; `Io` also when the folder exists.
    pub fn export_as_with(&self, path: &Path, context: &RequestContext) -> Result<ExportReport> {
        if path.extension().is_none_or(|end| end != "parquet") {
            return self.export_with(path, context);
        }
        self.with_version(|version| {
            let _capacity = space_to_settle(version)?;
            export_folder(&settle_all(version), path, context)
        })
    }
}

fn export_folder(version: &Version, path: &Path, context: &RequestContext) -> Result<ExportReport> {
    if path.exists() {
        return Err(failed(
            path,
            io::Error::new(io::ErrorKind::AlreadyExists, "it exists already"),
        ));
    }
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    if partial.exists() {
        fs::remove_dir_all(&partial).map_err(|error| failed(&partial, error))?;
    }
    fs::create_dir_all(&partial).map_err(|error| failed(&partial, error))?;
    let mut exporter = Exporter { version, folder: &partial, context, count: 0, cut: 0 };
    let written = exporter.all().and_then(|()| {
        let schema = partial.join(SCHEMA_FILE);
        fs::write(&schema, version.schema.to_text()).map_err(|error| failed(&schema, error))?;
        let graphql = ExportReport::write_graphql_schema(version, partial.join(GRAPHQL_FILE))?;
        fs::rename(&partial, path).map_err(|error| failed(path, error))?;
        Ok(graphql.map(|_| path.join(GRAPHQL_FILE)))
    });
    if written.is_err() {
        // The error says more than that half an export can't be removed.
        let _ = fs::remove_dir_all(&partial);
    }
    let (triples, schema) = (exporter.count, path.join(SCHEMA_FILE));
    written.map(|graphql_schema| ExportReport { triples, schema, graphql_schema })
}

struct Exporter<'a> {
    version: &'a Version,
    folder: &'a Path,
    context: &'a RequestContext,
    count: u64,
    /// How many files have a name that was cut.
    cut: usize,
}

impl Exporter<'_> {
    fn all(&mut self) -> Result<()> {
        let mut predicates: Vec<(&str, &Predicate)> = Vec::new();
        for (name, predicate) in self.version.predicates() {
            if is_exported(name) && !predicate.subjects().is_empty() {
                check_name(name)?;
                predicates.push((name, predicate));
            }
        }
        predicates.sort_by_key(|(name, _)| *name);
        let mut untyped = RoaringBitmap::new();
        let has_values = |name: &str, it: &Predicate| !it.is_edges() && name != TYPE_PREDICATE;
        for (_, predicate) in predicates.iter().filter(|(name, it)| has_values(name, it)) {
            untyped |= predicate.subjects().to_bitmap();
        }
        for (name, mut nodes) in self.nodes_by_type() {
            if is_reserved(&name) {
                // Such as the one with the GraphQL schema: who loads the folder makes them anew.
                nodes &= &untyped;
            }
            untyped -= &nodes;
            if !nodes.is_empty() {
                let file = self.file_name("nodes", &name);
                self.nodes(&file, &nodes, &predicates)?;
            }
        }
        if !untyped.is_empty() {
            self.nodes("nodes", &untyped, &predicates)?;
        }
        for (name, predicate) in predicates {
            if let Some(edges) = predicate.direction(false) {
                self.edges(name, edges)?;
            }
        }
        Ok(())
    }

    /// Groups the nodes by the first of their types.
    fn nodes_by_type(&self) -> BTreeMap<String, RoaringBitmap> {
        let mut by_type: BTreeMap<String, RoaringBitmap> = BTreeMap::new();
        let types = self.version.predicate(TYPE_PREDICATE).and_then(|types| types.values(""));
        let Some(types) = types else { return by_type };
        for node in types.subjects().iter() {
            let Some(name) = text_of(types.values(node).get(0)) else { continue };
            match by_type.get_mut(name) {
                Some(nodes) => drop(nodes.insert(node)),
                None => drop(by_type.insert(name.to_owned(), RoaringBitmap::from([node]))),
            }
        }
        by_type
    }

    /// The name of a file without its end. One that is too long for a file system is cut and
    /// numbered: the file lists its columns.
    fn file_name(&mut self, kind: &str, name: &str) -> String {
        let mut file = format!("{kind}.{}", encoded(name));
        if NAME_LEN_MAX < file.len() {
            self.cut += 1;
            file.truncate(NAME_LEN_MAX);
            // The character is in no complete name.
            file.push_str(&format!("~{}", self.cut));
        }
        file
    }

    fn nodes(
        &mut self,
        file: &str,
        nodes: &RoaringBitmap,
        predicates: &[(&str, &Predicate)],
    ) -> Result<()> {
        let columns = NodeColumns::new(nodes, predicates)?;
        let mut writer =
            Writer::create(self.folder.join(format!("{file}.parquet")), columns.schema())?;
        let mut rest = nodes.iter().peekable();
        while rest.peek().is_some() {
            self.context.check()?;
            let batch: Vec<u32> = rest.by_ref().take(BATCH_ROWS).collect();
            let (batch, count) = columns.batch(&batch, &self.version.nodes)?;
            self.count += count;
            writer.write(&batch)?;
        }
        writer.close()
    }

    fn edges(&mut self, name: &str, edges: &Direction) -> Result<()> {
        let file = self.folder.join(format!("{}.parquet", self.file_name("edges", name)));
        let schema = edge_schema(name, &edges.base)?;
        let mut writer = Writer::create(file, schema.clone())?;
        let (mut sources, mut start, mut end) = (Vec::new(), 0, 0);
        for (row, node) in edges.base.subjects.iter().enumerate() {
            for _ in edges.base.offsets.range(row) {
                sources.push(node);
                end += 1;
                if sources.len() == BATCH_ROWS {
                    self.context.check()?;
                    let nodes = &self.version.nodes;
                    writer.write(&edge_batch(&schema, &edges.base, (&sources, start), nodes)?)?;
                    (start, sources) = (end, Vec::with_capacity(BATCH_ROWS));
                }
            }
        }
        let nodes = &self.version.nodes;
        writer.write(&edge_batch(&schema, &edges.base, (&sources, start), nodes)?)?;
        self.count += end as u64;
        writer.close()
    }
}

struct Writer {
    path: PathBuf,
    writer: ArrowWriter<File>,
}

impl Writer {
    fn create(path: PathBuf, schema: SchemaRef) -> Result<Writer> {
        let file = File::create(&path).map_err(|error| failed(&path, error))?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .build();
        let writer = ArrowWriter::try_new(file, schema, Some(properties));
        let writer = writer.map_err(|error| failed(&path, io::Error::other(error)))?;
        Ok(Writer { path, writer })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let written = self.writer.write(batch);
        written.map_err(|error| failed(&self.path, io::Error::other(error)))
    }

    fn close(self) -> Result<()> {
        let closed = self.writer.close();
        closed.map(drop).map_err(|error| failed(&self.path, io::Error::other(error)))
    }
}

/// Refuses a predicate whose name has one of the characters that separate it from a language, a
/// facet or a type in the name of a column.
fn check_name(name: &str) -> Result<()> {
    match name.contains(['@', '|', '^']) {
        true => {
            let what = format!("predicate {name:?} means something else as a column");
            Err(Error::query(format!("{what}: export .rdf")))
        }
        false => Ok(()),
    }
}

/// Converts a name to a part of the name of a file.
fn encoded(name: &str) -> String {
    let mut file = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' => file.push(byte as char),
            other => file.push_str(&format!("%{other:02X}")),
        }
    }
    file
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::io(format!("writing {}", path.display()), error)
}
