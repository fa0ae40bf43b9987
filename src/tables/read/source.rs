//! Tables in pieces that threads can read side by side.
//!
//! A stream of batches is cut into pieces as it comes. A Parquet file is cut into its row groups,
//! and each is decoded by the thread that reads it. What its metadata say of rows places the pieces, so it has to be what is read.

use super::cells::natural_type;
use super::checked::{Whole, check_batch};
use super::lines::lines_of;
use super::opened::{open_file, unreadable};
use super::quotes::{Closed, unclosed_line};
use super::row_groups::{PIECE_ROWS, ParquetFile, RowGroup};
use super::text::{TextFile, decoded};
use crate::db::LoadProgress;
use crate::tables::shape::cell_error::{CellError, gap_pattern, is_gap};
use crate::tables::shape::options::{Table, TableOptions};
use crate::tables::shape::parts::{ColumnName, Fault, shown};
use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, RecordBatchOptions};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_csv::ReaderBuilder;
use arrow_csv::reader::Format;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use hexgraph_base::formats::decompressed;
use hexgraph_base::types::{Error, Result, ValueRef, ValueType};
use regex::Regex;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

const PARQUET_ENDS: [&str; 2] = [".parquet", ".pq"];

/// The number of rows from which the types of the columns of a CSV file are guessed.
const INFERRED_ROWS: usize = 1000;

/// A table that was opened.
pub(in crate::tables) struct Source {
    /// The name by which errors refer to it.
    pub name: String,
    /// All its columns.
    pub schema: SchemaRef,
    kind: Kind,
}

enum Kind {
    Batches(Box<dyn arrow_array::RecordBatchReader + Send>),
    Csv { file: TextFile, delimiter: u8, progress: LoadProgress },
    Parquet(ParquetFile),
}

/// A stream of pieces with some columns of a table.
pub(in crate::tables) struct Pieces {
    name: String,
    stream: Stream,
    next_row: u64,
}

enum Stream {
    /// Records of a text file, and the types that their columns are converted to.
    Texts {
        batches: Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>,
        columns: Arc<Vec<(ColumnName, Field)>>,
        file: TextFile,
        separator: u8,
    },
    Batches {
        batches: Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>,
        of: Arc<Whole>,
        /// The part of the file that was not cut into pieces yet.
        rest: Option<RecordBatch>,
    },
    Groups {
        file: Arc<ParquetFile>,
        next: usize,
    },
}

/// A piece: some consecutive rows of a table.
pub(in crate::tables) struct Piece {
    /// The number of the first row in the table, from 0.
    pub first_row: u64,
    /// The number of rows.
    pub len: u64,
    /// The bytes of the file that they take, where that is not counted elsewhere.
    pub size: u64,
    rows: Rows,
}

enum Rows {
    Texts(RecordBatch, Arc<Vec<(ColumnName, Field)>>),
    /// A batch as somebody else made it, which has to be checked.
    Batch(RecordBatch, Arc<Whole>),
    Group(RowGroup),
}

/// Returns true if a file is a table, by the end of its name.
pub fn is_table_name(name: &str) -> bool {
    let plain = plain_name(name);
    PARQUET_ENDS.iter().chain(&[".csv", ".tsv"]).any(|end| plain.ends_with(end))
}

/// A name in lower case, without the end that says that it is packed.
fn plain_name(name: &str) -> String {
    let mut name = name.to_lowercase();
    let plain_len = name.trim_end_matches(".gz").trim_end_matches(".zst").len();
    name.truncate(plain_len);
    name
}

/// The columns of a Parquet file.
///
/// # Errors
///
/// [`Error::Io`] or [`Error::Query`] for a file that can't be read.
pub(super) fn parquet_schema(path: &Path) -> Result<SchemaRef> {
    Ok(Arc::clone(ParquetFile::open(path)?.schema()))
}

impl Source {
    /// Opens a table. `type_of` says for a column of a CSV file of which type it is; `None` leaves
    /// that to its first rows.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Query`] for a file that can't be read.
    pub(in crate::tables) fn open(
        table: Table,
        options: &TableOptions,
        type_of: impl Fn(&str) -> Option<ValueType>,
    ) -> Result<Source> {
        let path = match table {
            Table::Batches(batches) => {
                let (name, schema) = ("<table>".to_owned(), batches.schema());
                return Ok(Source { name, schema, kind: Kind::Batches(batches) });
            }
            Table::File(path) => path,
        };
        let name = path.display().to_string();
        let plain = plain_name(&name);
        if PARQUET_ENDS.iter().any(|end| plain.ends_with(end)) {
            let file = ParquetFile::open(&path)?;
            let schema = Arc::clone(file.schema());
            return Ok(Source { name, schema, kind: Kind::Parquet(file) });
        }
        let usual = match () {
            () if plain.ends_with(".csv") => b',',
            () if plain.ends_with(".tsv") => b'\t',
            () => {
                let what = "a table is read from .parquet, .csv or .tsv";
                return Err(Error::query(format!("{name}: {what}")));
            }
        };
        let file = TextFile::find(path, options.encoding)?;
        let delimiter = options.separator.map_or_else(|| file.separator(usual), Ok)?;
        let format = Format::default().with_header(true).with_delimiter(delimiter);
        let inferred = format.infer_schema(file.open()?, Some(INFERRED_ROWS));
        let fault =
            |error| unclosed(&name, &file, delimiter).unwrap_or_else(|| uneven(&name, error));
        let (inferred, _) = inferred.map_err(fault)?;
        let inferred = without_gaps(inferred, format, &file, &name)?;
        let fields = inferred.fields().iter();
        let fields = fields.map(|field| csv_field(field, type_of(field.name())));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
        let progress = options.progress.clone();
        Ok(Source { name, schema, kind: Kind::Csv { file, delimiter, progress } })
    }

    /// The bytes of the file, 0 where there is none.
    pub(in crate::tables) fn size(&self) -> u64 {
        match &self.kind {
            Kind::Batches(_) => 0,
            Kind::Csv { file, .. } => fs::metadata(&file.path).map_or(0, |file| file.len()),
            Kind::Parquet(file) => file.size(),
        }
    }

    /// The file, where its rows are lines of text.
    pub(super) fn text_file(&self) -> Option<TextFile> {
        match &self.kind {
            Kind::Csv { file, .. } => Some(file.clone()),
            _ => None,
        }
    }

    /// The columns at `places`, which ascend. Rows are counted from `first_row` on.
    ///
    /// # Errors
    ///
    /// As [`Source::open`].
    pub(super) fn pieces(self, places: Vec<usize>, first_row: u64) -> Result<Pieces> {
        let Source { name, schema, kind } = self;
        let stream = match kind {
            Kind::Batches(batches) => {
                let (name, places) = (name.clone(), places.clone());
                let of = Arc::new(Whole { name, places, first_row });
                let table = Arc::clone(&of);
                let batches = batches.map(move |batch| batch?.project(&table.places));
                Stream::Batches { batches: Box::new(batches), of, rest: None }
            }
            Kind::Csv { file, delimiter, progress } => {
                let fields = schema.fields().iter();
                let texts = fields.map(|field| Field::new(field.name(), DataType::Utf8, true));
                let texts = Arc::new(Schema::new(texts.collect::<Vec<Field>>()));
                let column = |&place: &usize| {
                    let field = schema.field(place).clone();
                    (ColumnName { name: field.name().clone(), place }, field)
                };
                let columns = Arc::new(places.iter().map(column).collect());
                let counted = Counted { file: open_file(&file.path)?, progress };
                let input = decompressed(counted, &file.path.display().to_string())?;
                let input = Closed::new(decoded(input, file.encoding), delimiter);
                let reader = ReaderBuilder::new(texts)
                    .with_header(true)
                    .with_delimiter(delimiter)
                    .with_batch_size(PIECE_ROWS)
                    .with_projection(places)
                    .build(input);
                let batches = Box::new(reader.map_err(|error| unreadable(&name, error))?);
                Stream::Texts { batches, columns, file, separator: delimiter }
            }
            Kind::Parquet(file) => {
                Stream::Groups { file: Arc::new(file.with_columns(places)), next: 0 }
            }
        };
        Ok(Pieces { name, stream, next_row: first_row })
    }
}

/// A file whose read bytes are counted.
struct Counted {
    file: File,
    progress: LoadProgress,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.progress.add(count as u64);
        Ok(count)
    }
}

/// Guesses columns of texts again, as if "n/a" and its like were not there: one that has but numbers then is one of numbers.
fn without_gaps(inferred: Schema, format: Format, file: &TextFile, name: &str) -> Result<Schema> {
    let is_text = |field: &Arc<Field>| *field.data_type() == DataType::Utf8;
    if !inferred.fields().iter().any(is_text) {
        return Ok(inferred);
    }
    let gaps = Regex::new(&gap_pattern()).map_err(|error| unreadable(name, error))?;
    let again = format.with_null_regex(gaps).infer_schema(file.open()?, Some(INFERRED_ROWS));
    let (again, _) = again.map_err(|error| uneven(name, error))?;
    let both = inferred.fields().iter().zip(again.fields());
    let fields = both.map(|(before, now)| match now.data_type() {
        // Nothing but gaps: they may mean something, as "NA" does for Namibia.
        DataType::Null => Arc::clone(before),
        _ => Arc::clone(now),
    });
    Ok(Schema::new(fields.collect::<Vec<_>>()))
}

fn csv_field(field: &Field, wanted: Option<ValueType>) -> Field {
    let data_type = match (wanted, field.data_type()) {
        (Some(ValueType::Int), _) => DataType::Int64,
        (Some(ValueType::Float), _) => DataType::Float64,
        (Some(ValueType::Bool), _) => DataType::Boolean,
        // Later rows may have fractions of seconds where the first have none.
        (None | Some(ValueType::DateTime), DataType::Timestamp(..)) => {
            DataType::Timestamp(TimeUnit::Microsecond, None)
        }
        (Some(ValueType::DateTime), DataType::Date32) => DataType::Date32,
        (Some(_), _) | (None, DataType::Null) => DataType::Utf8,
        (None, inferred) => inferred.clone(),
    };
    Field::new(field.name(), data_type, true)
}

impl Pieces {
    /// The next pieces, about `count` of them; none at the end.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for what can't be read.
    pub(in crate::tables) fn take(&mut self, count: usize) -> Result<Vec<Piece>> {
        let mut pieces = Vec::new();
        while pieces.len() < count {
            let Some((rows, len, size)) = self.next()? else { break };
            pieces.push(Piece { first_row: self.next_row, len, size, rows });
            self.next_row += len;
        }
        Ok(pieces)
    }

    fn next(&mut self) -> Result<Option<(Rows, u64, u64)>> {
        match &mut self.stream {
            Stream::Texts { batches, columns, file, separator } => {
                let Some(batch) = batches.next() else { return Ok(None) };
                let batch = batch.map_err(|error| {
                    let fault = unclosed(&self.name, file, *separator);
                    fault.unwrap_or_else(|| uneven_row(&self.name, file, error))
                })?;
                let len = batch.num_rows() as u64;
                Ok(Some((Rows::Texts(batch, Arc::clone(columns)), len, 0)))
            }
            Stream::Batches { batches, of, rest } => {
                let batch = match rest.take() {
                    Some(batch) => batch,
                    None => match batches.next() {
                        None => return Ok(None),
                        Some(batch) => batch.map_err(|error| unreadable(&self.name, error))?,
                    },
                };
                let len = batch.num_rows().min(PIECE_ROWS);
                if len < batch.num_rows() {
                    *rest = Some(batch.slice(len, batch.num_rows() - len));
                }
                let rows = Rows::Batch(batch.slice(0, len), Arc::clone(of));
                Ok(Some((rows, len as u64, 0)))
            }
            Stream::Groups { file, next } => {
                let Some(group) = file.group(*next) else { return Ok(None) };
                *next += 1;
                let (rows, size) = (group.rows, group.size);
                Ok(Some((Rows::Group(group), rows, size)))
            }
        }
    }
}

impl Piece {
    /// Calls `each` with the batches of the piece, the place of the first row of each, and its
    /// texts that are no values of their column.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for what can't be read; those of `each`.
    pub(in crate::tables) fn for_each(
        &self,
        mut each: impl FnMut(&RecordBatch, u64, Vec<Fault>) -> Result<()>,
    ) -> Result<()> {
        match &self.rows {
            Rows::Batch(batch, of) => {
                check_batch(batch, of, self.first_row)?;
                each(batch, self.first_row, Vec::new())
            }
            Rows::Texts(batch, columns) => {
                let (batch, faults) = typed_columns(batch, columns, self.first_row)?;
                each(&batch, self.first_row, faults)
            }
            Rows::Group(group) => {
                group.for_each(|batch, row| each(batch, self.first_row + row, Vec::new()))
            }
        }
    }
}

/// Parses texts as values of the types of their columns. Returns the values, and the texts that are none; those that stand for missing
/// values in many tables, such as "n/a", are missing.
fn typed_columns(
    batch: &RecordBatch,
    columns: &[(ColumnName, Field)],
    first_row: u64,
) -> Result<(RecordBatch, Vec<Fault>)> {
    let mut faults = Vec::new();
    let lenient = CastOptions { safe: true, ..CastOptions::default() };
    let mut arrays = Vec::with_capacity(columns.len());
    for (texts, (column, field)) in batch.columns().iter().zip(columns) {
        let cast = cast_with_options(texts, field.data_type(), &lenient);
        let cast = cast.map_err(|error| Error::query(format!("{}: {error}", column.name)))?;
        if texts.null_count() < cast.null_count() {
            let texts = texts.as_string::<i32>();
            for row in (0..texts.len()).filter(|&row| cast.is_null(row) && !texts.is_null(row)) {
                if is_gap(texts.value(row)) {
                    continue;
                }
                let text = shown(ValueRef::String(texts.value(row)));
                let wanted = natural_type(field.data_type()).ok().flatten();
                let wanted = wanted.map_or(ValueType::String, |(value_type, _)| value_type);
                let reason = CellError::Untyped { wanted }.of_value(text).expecting(wanted);
                let reason = CellError::Guessed { reason: Box::new(reason) };
                faults.push(column.fault(first_row + row as u64, reason));
            }
        }
        arrays.push(cast);
    }
    let fields: Vec<Field> = columns.iter().map(|(_, field)| field.clone()).collect();
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let typed = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &rows);
    Ok((typed.map_err(|error| Error::query(error.to_string()))?, faults))
}

/// The error for a quote that is not closed, where there is one: it is why the last record has other cells than it seems.
fn unclosed(name: &str, text: &TextFile, separator: u8) -> Option<Error> {
    // What can't be read any more is told by the error that asks.
    let line = unclosed_line(text, separator).ok()??;
    let message =
        "a quote opens here that is never closed; within quotes, write two for one".to_owned();
    Some(Error::Load { file: name.to_owned(), line, column: 1, message })
}

/// The error for a line with more or fewer cells than there are columns.
fn uneven(name: &str, error: ArrowError) -> Error {
    let mut text = error.to_string();
    if text.to_lowercase().contains("invalid utf-8") {
        text.push_str("; name its encoding, encoding=\"windows-1252\" for instance");
    }
    let line = text.split_once("line ").map(|(_, rest)| rest);
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
    match line.and_then(|rest| digits(rest).parse().ok()) {
        Some(line) => Error::Load { file: name.to_owned(), line, column: 1, message: text },
        None => unreadable(name, text),
    }
}

/// The same, where the reader counts the rows, the names as the first one, and not the lines.
fn uneven_row(name: &str, text: &TextFile, error: ArrowError) -> Error {
    let (file, line, column, message) = match uneven(name, error) {
        Error::Load { file, line, column, message } => (file, line, column, message),
        other => return other,
    };
    let row = line.saturating_sub(1);
    let place = lines_of(Some(text), &[row.saturating_sub(1)]);
    let line = place.ok().and_then(|lines| lines.first().copied()).unwrap_or(line);
    // It says "for line" and means rows.
    let message = match message.split_once(", ") {
        Some((_, rest)) => format!("row {row}: {rest} cells"),
        None => message,
    };
    Error::Load { file, line, column, message }
}
