//! Parquet files, each of whose row groups is read by itself.
//!
//! Rows are placed by what the metadata say of the groups before. That is a claim: it is checked when the file is opened as far as the
//! metadata contradict themselves, and again when a group was read. Nothing is made room for by it.

use super::opened::{open_file, unreadable};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use hexgraph_base::types::Result;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest number of rows that are read at once. A piece of a Parquet file is a row group, which may have more.
pub(super) const PIECE_ROWS: usize = 1 << 16;

/// More rows than any file has. Places of ids are numbers of rows, times a few, in 64 bits.
const ROWS_MAX: u64 = 1 << 48;

/// A Parquet file whose metadata were read.
pub(super) struct ParquetFile {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    /// The columns that are read.
    columns: ProjectionMask,
    /// Whether none of them is asked for: then one is read for the number of its rows.
    is_counted: bool,
}

/// A row group of a file.
pub(super) struct RowGroup {
    file: Arc<ParquetFile>,
    place: usize,
    /// The number of rows that it says it has.
    pub rows: u64,
    /// The bytes that it says it takes.
    pub size: u64,
}

impl ParquetFile {
    /// Reads the metadata of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](hexgraph_base::types::Error::Io), or
    /// [`Error::Query`](hexgraph_base::types::Error::Query) for a file that is none, or whose metadata contradict themselves.
    pub(super) fn open(path: &Path) -> Result<ParquetFile> {
        let (file, name) = (open_file(path)?, path.display().to_string());
        let load = || ArrowReaderMetadata::load(&file, ArrowReaderOptions::new());
        let metadata = undamaged(&name, load)?.map_err(|error| unreadable(&name, error))?;
        check_counts(metadata.metadata()).map_err(|fault| unreadable(&name, fault))?;
        let columns = ProjectionMask::all();
        Ok(ParquetFile { path: path.to_owned(), metadata, columns, is_counted: false })
    }

    /// Its columns.
    pub(super) fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// About the bytes of all row groups, as they say.
    pub(super) fn size(&self) -> u64 {
        let groups = self.metadata.metadata().row_groups().iter();
        groups.map(size_of_group).fold(0, u64::saturating_add)
    }

    /// The same file, of which these columns alone are read.
    pub(super) fn with_columns(self, places: Vec<usize>) -> ParquetFile {
        let is_counted = places.is_empty();
        let places = if is_counted { vec![0] } else { places };
        let columns = ProjectionMask::roots(self.metadata.parquet_schema(), places);
        ParquetFile { columns, is_counted, ..self }
    }

    /// A row group; `None` where there are not so many.
    pub(super) fn group(self: &Arc<Self>, place: usize) -> Option<RowGroup> {
        let group = self.metadata.metadata().row_groups().get(place)?;
        let (rows, size) = (rows_of(group).unwrap_or_default(), size_of_group(group));
        Some(RowGroup { file: Arc::clone(self), place, rows, size })
    }
}

impl RowGroup {
    /// Calls `each` with the batches of the group, and the place of the first row of each within it.
    ///
    /// # Errors
    ///
    /// [`Error::Query`](hexgraph_base::types::Error::Query) for what can't be read, and where there are more or fewer rows than it says it has;
    /// those of `each`.
    pub(super) fn for_each(
        &self,
        mut each: impl FnMut(&RecordBatch, u64) -> Result<()>,
    ) -> Result<()> {
        let RowGroup { file, place, rows, .. } = self;
        let name = file.path.display().to_string();
        // A file of its own: clones of one share the place where they read.
        let input = open_file(&file.path)?;
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(input, file.metadata.clone())
                .with_row_groups(vec![*place])
                .with_projection(file.columns.clone())
                .with_batch_size(PIECE_ROWS);
        let reader = undamaged(&name, || builder.build())?;
        let mut reader = reader.map_err(|error| unreadable(&name, error))?;
        let mut read = 0;
        while let Some(batch) = undamaged(&name, || reader.next())? {
            let mut batch = batch.map_err(|error| unreadable(&name, error))?;
            if file.is_counted {
                batch = batch.project(&[]).map_err(|error| unreadable(&name, error))?;
            }
            let first = read;
            read += batch.num_rows() as u64;
            if *rows < read {
                break;
            }
            each(&batch, first)?;
        }
        if read != *rows {
            let counts = if read < *rows { "fewer" } else { "more" };
            let fault = format!("row group {place} says that it has {rows} rows, and has {counts}");
            return Err(unreadable(&name, fault));
        }
        Ok(())
    }
}

/// Calls what reads bytes of a file, which may be anything: where they are not what the library takes for granted it panics.
///
/// # Errors
///
/// [`Error::Query`](hexgraph_base::types::Error::Query) where it did.
fn undamaged<T>(name: &str, read: impl FnOnce() -> T) -> Result<T> {
    let done = catch_unwind(AssertUnwindSafe(read));
    done.map_err(|_| unreadable(name, "the file is damaged"))
}

/// The rows that a group says it has; `None` for a number below 0.
fn rows_of(group: &RowGroupMetaData) -> Option<u64> {
    u64::try_from(group.num_rows()).ok()
}

fn size_of_group(group: &RowGroupMetaData) -> u64 {
    let columns = group.columns().iter();
    columns.map(|column| column.compressed_size().max(0) as u64).fold(0, u64::saturating_add)
}

/// Compares what metadata say of numbers of rows with each other.
///
/// # Errors
///
/// What can't be.
fn check_counts(metadata: &ParquetMetaData) -> std::result::Result<(), String> {
    let mut sum = 0_u64;
    for (place, group) in metadata.row_groups().iter().enumerate() {
        let fault = |what: &str| {
            Err(format!("row group {place} says that it has {} rows{what}", group.num_rows()))
        };
        let Some(rows) = rows_of(group) else { return fault("") };
        if group.columns().is_empty() && 0 < rows {
            return fault(" and no columns");
        }
        for column in group.columns() {
            let (values, is_list) =
                (column.num_values(), 0 < column.column_descr().max_rep_level());
            // A column without lists has a value, or none, in each row, and one with lists has at least one.
            if values < group.num_rows() || !is_list && values != group.num_rows() {
                return fault(&format!(", and that a column of it has {values} values"));
            }
        }
        sum = sum.saturating_add(rows);
    }
    let said = metadata.file_metadata().num_rows();
    if u64::try_from(said) != Ok(sum) || ROWS_MAX < sum {
        return Err(format!("it says that it has {said} rows, and its row groups say {sum}"));
    }
    Ok(())
}
