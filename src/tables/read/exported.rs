//! Loads a folder of Parquet files that an export wrote.

use super::pages::memory::ReadMemory;
use super::source::parquet_schema;
use crate::db::{Database, LoadReport, RequestContext};
use crate::tables::columns::{END_COLUMNS, PREDICATE_KEY, UID_COLUMN};
use crate::tables::load::Rows;
use crate::tables::parquet_export::{GRAPHQL_FILE, SCHEMA_FILE};
use crate::tables::shape::options::{EdgeOptions, NodeOptions, Table, TableOptions};
use hexgraph_base::types::{Error, Result};
use hexgraph_store::graph::IdSpace;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Whether a path is a folder that an export of tables wrote.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// assert!(!hexgraph::tables::is_export_folder(folder.path()));
/// ```
pub fn is_export_folder(path: &Path) -> bool {
    path.is_dir() && path.join(SCHEMA_FILE).is_file()
}

/// # Loading exported folders
impl Database {
    /// Adds all of a folder that [`Database::export_as`] wrote.
    ///
    /// ```
    /// use hexgraph::{db::Database, tables::TableOptions};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("people.parquet");
    /// let db = Database::in_memory();
    /// db.mutate("<7> <name> \"Ada\" .", "")?;
    /// db.export_as(&path)?;
    /// let copy = Database::in_memory();
    /// copy.load_folder(&path, TableOptions::default())?;
    /// let answer = copy.query("{ q(func: uid(7)) { name } }")?;
    /// assert_eq!(answer.to_json()?.0, r#"{"q":[{"name":"Ada"}]}"#);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::load_folder_with`].
    pub fn load_folder(&self, folder: &Path, options: TableOptions) -> Result<LoadReport> {
        self.load_folder_with(folder, options, &RequestContext::new())
    }

    /// Adds all of a folder that [`Database::export_as`] wrote, its schema first, with the same
    /// uids. All becomes visible at once; then its GraphQL schema is set, where it has one.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    /// use hexgraph::tables::TableOptions;
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let db = Database::in_memory();
    /// let options = TableOptions::default();
    /// let loaded = db.load_folder_with(folder.path(), options, &RequestContext::new());
    /// assert!(loaded.is_err(), "the folder has no export");
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::load_nodes`] and [`Database::load_before_graphql`].
    pub fn load_folder_with(
        &self,
        folder: &Path,
        options: TableOptions,
        context: &RequestContext,
    ) -> Result<LoadReport> {
        let failed = |error| Error::io(format!("reading {}", folder.display()), error);
        let own = fs::read_to_string(folder.join(SCHEMA_FILE)).map_err(failed)?;
        let given = options.schema.as_deref().unwrap_or_default();
        let options = TableOptions { schema: Some(format!("{own}\n{given}")), ..options };
        let entries = fs::read_dir(folder).map_err(failed)?;
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        let mut paths: Vec<PathBuf> = paths.collect::<std::io::Result<_>>().map_err(failed)?;
        paths.retain(|path| path.extension().is_some_and(|end| end == "parquet"));
        paths.sort();
        let memory = ReadMemory::new(self.budget(), options.memory);
        let mut jobs = Vec::new();
        for path in paths {
            let rows = rows_of(&path, &memory)?;
            jobs.push((Table::File(path), rows));
        }
        let graphql = graphql_schema_in(folder)?;
        self.load_before_graphql(graphql.as_deref(), context, || {
            self.load_tables(jobs, options, context)
        })
    }
}

/// The GraphQL schema of the folder of an export; `None` where it has none.
fn graphql_schema_in(folder: &Path) -> Result<Option<String>> {
    match fs::read_to_string(folder.join(GRAPHQL_FILE)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(format!("reading {}", folder.display()), error)),
    }
}

fn rows_of(path: &Path, memory: &ReadMemory) -> Result<Rows> {
    let schema = parquet_schema(path, memory)?;
    let Some(predicate) = schema.metadata().get(PREDICATE_KEY) else {
        let (id, ids) = (Some(UID_COLUMN.to_owned()), Some(IdSpace::Uid));
        return Ok(Rows::Nodes(NodeOptions { id, ids, ..NodeOptions::default() }));
    };
    let [source, target] = END_COLUMNS;
    let facets = schema.fields().iter().map(|field| field.name());
    let facets = facets.filter(|name| !END_COLUMNS.contains(&name.as_str()));
    let facets = facets.map(|name| (name.clone(), name.trim_start_matches('|').to_owned()));
    Ok(Rows::Edges(EdgeOptions {
        source_ids: Some(IdSpace::Uid),
        target_ids: Some(IdSpace::Uid),
        facets: facets.collect(),
        owned: false,
        ..EdgeOptions::new(predicate, source, target)
    }))
}
