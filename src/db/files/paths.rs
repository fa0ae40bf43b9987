//! The files of a path or a pattern.

use super::pattern::matching;
use hexgraph_base::types::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the files of a path, sorted by name: the file itself; of a folder those whose names are
/// `expected`, also in its folders of partitions such as `year=2024`; of a pattern with `*`, `?` or
/// `[…]` those that it matches.
///
/// ```
/// use hexgraph::db::{files_of, has_triples};
///
/// let folder = tempfile::tempdir().unwrap();
/// for name in ["b.rdf", "a.rdf.gz", "notes.txt"] {
///     std::fs::write(folder.path().join(name), "").unwrap();
/// }
/// let files = files_of(folder.path(), has_triples)?;
/// let names: Vec<_> = files.iter().filter_map(|file| file.file_name()?.to_str()).collect();
/// assert_eq!(names, ["a.rdf.gz", "b.rdf"]);
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Io`] for a folder that can't be read, [`Error::Query`] for what means no file.
pub fn files_of(path: &Path, expected: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let shown = path.display().to_string();
    if path.is_dir() {
        let mut files = Vec::new();
        add_files_in(path, &expected, &mut files)?;
        files.sort();
        return some(files, || format!("{shown}: no file in this folder can be loaded"));
    }
    if path.exists() || !shown.contains(['*', '?', '[']) {
        return Ok(vec![path.to_owned()]);
    }
    some(matching(&shown)?, || format!("{shown}: no file is called so"))
}

fn add_files_in(
    folder: &Path,
    expected: &impl Fn(&str) -> bool,
    files: &mut Vec<PathBuf>,
) -> Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |error| Error::io(format!("reading {}", folder.display()), error);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            // A link may lead back to a folder above it.
            let is_folder = entry.file_type().map_err(failed)?.is_dir();
            if is_folder && entry.file_name().to_string_lossy().contains('=') {
                folders.push(path);
            } else if path.is_file() && expected(&path.display().to_string()) {
                files.push(path);
            }
        }
    }
    Ok(())
}

/// Refuses a folder with an export that Dgraph, or a request for one, has written. Its schema is in
/// a file of its own, so statements that are loaded without it would lose their types and indexes.
///
/// ```
/// use hexgraph::db::{Database, refuse_loaders_export};
///
/// let folder = tempfile::tempdir().unwrap();
/// let export = folder.path().join("export");
/// Database::in_memory().export_for_loaders(&export)?;
/// assert!(refuse_loaders_export(&export).is_err());
/// assert!(refuse_loaders_export(folder.path()).is_ok());
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Query`] that says how it is read.
pub fn refuse_loaders_export(path: &Path) -> Result<()> {
    let is_schema = |name: &str| {
        let plain = name.strip_suffix(".gz").unwrap_or(name);
        let group = plain.strip_prefix('g').and_then(|name| name.strip_suffix(".schema"));
        group.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut entries = fs::read_dir(path).into_iter().flatten().flatten();
    if !entries.any(|entry| entry.file_name().to_str().is_some_and(is_schema)) {
        return Ok(());
    }
    let message = format!("{}: an export with its schema in a file of its own", path.display());
    Err(Error::query(message).with_hint("`hexgraph import FOLDER DATABASE` reads it completely; give a schema to load its statements alone"))
}

fn some(files: Vec<PathBuf>, otherwise: impl Fn() -> String) -> Result<Vec<PathBuf>> {
    if files.is_empty() { Err(Error::query(otherwise())) } else { Ok(files) }
}

/// Whether a file holds triples, judged by the ending of its name.
///
/// ```
/// use hexgraph::db::has_triples;
///
/// assert!(has_triples("people.rdf.gz"));
/// assert!(!has_triples("people.csv"));
/// ```
pub fn has_triples(name: &str) -> bool {
    let name = name.to_lowercase();
    let plain = name.trim_end_matches(".gz").trim_end_matches(".zst");
    [".rdf", ".nq", ".nt", ".json", ".jsonl", ".ndjson"].iter().any(|end| plain.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_patterns_mean_files() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.rdf", "a.rdf.gz", "c.txt", "d.JSONL"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let names = |path: &Path| {
            let files = files_of(path, has_triples).unwrap();
            let name = |file: PathBuf| file.file_name().unwrap().to_str().unwrap().to_owned();
            files.into_iter().map(name).collect::<Vec<String>>()
        };
        assert_eq!(names(folder.path()), ["a.rdf.gz", "b.rdf", "d.JSONL"]);
        assert_eq!(names(&folder.path().join("?.rdf*")), ["a.rdf.gz", "b.rdf"]);
        assert_eq!(names(Path::new("no/such")), ["such"]);
        assert!(refuse_loaders_export(folder.path()).is_ok());
        assert!(refuse_loaders_export(Path::new("no/such")).is_ok());
        for name in ["g01.schema.gz", "g2.schema"] {
            fs::write(folder.path().join(name), "").unwrap();
            assert!(refuse_loaders_export(folder.path()).is_err());
            fs::remove_file(folder.path().join(name)).unwrap();
        }
        let error = files_of(&folder.path().join("*.x"), has_triples).unwrap_err().to_string();
        assert!(error.ends_with("*.x: no file is called so"), "{error}");
    }
}
