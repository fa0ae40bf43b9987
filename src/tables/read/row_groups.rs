//! Parquet files, each of whose row groups is read by itself, or in ranges of rows where it takes
//! much memory.
//!
//! Rows are placed by what the metadata say of the groups before. That is a claim: it is checked
//! when the file is opened as far as the metadata contradict themselves, and again when a group was
//! read. Nothing is made space for by it.

use super::opened::{failed, open_file, unreadable};
use super::pages::group::{GroupPages, RangePages};
use super::pages::memory::ReadMemory;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use hexgraph_base::budget::Held;
use hexgraph_base::types::Result;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, RowSelection, RowSelector,
};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest number of rows that are read at once. A chunk of a Parquet file is a row group,
/// which may have more.
pub(super) const CHUNK_ROWS: usize = 1 << 16;

/// More rows than any file has. Positions of ids are numbers of rows, times a few, in 64 bits.
const ROWS_MAX: u64 = 1 << 48;

/// A Parquet file whose metadata were read.
pub(super) struct ParquetFile {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    /// The columns that are read.
    columns: ProjectionMask,
    /// Whether none of them is requested: then one is read for the number of its rows.
    is_counted: bool,
    /// The memory of the metadata.
    _held: Arc<Held>,
}

/// A range of rows of a row group.
pub(super) struct RowGroup {
    file: Arc<ParquetFile>,
    position: usize,
    pages: Arc<GroupPages>,
    range: Range<u64>,
    /// The number of rows that the row group says it has.
    group_rows: u64,
    /// The bytes of the file that the range takes.
    pub size: u64,
    /// The bytes of memory that it takes to be read.
    pub cost: u64,
    memory: ReadMemory,
}

/// Where the next range of a file begins.
#[derive(Default)]
pub(super) struct Position {
    group: usize,
    row: u64,
    /// The headers of the pages of the row group, where a part of it was read.
    pages: Option<Arc<GroupPages>>,
}

/// The bytes at the end of a file that say how long its metadata are.
const FOOTER_LEN: u64 = 8;

/// The bytes that a byte of the metadata becomes: a chunk of a column with all of its fields has
/// some 30 in the file.
const METADATA_COPIES: u64 = 32;

/// The bytes of the metadata of a file, as it says itself, but for what the file does not have.
fn footer_len(file: &mut File) -> io::Result<u64> {
    let len = file.metadata()?.len();
    let Some(start) = len.checked_sub(FOOTER_LEN) else { return Ok(0) };
    let mut footer = [0; 4];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut footer)?;
    file.rewind()?;
    Ok(u64::from(u32::from_le_bytes(footer)).min(len))
}

impl ParquetFile {
    /// Reads the metadata of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](hexgraph_base::types::Error::Io), or
    /// [`Error::Query`](hexgraph_base::types::Error::Query) for a file that is none, or whose
    /// metadata contradict themselves; [`Error::Limit`](hexgraph_base::types::Error::Limit) where
    /// there is no memory for the metadata.
    pub(super) fn open(path: &Path, memory: &ReadMemory) -> Result<ParquetFile> {
        let (mut file, name) = (open_file(path)?, path.display().to_string());
        let footer_len = footer_len(&mut file).map_err(|error| failed(path, error))?;
        let reading = memory.reserve(footer_len.saturating_mul(METADATA_COPIES))?;
        let load = || ArrowReaderMetadata::load(&file, ArrowReaderOptions::new());
        let metadata = undamaged(&name, load)?.map_err(|error| unreadable(&name, error))?;
        let own = metadata.metadata().memory_size() as u64 + footer_len;
        drop(reading);
        let _held = Arc::new(memory.reserve(own)?);
        check_counts(metadata.metadata()).map_err(|fault| unreadable(&name, fault))?;
        let has_rows = |group: &RowGroupMetaData| group.num_rows() != 0;
        let groups = metadata.metadata().row_groups();
        if metadata.schema().fields().is_empty() && groups.iter().any(has_rows) {
            return Err(unreadable(&name, "it has rows, and no columns"));
        }
        let columns = ProjectionMask::all();
        Ok(ParquetFile { path: path.to_owned(), metadata, columns, is_counted: false, _held })
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

    /// The same file, restricted to these columns.
    pub(super) fn with_columns(self, positions: Vec<usize>) -> ParquetFile {
        let is_counted = positions.is_empty();
        let columns = match (is_counted, self.schema().fields().is_empty()) {
            (_, true) => ProjectionMask::all(),
            (true, false) => ProjectionMask::roots(self.metadata.parquet_schema(), [0]),
            (false, false) => ProjectionMask::roots(self.metadata.parquet_schema(), positions),
        };
        ParquetFile { columns, is_counted, ..self }
    }

    /// The next row group, or the next rows of it where all need more memory than a chunk may use;
    /// `None` at the end.
    ///
    /// # Errors
    ///
    /// [`Error::Query`](hexgraph_base::types::Error::Query) for a row group that is damaged,
    /// [`Error::Limit`](hexgraph_base::types::Error::Limit) for a row that takes more memory than
    /// there may be.
    pub(super) fn next(
        self: &Arc<Self>,
        position: &mut Position,
        memory: &ReadMemory,
    ) -> Result<Option<RowGroup>> {
        let slot = position.group;
        let Some(group) = self.metadata.metadata().row_groups().get(slot) else { return Ok(None) };
        let pages = match position.pages.take() {
            Some(pages) => pages,
            None => Arc::new(self.pages_of(group, memory)?),
        };
        let group_rows = rows_of(group).unwrap_or_default();
        let (range, cost) = self.fitting(&pages, (slot, position.row, group_rows), memory)?;
        let part = u128::from(size_of_group(group)) * u128::from(range.end - range.start);
        let size = (part / u128::from(group_rows.max(1))) as u64;
        *position = match range.end == group_rows {
            true => Position { group: slot + 1, ..Position::default() },
            false => Position { group: slot, row: range.end, pages: Some(Arc::clone(&pages)) },
        };
        let (file, memory) = (Arc::clone(self), memory.clone());
        Ok(Some(RowGroup { file, position: slot, pages, range, group_rows, size, cost, memory }))
    }

    fn pages_of(&self, group: &RowGroupMetaData, memory: &ReadMemory) -> Result<GroupPages> {
        let (name, file) = (self.path.display().to_string(), open_file(&self.path)?);
        let read = || GroupPages::read(file, group, &self.columns, memory.round_len());
        undamaged(&name, read)?.map_err(|fault| unreadable(&name, fault))
    }

    /// The most rows from `start` on that need no more memory than a chunk may use, and their
    /// memory. Where its pages alone need more, that much is added for rows.
    fn fitting(
        &self,
        pages: &GroupPages,
        (position, start, group_rows): (usize, u64, u64),
        memory: &ReadMemory,
    ) -> Result<(Range<u64>, u64)> {
        let least = pages.cost(&(start..start));
        let most = least.saturating_add(memory.chunk_len() / 2).max(memory.chunk_len());
        let most = most.min(memory.round_len());
        let mut rows = group_rows - start;
        let cost = loop {
            let cost = pages.cost(&(start..start + rows));
            if cost <= most {
                return Ok((start..start + rows, cost));
            }
            if rows <= 1 {
                break cost;
            }
            rows /= 2;
        };
        if cost <= memory.round_len() {
            return Ok((start..start + rows, cost));
        }
        let what = format!("row {start} of row group {position} of {}", self.path.display());
        Err(memory.too_large(&what, cost))
    }
}

impl RowGroup {
    /// The number of its rows.
    pub(super) fn rows(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Calls `each` with the batches of the range, and the position of the first row of each within
    /// it.
    ///
    /// # Errors
    ///
    /// [`Error::Query`](hexgraph_base::types::Error::Query) for what can't be read, and where there
    /// are more or fewer rows than it says it has;
    /// [`Error::Limit`](hexgraph_base::types::Error::Limit) for lists that need more memory than
    /// there is; those of `each`.
    pub(super) fn for_each(
        &self,
        mut each: impl FnMut(&RecordBatch, u64) -> Result<()>,
    ) -> Result<()> {
        let (file, position, rows) = (&self.file, self.position, self.rows());
        let name = file.path.display().to_string();
        let group = (Arc::clone(file.metadata.metadata()), position);
        let part = (Arc::clone(&self.pages), &self.range);
        let input = RangePages::open(&file.path, group, part, &self.memory)?;
        let lists = input.lists();
        let selection = (rows != self.group_rows).then(|| {
            let before = RowSelector::skip(self.range.start as usize);
            RowSelection::from(vec![before, RowSelector::select(rows as usize)])
        });
        let build = || {
            let (schema, columns) = (file.metadata.parquet_schema(), file.columns.clone());
            let fields = file.metadata.schema().fields();
            let levels = parquet_to_arrow_field_levels(schema, columns, Some(fields))?;
            let batch_rows = CHUNK_ROWS.min(rows.max(1) as usize);
            ParquetRecordBatchReader::try_new_with_row_groups(
                &levels, &input, batch_rows, selection,
            )
        };
        let mut reader = undamaged(&name, build)?.map_err(|error| unreadable(&name, error))?;
        let mut read = 0;
        while let Some(batch) = undamaged(&name, || reader.next())? {
            let failed = |error| lists.fault().unwrap_or_else(|| unreadable(&name, error));
            let mut batch = batch.map_err(failed)?;
            if file.is_counted {
                batch = batch.project(&[]).map_err(|error| unreadable(&name, error))?;
            }
            let first = read;
            read += batch.num_rows() as u64;
            if rows < read {
                break;
            }
            each(&batch, first)?;
            lists.end_batch();
        }
        if read != rows {
            let counts = if read < rows { "fewer" } else { "more" };
            let rows = self.group_rows;
            let fault =
                format!("row group {position} says that it has {rows} rows, and has {counts}");
            return Err(unreadable(&name, fault));
        }
        Ok(())
    }
}

/// Calls what reads bytes of a file, which may be anything: where they are not what the library
/// takes for granted it panics.
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
    for (position, group) in metadata.row_groups().iter().enumerate() {
        let fault = |what: &str| {
            Err(format!("row group {position} says that it has {} rows{what}", group.num_rows()))
        };
        let Some(rows) = rows_of(group) else { return fault("") };
        if group.columns().is_empty() && 0 < rows {
            return fault(" and no columns");
        }
        for column in group.columns() {
            let (values, is_list) =
                (column.num_values(), 0 < column.column_descr().max_rep_level());
            // A column without lists has a value, or none, in each row, and one with lists has at
            // least one.
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

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{ArrayRef, Int64Array};
    use arrow_schema::{DataType, Field, Schema};
    use hexgraph_base::budget::Budget;
    use parquet::arrow::ArrowWriter;

    /// A file of so many columns with a row each.
    fn wide_file(columns: usize) -> tempfile::NamedTempFile {
        let field = |at| Field::new(format!("c{at}"), DataType::Int64, true);
        let schema = Arc::new(Schema::new((0..columns).map(field).collect::<Vec<_>>()));
        let array = || Arc::new(Int64Array::from(vec![1])) as ArrayRef;
        let batch = RecordBatch::try_new(schema.clone(), (0..columns).map(|_| array()).collect());
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut writer = ArrowWriter::try_new(file.reopen().unwrap(), schema, None).unwrap();
        writer.write(&batch.unwrap()).unwrap();
        writer.close().unwrap();
        file
    }

    /// Nothing was reserved for them: a footer of a file may be as long as the file.
    #[test]
    fn the_memory_of_metadata_is_reserved() {
        let (file, budget) = (wide_file(2_000), Budget::new(1 << 30));
        let memory = ReadMemory::new(&budget, 0);
        let opened = ParquetFile::open(file.path(), &memory).unwrap();
        let own = opened.metadata.metadata().memory_size() as u64;
        assert!(own <= budget.peak(), "{own}");
        let footer = footer_len(&mut file.reopen().unwrap()).unwrap();
        assert!(own <= footer * METADATA_COPIES, "{own} of {footer}");
        drop((opened, memory));
        budget.forget_peak();
        assert_eq!(budget.peak(), 0);
        let memory = ReadMemory::new(&Budget::new(1 << 20), 0);
        let error = ParquetFile::open(file.path(), &memory).err().unwrap();
        assert!(matches!(error, hexgraph_base::types::Error::Limit { .. }), "{error}");
    }
}
