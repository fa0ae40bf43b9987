//! The data as the files of Dgraph's bulk and live loaders, like those of its own export.
//!
//! ```text
//! g01.rdf.gz          the statements as N-Quads, each with the graph label <0x0>, its namespace
//! g01.schema.gz       the definitions of predicates and types, each after [0x0]
//! g01.gql_schema.gz   a JSON array with an object for each namespace that has a GraphQL schema
//! ```
//!
//! Dgraph names its files after the group of servers that wrote them; there is one here.

use super::output::{Output, failed};
use super::text::{ExportReport, graphql_text};
use crate::db::database::Database;
use crate::db::guard::guarded;
use hexgraph_base::answer::write_plain_text;
use hexgraph_base::types::{Error, Result};
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph;
use hexgraph_store::graph::Version;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::{fs, io};

const DATA_FILE: &str = "g01.rdf.gz";
const SCHEMA_FILE: &str = "g01.schema.gz";
const GRAPHQL_FILE: &str = "g01.gql_schema.gz";

/// The namespace of all data, as N-Quads have it and as schemas do.
const LABEL: &str = "<0x0>";
const SCHEMA_MARK: &str = "[0x0] ";

/// # Exports for the loaders of Dgraph
impl Database {
    /// Writes the data and the schemas to a new folder, in the files that Dgraph's loaders read.
    ///
    /// ```
    /// let folder = tempfile::tempdir().unwrap();
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let report = db.export_for_loaders(&folder.path().join("export"))?;
    /// assert!(report.schema.is_file());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::export_for_loaders_with`].
    pub fn export_for_loaders(&self, path: &Path) -> Result<ExportReport> {
        self.export_for_loaders_with(path, &RequestContext::new())
    }

    /// Writes the data, as it is now, with its schemas to the new folder `path`, in the file
    /// formats of Dgraph's loaders. Uids, languages, facets, types, vectors and the hashes of
    /// passwords stay what they are.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let db = Database::in_memory();
    /// let context = RequestContext::new();
    /// let error = db.export_for_loaders_with(folder.path(), &context).unwrap_err();
    /// assert!(matches!(error, hexgraph::types::Error::Io { .. }), "the folder exists");
    /// ```
    ///
    /// # Errors
    ///
    /// `Io` on an error of the operating system, and when there is something at `path`; `Query` for
    /// a predicate whose name N-Quads can't write; `Limit` when `context` stops it. There is no
    /// folder then.
    pub fn export_for_loaders_with(
        &self,
        path: &Path,
        context: &RequestContext,
    ) -> Result<ExportReport> {
        if path.exists() {
            let error = io::Error::new(ErrorKind::AlreadyExists, "it exists already");
            return Err(failed(path, error));
        }
        let version = self.version()?;
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let written = guarded(|| {
            if partial.exists() {
                fs::remove_dir_all(&partial).map_err(|error| failed(&partial, error))?;
            }
            fs::create_dir_all(&partial).map_err(|error| failed(&partial, error))?;
            let triples = write_files(&version, &partial, context)?;
            fs::rename(&partial, path).map_err(|error| failed(path, error))?;
            let graphql_schema = graphql_text(&version).map(|_| path.join(GRAPHQL_FILE));
            Ok(ExportReport { triples, schema: path.join(SCHEMA_FILE), graphql_schema })
        });
        written.inspect_err(|_| {
            // The error says more than that half an export can't be removed.
            let _ = fs::remove_dir_all(&partial);
        })
    }
}

fn write_files(version: &Version, folder: &Path, context: &RequestContext) -> Result<u64> {
    let schema = version.schema.to_marked_text(SCHEMA_MARK);
    write_file(&folder.join(SCHEMA_FILE), |out| put(out, schema.as_bytes()))?;
    let graphql = graphql_json(version);
    write_file(&folder.join(GRAPHQL_FILE), |out| put(out, &graphql))?;
    write_file(&folder.join(DATA_FILE), |out| {
        graph::export_labelled(version, LABEL, out, &|| context.check())
    })
}

/// Returns the array with the GraphQL schema of the only namespace; an empty one where there is
/// none.
fn graphql_json(version: &Version) -> Vec<u8> {
    let mut json = b"[".to_vec();
    if let Some(schema) = graphql_text(version) {
        json.extend_from_slice(b"{\"namespace\":0,\"schema\":");
        write_plain_text(&schema, &mut json);
        json.push(b'}');
    }
    json.extend_from_slice(b"]\n");
    json
}

fn put(out: &mut Output, bytes: &[u8]) -> Result<()> {
    out.write_all(bytes).map_err(|error| Error::io("writing the export", error))
}

fn write_file<T>(path: &Path, write: impl FnOnce(&mut Output) -> Result<T>) -> Result<T> {
    let name = path.display().to_string();
    let file = File::create(path).map_err(|error| failed(path, error))?;
    let mut out = Output::new(file, &name).map_err(|error| failed(path, error))?;
    let written = write(&mut out)?;
    out.finish().map_err(|error| failed(path, error))?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{LoadOptions, Source};
    use hexgraph_base::formats::decompressed;

    fn text_of(path: &Path) -> String {
        io::read_to_string(decompressed(File::open(path).unwrap(), "file").unwrap()).unwrap()
    }

    #[test]
    fn files_have_namespaces_and_load_back() {
        let folder = tempfile::tempdir().unwrap();
        let db = Database::in_memory();
        db.alter("name: string @lang .\nkey: password .\ntype T {\n name\n}").unwrap();
        let text = "<1> <name> \"A\"@en (f=1.0) .\n<1> <key> \"secret\" .\n<1> <dgraph.type> \"T\" .\n\
                    <1> <knows> <2> (since=2020-01-02) .";
        db.mutate(text, "").unwrap();
        let out = folder.path().join("out");
        let report = db.export_for_loaders_with(&out, &RequestContext::new()).unwrap();
        assert_eq!(report.triples, 4);
        assert_eq!(text_of(&out.join(GRAPHQL_FILE)), "[]\n");
        let schema = text_of(&report.schema);
        let expected = "[0x0] key: password .\n[0x0] knows: [uid] .\n[0x0] name: string @lang .\n\
                      [0x0] type T {\n\tname\n}\n";
        assert_eq!(schema, expected);
        let data = out.join(DATA_FILE);
        let lines = text_of(&data);
        assert!(lines.lines().all(|line| line.contains(" <0x0> ")), "{lines}");
        assert!(lines.contains("<0x1> <name> \"A\"@en <0x0> (f=1.0) .\n"), "{lines}");
        let copy = Database::in_memory();
        let options = LoadOptions::default();
        copy.load_with(Source::File(data), Some(&schema), options, &RequestContext::new()).unwrap();
        let again = folder.path().join("again");
        copy.export_for_loaders_with(&again, &RequestContext::new()).unwrap();
        assert_eq!(text_of(&again.join(DATA_FILE)), lines);
        assert_eq!(text_of(&again.join(SCHEMA_FILE)), schema);
    }

    #[test]
    fn what_is_there_stays_and_half_a_folder_goes() {
        let folder = tempfile::tempdir().unwrap();
        let db = Database::in_memory();
        db.mutate("<1> <a> \"x\" .", "").unwrap();
        let error = db.export_for_loaders_with(folder.path(), &RequestContext::new()).unwrap_err();
        assert!(error.to_string().ends_with("it exists already"), "{error}");
        let stopped = RequestContext::new();
        stopped.canceller().cancel();
        let out = folder.path().join("out");
        db.export_for_loaders_with(&out, &stopped).unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
