//! Writes the rows of an answer as text or as a file that other tools read.

use super::cells::{failed, names_of, plain_text, write_object};
use super::flatten::{Reserve, flattened};
use super::text::{TableLimits, write_markdown, write_table};
use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use hexgraph_base::answer::JsonSink;
use hexgraph_base::types::{Error, Result, did_you_mean};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::fmt;
use std::io::Write;

/// A form of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// Columns of characters, for the eye. Objects within rows are columns `boss.name`, lists of
    /// them rows.
    Table,
    /// Comma-separated values with a line of names, in UTF-8; objects within rows as in
    /// [`RowFormat::Table`]. A missing value is nothing between two commas, an empty text two
    /// quotes, and a list of values is JSON.
    Csv,
    /// A table of Markdown, with objects within rows as in [`RowFormat::Table`] and all characters
    /// of all cells.
    Markdown,
    /// An object of JSON a line, without the keys that a row has no value of.
    JsonLines,
    /// The file format of Arrow, with objects and lists of them as they are.
    Arrow,
    /// Parquet, compressed with zstd, with objects and lists of them as they are.
    Parquet,
}

/// The formats, their names, and their file extensions.
const FORMATS: [(RowFormat, &str, &[&str]); 6] = [
    (RowFormat::Table, "table", &["txt"]),
    (RowFormat::Csv, "csv", &["csv"]),
    (RowFormat::Markdown, "markdown", &["md", "markdown"]),
    (RowFormat::JsonLines, "jsonl", &["jsonl", "ndjson"]),
    (RowFormat::Arrow, "arrow", &["arrow", "feather", "ipc"]),
    (RowFormat::Parquet, "parquet", &["parquet", "pq"]),
];

/// The bytes of text after which they are handed on.
const BUFFERED: usize = 1 << 16;

impl RowFormat {
    /// The names of all formats.
    ///
    /// ```
    /// use hexgraph::tables::RowFormat;
    ///
    /// assert!(RowFormat::names().any(|name| name == "csv"));
    /// ```
    pub fn names() -> impl Iterator<Item = &'static str> {
        FORMATS.iter().map(|(_, name, _)| *name)
    }

    /// The format of a name.
    ///
    /// ```
    /// use hexgraph::tables::RowFormat;
    ///
    /// assert_eq!(RowFormat::from_name("csv")?, RowFormat::Csv);
    /// assert!(RowFormat::from_name("xlsx").is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Query`], which has all names, for another one.
    pub fn from_name(name: &str) -> Result<RowFormat> {
        let result = FORMATS.iter().find(|(_, existing, _)| *existing == name);
        result.map(|(format, _, _)| *format).ok_or_else(|| {
            let names = RowFormat::names().collect::<Vec<&str>>();
            let hint = did_you_mean(name, names.iter().copied());
            Error::query(format!("there is no format {name:?}; there are {}", names.join(", ")))
                .with_hint(hint)
        })
    }

    /// The format of a file extension.
    ///
    /// ```
    /// use hexgraph::tables::RowFormat;
    ///
    /// assert_eq!(RowFormat::of_file("parquet"), Some(RowFormat::Parquet));
    /// assert_eq!(RowFormat::of_file("docx"), None);
    /// ```
    pub fn of_file(end: &str) -> Option<RowFormat> {
        let end = end.to_ascii_lowercase();
        let result = FORMATS.iter().find(|(_, _, extensions)| extensions.contains(&end.as_str()));
        result.map(|(format, _, _)| *format)
    }

    /// Whether it is bytes that no terminal shows.
    ///
    /// ```
    /// use hexgraph::tables::RowFormat;
    ///
    /// assert!(RowFormat::Arrow.is_binary() && !RowFormat::Csv.is_binary());
    /// ```
    pub fn is_binary(self) -> bool {
        matches!(self, RowFormat::Arrow | RowFormat::Parquet)
    }
}

/// Writes rows in a format. Additional memory of a rectangle is reserved by `reserve`.
///
/// ```
/// use hexgraph::db::Database;
/// use hexgraph::tables::{RowFormat, record_batch, write_rows};
///
/// let db = Database::in_memory();
/// db.mutate("<1> <name> \"Ada\" .", "")?;
/// let rows = record_batch(db.query("{ q(func: has(name)) { uid name } }")?.table(None)?)?;
/// let mut csv = Vec::new();
/// write_rows(&rows, RowFormat::Csv, &|_| Ok(()), &mut csv)?;
/// assert_eq!(String::from_utf8(csv).unwrap(), "uid,name\r\n0x1,Ada\r\n");
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// `Io` when `out` refuses; `Limit` for a rectangle of more than 100 million rows; what `reserve`
/// refuses.
pub fn write_rows(
    rows: &RecordBatch,
    format: RowFormat,
    reserve: Reserve<'_>,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    match format {
        RowFormat::Table => {
            write_table(&flattened(rows, reserve)?, &TableLimits::default(), out).map(|_| ())
        }
        RowFormat::Markdown => write_markdown(&flattened(rows, reserve)?, out),
        RowFormat::Csv => write_csv(&flattened(rows, reserve)?, out),
        RowFormat::JsonLines => write_lines(rows, out),
        RowFormat::Arrow => write_arrow(rows, out),
        RowFormat::Parquet => write_parquet(rows, out),
    }
}

fn write_csv(rows: &RecordBatch, out: &mut dyn Write) -> Result<()> {
    let mut sink = JsonSink::new();
    let mut text = String::new();
    let line = |cells: &mut dyn Iterator<Item = Option<String>>, text: &mut String| {
        for (position, cell) in cells.enumerate() {
            if 0 < position {
                text.push(',');
            }
            if let Some(cell) = cell {
                push_csv(&cell, text);
            }
        }
        text.push_str("\r\n");
    };
    line(&mut names_of(rows).into_iter().map(Some), &mut text);
    for row in 0..rows.num_rows() {
        line(&mut rows.columns().iter().map(|it| plain_text(it, row, &mut sink)), &mut text);
        if BUFFERED < text.len() {
            out.write_all(text.as_bytes()).map_err(failed)?;
            text.clear();
        }
    }
    out.write_all(text.as_bytes()).map_err(failed)
}

/// Adds a cell, by RFC 4180: in quotes where it has a comma, a quote or the end of a line; and
/// where it is empty, which is not missing.
fn push_csv(cell: &str, text: &mut String) {
    if !cell.is_empty() && !cell.contains([',', '"', '\n', '\r']) {
        text.push_str(cell);
        return;
    }
    text.push('"');
    text.push_str(&cell.replace('"', "\"\""));
    text.push('"');
}

fn write_lines(rows: &RecordBatch, out: &mut dyn Write) -> Result<()> {
    let names = names_of(rows);
    let mut sink = JsonSink::new();
    let mut lines = Vec::new();
    for row in 0..rows.num_rows() {
        sink.clear();
        write_object(&names, rows.columns(), row, &mut sink);
        lines.extend_from_slice(sink.as_bytes());
        lines.push(b'\n');
        if BUFFERED < lines.len() {
            out.write_all(&lines).map_err(failed)?;
            lines.clear();
        }
    }
    out.write_all(&lines).map_err(failed)
}

fn write_arrow(rows: &RecordBatch, out: &mut dyn Write) -> Result<()> {
    let mut writer = FileWriter::try_new(out, &rows.schema()).map_err(refused)?;
    writer.write(rows).and_then(|()| writer.finish()).map_err(refused)
}

fn write_parquet(rows: &RecordBatch, out: &mut (dyn Write + Send)) -> Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let mut writer = ArrowWriter::try_new(out, rows.schema(), Some(properties)).map_err(refused)?;
    writer.write(rows).map_err(refused)?;
    writer.close().map(|_| ()).map_err(refused)
}

/// What a writer of files refused: rows that have no form in its format, or the system.
fn refused(error: impl fmt::Display) -> Error {
    Error::query(format!("the rows can't be written in this format: {error}"))
        .with_hint("--format jsonl takes all rows")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{Database, QueryRequest, RequestContext};
    use crate::tables::record_batch;

    fn rows(dql: &str) -> RecordBatch {
        let database = Database::in_memory();
        database
            .alter("name: string .\nborn: int .\ntag: [string] .\nat: datetime .\nknows: [uid] .")
            .unwrap();
        let set = r#"
            <1> <name> "Ada, \"Countess\"" .
            <1> <born> "1815" .
            <1> <at> "1833-06-05T12:00:00.5Z" .
            <1> <knows> <2> .
            <1> <knows> <3> .
            <2> <name> "Bob\nCharles" .
            <2> <tag> "x" .
            <2> <tag> "y" .
            <3> <name> "" .
        "#;
        database.mutate(set, "").unwrap();
        let request = QueryRequest { text: dql.to_owned(), ..QueryRequest::default() };
        let context = RequestContext::new();
        let answer = database.query_with(&request, &context).unwrap();
        record_batch(answer.table_with(None, &context).unwrap()).unwrap()
    }

    fn written(dql: &str, format: RowFormat) -> String {
        let mut out = Vec::new();
        write_rows(&rows(dql), format, &|_| Ok(()), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const FLAT: &str = "{ q(func: uid(1, 2, 3)) { uid name born at tag } }";
    const NESTED: &str = "{ q(func: uid(1)) { born knows { name } } }";

    #[test]
    fn csv_quotes_what_it_must() {
        let text = written(FLAT, RowFormat::Csv);
        let lines = [
            "uid,name,born,at,tag",
            "0x1,\"Ada, \"\"Countess\"\"\",1815,1833-06-05T12:00:00.5Z,",
            "0x2,\"Bob\nCharles\",,,\"[\"\"x\"\",\"\"y\"\"]\"",
            "0x3,\"\",,,",
            "",
        ];
        assert_eq!(text, lines.join("\r\n"));
        assert_eq!(
            written(NESTED, RowFormat::Csv),
            "born,knows.name\r\n1815,\"Bob\nCharles\"\r\n1815,\"\"\r\n"
        );
    }

    #[test]
    fn lines_of_json_are_rows() {
        let lines = [
            r#"{"uid":"0x1","name":"Ada, \"Countess\"","born":1815,"at":"1833-06-05T12:00:00.5Z"}"#,
            r#"{"uid":"0x2","name":"Bob\nCharles","tag":["x","y"]}"#,
            r#"{"uid":"0x3","name":""}"#,
            "",
        ];
        assert_eq!(written(FLAT, RowFormat::JsonLines), lines.join("\n"));
        let nested = "{\"born\":1815,\"knows\":[{\"name\":\"Bob\\nCharles\"},{\"name\":\"\"}]}\n";
        assert_eq!(written(NESTED, RowFormat::JsonLines), nested);
    }

    #[test]
    fn a_table_is_aligned() {
        let text = written("{ q(func: uid(1, 2)) { born name } }", RowFormat::Table);
        assert_eq!(text, "born  name\n1815  Ada, \"Countess\"\n      Bob Charles\n");
        let nothing = written("{ q(func: uid(9)) { born name } }", RowFormat::Table);
        assert_eq!(nothing, "born  name\n");
    }

    #[test]
    fn files_are_read_back() {
        let rows = rows(NESTED);
        let (mut arrow, mut parquet) = (Vec::new(), Vec::new());
        write_rows(&rows, RowFormat::Arrow, &|_| Ok(()), &mut arrow).unwrap();
        write_rows(&rows, RowFormat::Parquet, &|_| Ok(()), &mut parquet).unwrap();
        let mut read =
            arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(arrow), None).unwrap();
        assert_eq!(read.next().unwrap().unwrap(), rows);
        let file = bytes::Bytes::from(parquet);
        let read = parquet::arrow::arrow_reader::ParquetRecordBatchReader::try_new(file, 8);
        let batch = read.unwrap().next().unwrap().unwrap();
        assert_eq!(batch.columns(), rows.columns());
    }

    #[test]
    fn formats_have_names_and_extensions() {
        assert_eq!(RowFormat::from_name("csv").unwrap(), RowFormat::Csv);
        let fault = RowFormat::from_name("cvs").unwrap_err().to_string();
        assert!(fault.contains("table, csv, markdown, jsonl, arrow, parquet"), "{fault}");
        assert_eq!(RowFormat::of_file("NDJSON"), Some(RowFormat::JsonLines));
        assert_eq!(RowFormat::of_file("doc"), None);
    }
}
