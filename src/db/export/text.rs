//! The data as N-Quads or lines of JSON in one file, with the schemas in further files.

use super::output::{GZIP, Output, ZSTD, failed};
use crate::db::database::Database;
use crate::db::guard::guarded;
use hexgraph_base::types::{Error, Result};
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph;
use hexgraph_store::graph::Version;
use std::fs;
use std::fs::File;
use std::path::{Path, PathBuf};

const NQUADS: &str = ".rdf";
const JSON_LINES: &str = ".jsonl";

/// The end of the name of a file with a GraphQL schema.
const GRAPHQL_END: &str = ".graphql";

/// The result of an export.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportReport {
    /// The number of triples that were written.
    pub triples: u64,
    /// The path of the schema file, which is written next to the data.
    pub schema: PathBuf,
    /// The path of the file with the GraphQL schema; `None` where the database has none.
    pub graphql_schema: Option<PathBuf>,
}

impl ExportReport {
    /// Writes the text of the GraphQL schema of a version to a file, as it was given, and returns
    /// its path; `None` where there is none.
    ///
    /// # Errors
    ///
    /// `Io` on an error of the operating system.
    pub(crate) fn write_graphql_schema(
        version: &Version,
        path: PathBuf,
    ) -> Result<Option<PathBuf>> {
        let Some(text) = graphql_text(version) else { return Ok(None) };
        fs::write(&path, text).map_err(|error| failed(&path, error))?;
        Ok(Some(path))
    }
}

/// # Exports as text
impl Database {
    /// Writes the data and the schema to files, in the format that the end of the name says.
    ///
    /// ```
    /// let folder = tempfile::tempdir().unwrap();
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .\n<1> <born> \"1815\" .", "")?;
    /// let report = db.export(&folder.path().join("people.rdf"))?;
    /// assert_eq!(report.triples, 2);
    /// assert!(folder.path().join("people.schema").is_file());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::export_with`].
    pub fn export(&self, path: &Path) -> Result<ExportReport> {
        self.export_with(path, &RequestContext::new())
    }

    /// Writes the data, as it is now, as N-Quads to `path`, for the extension `.rdf`, or as lines
    /// of JSON for `.jsonl`, each also with `.gz` or `.zst`; and the schema to a file of the same
    /// name with the extension `.schema`. A GraphQL schema is written to one with `.graphql`.
    /// Loaded into an empty database, the schema first and the GraphQL schema last, they make the
    /// same graph with the same uids. JSON has fewer types: there all but numbers and truth values
    /// becomes text in predicates of type default.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let report = db.export_with(&folder.path().join("people.jsonl.gz"), &RequestContext::new())?;
    /// assert_eq!(report.triples, 1);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Io` on an error of the operating system; `Query` for another end of the name, and for a
    /// predicate that the format can't write; `Limit` when `context` stops it. Files that are there
    /// stay then.
    pub fn export_with(&self, path: &Path, context: &RequestContext) -> Result<ExportReport> {
        let name = path.display().to_string();
        let plain = name.strip_suffix(GZIP).or(name.strip_suffix(ZSTD)).unwrap_or(&name);
        let json = plain.strip_suffix(JSON_LINES);
        let Some(stem) = json.or(plain.strip_suffix(NQUADS)) else {
            let expected = "an export is .rdf or .jsonl, perhaps before .gz or .zst, or .parquet";
            return Err(Error::query(format!("{name}: {expected}")));
        };
        let schema = PathBuf::from(format!("{stem}.schema"));
        let version = self.version()?;
        let partial = PathBuf::from(format!("{name}.partial"));
        let write = || {
            let file = File::create(&partial).map_err(|error| failed(&partial, error))?;
            let mut out = Output::new(file, &name).map_err(|error| failed(&partial, error))?;
            let write = if json.is_some() { graph::export_json } else { graph::export };
            let triples = write(&version, &mut out, &|| context.check())?;
            out.finish().map_err(|error| failed(&partial, error))?;
            fs::write(&schema, version.schema.to_text()).map_err(|error| failed(&schema, error))?;
            let graphql_path = PathBuf::from(format!("{stem}{GRAPHQL_END}"));
            let graphql_schema = ExportReport::write_graphql_schema(&version, graphql_path)?;
            fs::rename(&partial, path).map_err(|error| failed(path, error))?;
            Ok(ExportReport { triples, schema: schema.clone(), graphql_schema })
        };
        guarded(write).inspect_err(|_| {
            // It may not be there yet.
            let _ = fs::remove_file(&partial);
        })
    }
}

/// The text of the GraphQL schema of a version; `None` where there is none.
pub(super) fn graphql_text(version: &Version) -> Option<String> {
    graph::graphql_schema(version).map(|(_, text)| text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::graphql::{Headers, Request};
    use crate::db::{LoadOptions, Source};

    #[test]
    fn exports_load_back() {
        let folder = tempfile::tempdir().unwrap();
        let db = Database::in_memory();
        db.alter("name: string @index(term) @lang .\nkey: password .\ntype T {\n name\n}").unwrap();
        let text = "<1> <name> \"A\\\"b\"@en (f=1.0) .\n<1> <key> \"secret\" .\n\
                    <1> <dgraph.type> \"T\" .\n<0xfffffffff> <knows> <1> (since=2020-01-02) .";
        db.mutate(text, "").unwrap();
        for name in ["a.rdf", "a.rdf.gz", "a.rdf.zst"] {
            let path = folder.path().join(name);
            let report = db.export_with(&path, &RequestContext::new()).unwrap();
            assert_eq!(report.triples, 4);
            let copy = Database::in_memory();
            let schema = fs::read_to_string(&report.schema).unwrap();
            let options = LoadOptions::default();
            let source = Source::File(path.clone());
            copy.load_with(source, Some(&schema), options, &RequestContext::new()).unwrap();
            assert_eq!(copy.schema_text().unwrap(), schema);
            let again = folder.path().join("again.rdf");
            copy.export_with(&again, &RequestContext::new()).unwrap();
            db.export_with(&folder.path().join("plain.rdf"), &RequestContext::new()).unwrap();
            let read = |name| fs::read_to_string(folder.path().join(name)).unwrap();
            assert_eq!(read("again.rdf"), read("plain.rdf"));
        }
        assert!(!folder.path().join("plain.graphql").exists());
        let refused = |name: &str| {
            db.export_with(&folder.path().join(name), &RequestContext::new()).unwrap_err()
        };
        let error = refused("a.csv").to_string();
        assert!(error.ends_with(
            "a.csv: an export is .rdf or .jsonl, perhaps before .gz or .zst, or .parquet"
        ));
        let Error::Io { context, source } = refused("no/a.rdf") else { panic!("no such folder") };
        assert!(context.ends_with("no/a.rdf.partial"), "{context}");
        assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
    }

    #[test]
    fn the_graphql_schema_goes_along() {
        let folder = tempfile::tempdir().unwrap();
        let text = "# Films.\ntype Film { id: ID! title: String! @search(by: [term]) }";
        let db = Database::in_memory();
        db.set_graphql_schema(text).unwrap();
        db.mutate("<0x10> <Film.title> \"M\" .\n<0x10> <dgraph.type> \"Film\" .", "").unwrap();
        for name in ["a.rdf.gz", "b.jsonl"] {
            let path = folder.path().join(name);
            let report = db.export_with(&path, &RequestContext::new()).unwrap();
            // The node of the GraphQL schema itself is none of the data.
            assert_eq!(report.triples, 2, "{name}");
            let graphql_path = report.graphql_schema.unwrap();
            assert_eq!(graphql_path.extension().unwrap(), "graphql");
            let graphql = fs::read_to_string(&graphql_path).unwrap();
            assert_eq!(graphql, text);
            let schema = fs::read_to_string(&report.schema).unwrap();
            let copy = Database::in_memory();
            let load = |graphql: &str| {
                copy.load_before_graphql(Some(graphql), &RequestContext::new(), || {
                    let source = Source::File(path.clone());
                    copy.load_with(
                        source,
                        Some(&schema),
                        LoadOptions::default(),
                        &RequestContext::new(),
                    )
                })
            };
            // What has faults is reported before anything is loaded.
            let error = load("type Film { id: ID! title: Text! }").unwrap_err();
            assert!(matches!(error, Error::Schema { .. }), "{error}");
            assert_eq!(copy.stats().unwrap().nodes, 0);
            load(&graphql).unwrap();
            assert_eq!(copy.graphql_schema().unwrap().unwrap().schema, text);
            assert_eq!(copy.schema_text().unwrap(), db.schema_text().unwrap());
            let requested = graphql_answer(&copy, "{ queryFilm { title } }");
            assert_eq!(requested, r#"{"data":{"queryFilm":[{"title":"M"}]}}"#);
            assert_eq!(nquads(&copy), nquads(&db));
        }
    }

    /// The facets of all kinds of edges and values come back with their types, and so do texts that
    /// look like something else.
    #[test]
    fn facets_retain_their_types_in_json() {
        let db = Database::in_memory();
        db.alter("best: uid .\nknows: [uid] .\nname: string @lang .\ntag: [string] .").unwrap();
        let facets = "(a=\"2020-01-01\", b=2020-01-01T10:00:00.5+02:00, c=\"2020\", d=\"7\", e=\"true\", f=7, g=7.0, \
                      h=true, i=\"\", j=\"1e5\", k=1e300, l=2020-01-01, m=\"Inf\", n=\"2020-01-01T00:00:00Z\")";
        let subjects =
            ["<best> <2>", "<knows> <2>", "<name> \"x\"", "<name> \"x\"@en", "<tag> \"y\""];
        let lines = subjects.map(|it| format!("<1> {it} {facets} .\n"));
        db.mutate(&lines.concat(), "").unwrap();
        db.mutate("<1> <tag> \"z\" (a=\"2021-02-03\") .", "").unwrap();
        assert_comes_back_from_json(&db);
    }

    #[test]
    fn texts_that_look_like_something_else_come_back_in_json() {
        let db = Database::in_memory();
        db.alter("s: string @lang .\ntag: [string] .\nd: default .").unwrap();
        let texts =
            ["uid(v)", " val ( x ) ", "[1, 2]", "[1.50]", "[a", "7", "true", "", "2020", "uid"];
        let mut lines = String::new();
        for (number, text) in (1..).zip(texts) {
            lines +=
                &format!("<{number}> <s> \"{text}\" (k=1) .\n<{number}> <s> \"{text}\"@en .\n");
            lines += &format!("<{number}> <d> \"{text}\"^^<xs:string> .\n");
            lines += &format!("<1> <tag> \"{text}\" (k={number}) .\n");
        }
        db.mutate(&lines, "").unwrap();
        assert_comes_back_from_json(&db);
    }

    /// The N-Quads of a database.
    fn nquads(db: &Database) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.rdf");
        db.export_with(&path, &RequestContext::new()).unwrap();
        fs::read_to_string(path).unwrap()
    }

    /// What is exported as lines of JSON and loaded is the same.
    fn assert_comes_back_from_json(db: &Database) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let report = db.export_with(&path, &RequestContext::new()).unwrap();
        let copy = Database::in_memory();
        let schema = fs::read_to_string(&report.schema).unwrap();
        copy.load_with(
            Source::File(path),
            Some(&schema),
            LoadOptions::default(),
            &RequestContext::new(),
        )
        .unwrap();
        assert_eq!(nquads(&copy), nquads(db));
    }

    fn graphql_answer(db: &Database, text: &str) -> String {
        let request = Request { query: text.to_owned(), ..Request::default() };
        let answer =
            db.graphql_with(&request, &Headers::default(), &RequestContext::new()).to_json("");
        String::from_utf8(answer).unwrap()
    }
}
