//! The format of a file, by the end of its name; that of a file whose name has none, by its
//! content.

use super::csv::file::NameHint;
use super::text::beginning;
use hexgraph_base::types::{Error, Result};
use std::path::Path;

const PARQUET_EXTENSIONS: [&str; 2] = [".parquet", ".pq"];

const ARROW_EXTENSIONS: [&str; 4] = [".arrow", ".arrows", ".feather", ".ipc"];

/// The extensions of files of JSON: an array or a sequence of objects.
const JSON_EXTENSIONS: [&str; 5] = [".json", ".jsonl", ".ndjson", ".geojson", ".geojsonl"];

/// The file extensions of workbooks, which are not read.
pub(in crate::tables) const WORKBOOK_EXTENSIONS: [&str; 4] = [".xlsx", ".xls", ".xlsb", ".ods"];

/// The extensions of delimited text files, and the separator that each promises.
const TEXT_EXTENSIONS: [(&str, u8); 7] = [
    (".csv", b','),
    (".tsv", b'\t'),
    (".tab", b'\t'),
    (".psv", b'|'),
    (".tbl", b'|'),
    (".txt", b'\t'),
    (".edges", b'\t'),
];

/// Further extensions, which other files have as well: these are read by name, and not as files of
/// a folder.
const NAMED_TEXT_EXTENSIONS: [(&str, u8); 2] = [(".dat", b','), (".data", b',')];

/// So many bytes of a file whose name has no extension decide what it is.
const BEGINNING_LEN: u64 = 4096;

/// How a file is read as a table.
#[derive(Debug, Clone, Copy)]
pub(super) enum TableFormat {
    Parquet,
    Arrow,
    Json,
    Text(NameHint),
}

impl TableFormat {
    /// The format of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for a name, or for a content without a name, that is none of a table;
    /// [`Error::Io`] for a file that can't be read.
    pub(super) fn of(path: &Path) -> Result<TableFormat> {
        let name = path.display().to_string();
        let plain = plain_name(&name);
        let has_end = |extensions: &[&str]| extensions.iter().any(|end| plain.ends_with(end));
        if has_end(&PARQUET_EXTENSIONS) {
            return Ok(TableFormat::Parquet);
        }
        if has_end(&ARROW_EXTENSIONS) {
            return Ok(TableFormat::Arrow);
        }
        if has_end(&JSON_EXTENSIONS) {
            return Ok(TableFormat::Json);
        }
        let mut extensions = TEXT_EXTENSIONS.iter().chain(&NAMED_TEXT_EXTENSIONS);
        if let Some(&(_, usual)) = extensions.find(|(end, _)| plain.ends_with(end)) {
            let is_edges = has_end(&[".edges"]);
            let is_list = is_edges || has_end(&[".txt", ".dat", ".data"]);
            return Ok(TableFormat::Text(NameHint { usual, is_list, is_edges }));
        }
        let format = if has_no_extension(&name) { format_of_content(path)? } else { None };
        format.ok_or_else(|| no_table(&name, has_end(&WORKBOOK_EXTENSIONS)))
    }
}

/// Returns true if a name says nothing about the format of its file, apart from its compression:
/// the content decides then.
///
/// ```
/// use hexgraph::tables::has_no_extension;
///
/// assert!(has_no_extension("part-00000") && has_no_extension("export/edges.gz"));
/// assert!(!has_no_extension("people.csv.gz"));
/// ```
pub fn has_no_extension(name: &str) -> bool {
    Path::new(&plain_name(name)).extension().is_none()
}

/// The format of a file by its first bytes. A text is JSON where it begins as an object or an
/// array, and delimited text otherwise; bytes that no text has are no table.
fn format_of_content(path: &Path) -> Result<Option<TableFormat>> {
    let bytes = beginning(path, BEGINNING_LEN)?;
    if bytes.starts_with(b"PAR1") {
        return Ok(Some(TableFormat::Parquet));
    }
    if bytes.starts_with(b"ARROW1") || bytes.starts_with(&[0xff; 4]) {
        return Ok(Some(TableFormat::Arrow));
    }
    let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    if bytes.contains(&0) && !is_utf16 {
        return Ok(None);
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).trim_ascii_start();
    Ok(Some(match text.first() {
        Some(b'{' | b'[') => TableFormat::Json,
        _ => TableFormat::Text(NameHint { usual: b',', is_list: true, is_edges: false }),
    }))
}

/// Returns true if a file is a table, by the end of its name.
///
/// ```
/// use hexgraph::tables::is_table_name;
///
/// assert!(is_table_name("people.csv") && is_table_name("people.parquet"));
/// assert!(!is_table_name("people.rdf"));
/// ```
pub fn is_table_name(name: &str) -> bool {
    let plain = plain_name(name);
    let texts = TEXT_EXTENSIONS.iter().map(|(end, _)| end);
    let mut extensions = PARQUET_EXTENSIONS.iter().chain(&ARROW_EXTENSIONS).chain(texts);
    extensions.any(|end| plain.ends_with(end))
}

/// Returns true if a file can be read as a table, by the end of its name: a file of JSON, too,
/// which otherwise has statements.
///
/// ```
/// use hexgraph::tables::{is_readable_name, is_table_name};
///
/// assert!(is_readable_name("people.json") && !is_table_name("people.json"));
/// ```
pub fn is_readable_name(name: &str) -> bool {
    let plain = plain_name(name);
    is_table_name(name) || JSON_EXTENSIONS.iter().any(|end| plain.ends_with(end))
}

/// A name in lower case, without the end that says that it is compressed.
fn plain_name(name: &str) -> String {
    let mut name = name.to_lowercase();
    let plain_len = name.trim_end_matches(".gz").trim_end_matches(".zst").len();
    name.truncate(plain_len);
    name
}

/// The error for a file whose name does not end as that of a table.
pub(in crate::tables) fn no_table(name: &str, is_workbook: bool) -> Error {
    if is_workbook {
        let message = format!("{name}: a workbook is not read");
        let hint =
            "read the sheet with pandas.read_excel or polars.read_excel, and pass the data frame";
        return Error::query(message).with_hint(hint);
    }
    let plain = plain_name(name);
    if plain.ends_with(".graphml") || plain.ends_with(".gml") {
        let fault = Error::query(format!("{name}: a graph is no table"));
        return fault.with_hint("db.load_graph(path) loads its nodes and edges");
    }
    let what = "a table is read from .parquet, .csv, .tsv, .tab, .psv, .txt, .dat, .edges, .json, .jsonl, .ndjson, .geojsonl, .arrow or .feather";
    let fault = Error::query(format!("{name}: {what}"));
    fault.with_hint("a file whose name has no extension is recognised by its content")
}
