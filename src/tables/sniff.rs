//! Shows how the file of a table is read, without loading it.

use super::answers::text::{blanks_to, shown_cell, shown_width};
use super::answers::write::{RowFormat, write_rows};
use super::read::cells::{Cells, Form, natural_of};
use super::read::pages::memory::ReadMemory;
use super::read::source::Source;
use super::read::table_format::is_readable_name;
use super::shape::named::check_columns;
use super::shape::names::NameChooser;
use super::shape::options::{SniffedOption, Table, TableOptions};
use crate::db::{RequestContext, files_of};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
use hexgraph_base::budget::Budget;
use hexgraph_base::types::{Error, Result, ValueType};
use std::path::Path;
use std::sync::Arc;

/// The bytes for reading a file.
const MEMORY: u64 = 256 << 20;

/// How a file is read as a table.
#[derive(Debug)]
pub struct Sniffed {
    /// The file.
    pub file: String,
    /// What it is, in one line: `semicolon, header, utf-8, 2 columns`.
    pub description: String,
    /// The options with which a load reads it like this without detection.
    pub options: Vec<(&'static str, SniffedOption)>,
    /// Its columns.
    pub columns: Vec<SniffedColumn>,
    /// Its first rows, without the columns that no predicate can have.
    pub rows: RecordBatch,
    /// What is likely not meant, such as one column where no separator gives the lines as many
    /// fields.
    pub warnings: Vec<String>,
    /// Whether the types are those of all cells. Otherwise they are those of the first ones, and a
    /// load widens them.
    pub is_complete: bool,
}

/// A column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SniffedColumn {
    /// Its name.
    pub name: String,
    /// The predicate that a load makes of it; empty where it makes none.
    pub predicate: String,
    /// The type of the predicate, or why there is none.
    pub type_text: String,
}

/// Finds out how a file is read as a table, and reads its first rows, at most `limit` of them.
///
/// ```
/// use hexgraph::db::RequestContext;
/// use hexgraph::tables::{TableOptions, sniff};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("people.csv");
/// std::fs::write(&path, "name;born\nAda;1815\nGrace;1906\n").unwrap();
/// let sniffed = sniff(&path, &TableOptions::default(), 10, &RequestContext::new())?;
/// assert_eq!(sniffed.columns[1].type_text, "int");
/// assert_eq!(sniffed.rows.num_rows(), 2);
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// As a load, for a file that can't be read; [`Error::Query`] for several files.
pub fn sniff(
    path: &Path,
    options: &TableOptions,
    limit: usize,
    context: &RequestContext,
) -> Result<Sniffed> {
    let files = files_of(path, is_readable_name)?;
    let [path] = files.as_slice() else {
        let fault = format!("{}: these are {} files", path.display(), files.len());
        return Err(Error::query(fault).with_hint("name one of them"));
    };
    let memory = ReadMemory::new(&Budget::shared(), MEMORY);
    let type_of = |column: &str| options.types.get(column).copied();
    let open = || Source::open(Table::File(path.clone()), options, &memory, type_of);
    let source = open()?;
    let file = source.text_file();
    match shown(source, options, limit, memory.clone()) {
        // The first record is longer than the sample.
        Err(_) if file.is_some_and(|file| file.has_mismatch()) => {
            let mut source = open()?;
            Source::unify(&mut [&mut source], Some((&context.canceller(), &memory)))?;
            shown(source, options, limit, memory)
        }
        shown => shown,
    }
}

fn shown(
    source: Source,
    options: &TableOptions,
    limit: usize,
    memory: ReadMemory,
) -> Result<Sniffed> {
    let fields: Vec<Field> = source.schema.fields().iter().map(|it| it.as_ref().clone()).collect();
    check_columns(&source, options.types.keys())?;
    let columns = columns_of(&fields, options)?;
    let is_shown = |position: &usize| natural_of(&fields[*position]).is_ok();
    let positions: Vec<usize> = (0..fields.len()).filter(is_shown).collect();
    let (is_complete, mut written) = (source.is_inferred_from_all(), source.written_with());
    if is_complete && !written.is_empty() {
        let types = columns.iter().filter(|column| !column.predicate.is_empty());
        let types = types.map(|column| (column.name.clone(), element_of(&column.type_text)));
        written.push(("types", SniffedOption::Types(types.collect())));
    }
    let hint = source.text_file().and_then(|file| file.separator_hint());
    let (file, description) = (source.name.clone(), source.description());
    let rows = source.first_rows(positions, limit, memory)?;
    let (rows, unreadable) = as_values(&rows)
        .map_err(|error| Error::query(format!("{file}: the first rows: {error}")))?;
    let (options, warnings) = (written, hint.into_iter().chain(unreadable).collect());
    Ok(Sniffed { file, description, options, columns, rows, warnings, is_complete })
}

/// The rows with columns of the types that values have, and a sentence for each column whose cells
/// can't be read: these are nulls.
fn as_values(rows: &RecordBatch) -> std::result::Result<(RecordBatch, Vec<String>), ArrowError> {
    let (mut fields, mut arrays, mut unreadable) = (Vec::new(), Vec::new(), Vec::new());
    let schema = rows.schema();
    for (field, array) in schema.fields().iter().zip(rows.columns()) {
        let data_type = match natural_of(field) {
            Ok(Some((value_type, is_list))) => array_type(value_type, is_list),
            _ => DataType::Null,
        };
        let array = shown_array(array, &data_type).unwrap_or_else(|reason| {
            unreadable.push(format!("column {:?}: {reason}", field.name()));
            new_null_array(&data_type, array.len())
        });
        fields.push(Field::new(field.name(), data_type, true));
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    let rows = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options);
    Ok((rows?, unreadable))
}

/// The cells of a column as a load reads them, in an array of a type.
fn shown_array(array: &ArrayRef, data_type: &DataType) -> std::result::Result<ArrayRef, String> {
    let cast = |array: &ArrayRef| {
        let cast = cast_with_options(array, data_type, &CastOptions::default());
        cast.map_err(|error| error.to_string())
    };
    match data_type {
        DataType::Null => Ok(new_null_array(data_type, array.len())),
        // Arrow casts no UUIDs to texts.
        DataType::Utf8 => match Cells::of(array, Form::Natural) {
            Ok((Cells::Text(texts), _)) => cast(&(Arc::new(texts) as ArrayRef)),
            Ok(_) => cast(array),
            Err(reason) => Err(reason.to_string()),
        },
        _ => cast(array),
    }
}

/// Arrow's type for values of a type.
fn array_type(value_type: ValueType, is_list: bool) -> DataType {
    let one = match value_type {
        ValueType::Int => DataType::Int64,
        ValueType::Float => DataType::Float64,
        ValueType::Bool => DataType::Boolean,
        ValueType::DateTime => DataType::Timestamp(TimeUnit::Microsecond, None),
        ValueType::Vector => return array_type(ValueType::Float, true),
        _ => DataType::Utf8,
    };
    match is_list {
        true => DataType::LargeList(Arc::new(Field::new("item", one, true))),
        false => one,
    }
}

/// The predicates of columns, and their types.
fn columns_of(fields: &[Field], options: &TableOptions) -> Result<Vec<SniffedColumn>> {
    let mut names = NameChooser::new(options.names, fields.iter().map(Field::name));
    let column = |(position, field): (usize, &Field)| {
        let name = field.name().clone();
        let (predicate, type_text) = match natural_of(field) {
            Err(reason) => (String::new(), reason.to_string()),
            Ok(None) => (String::new(), "no value so far".to_owned()),
            Ok(Some((natural, is_list))) => {
                let requested = options.types.get(&name).copied();
                let value_type = requested.unwrap_or(natural);
                let is_list = is_list && value_type != ValueType::Vector;
                let type_text = value_type.name();
                let type_text =
                    if is_list { format!("[{type_text}]") } else { type_text.to_owned() };
                (names.choose(&name, position)?.into_owned(), type_text)
            }
        };
        Ok(SniffedColumn { name, predicate, type_text })
    };
    fields.iter().enumerate().map(column).collect()
}

/// The type of the items of a list.
fn element_of(type_text: &str) -> String {
    type_text.trim_matches(['[', ']']).to_owned()
}

impl Sniffed {
    /// The detected properties as lines: options, columns and their types, the first rows.
    ///
    /// ```
    /// use hexgraph::db::RequestContext;
    /// use hexgraph::tables::{TableOptions, sniff};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("people.csv");
    /// std::fs::write(&path, "name;born\nAda;1815\n").unwrap();
    /// let sniffed = sniff(&path, &TableOptions::default(), 10, &RequestContext::new())?;
    /// assert!(sniffed.text()?.contains("born"));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`write_rows`].
    pub fn text(&self) -> Result<String> {
        let mut lines = vec![format!("{}: {}", self.file, self.description)];
        lines.extend(self.warnings.iter().map(|warning| format!("warning: {warning}")));
        lines.push(String::new());
        let options = self.options.iter().filter(|(name, _)| *name != "types");
        let options: Vec<[String; 2]> =
            options.map(|(name, value)| [(*name).to_owned(), value.to_string()]).collect();
        if !options.is_empty() {
            lines.extend(aligned(&options));
            lines.push(String::new());
        }
        let title = ["column", "predicate", "type"].map(str::to_owned);
        let columns = self.columns.iter();
        let columns = columns.map(|column| {
            [column.name.clone(), column.predicate.clone(), column.type_text.clone()]
        });
        let columns: Vec<[String; 3]> = std::iter::once(title).chain(columns).collect();
        lines.extend(aligned(&columns));
        if !self.is_complete {
            let note = "The types are those of the first cells; a load looks at all of them.";
            lines.push(note.to_owned());
        }
        lines.push(String::new());
        let mut rows = Vec::new();
        write_rows(&self.rows, RowFormat::Table, &|_| Ok(()), &mut rows)?;
        lines.push(String::from_utf8_lossy(&rows).into_owned());
        Ok(lines.join("\n"))
    }
}

impl std::fmt::Display for SniffedOption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SniffedOption::Text(text) if text.is_empty() => f.write_str("none"),
            SniffedOption::Text(text) => match text.as_str() {
                "\t" => f.write_str("tab"),
                " " => f.write_str("blank"),
                text => f.write_str(text),
            },
            SniffedOption::Flag(is_so) => write!(f, "{is_so}"),
            SniffedOption::Number(number) => write!(f, "{number}"),
            SniffedOption::Texts(texts) => write!(f, "{texts:?}"),
            SniffedOption::Types(types) => write!(f, "{types:?}"),
        }
    }
}

/// Rows of texts as lines with columns.
fn aligned<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let rows: Vec<[String; N]> =
        rows.iter().map(|row| std::array::from_fn(|column| shown_cell(&row[column]))).collect();
    let widths: [usize; N] = std::array::from_fn(|column| {
        rows.iter().map(|row| shown_width(&row[column])).max().unwrap_or(0)
    });
    let line = |row: &[String; N]| {
        let cells =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell}{}", blanks_to(cell, width)));
        cells.collect::<Vec<String>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
