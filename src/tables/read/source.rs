//! Tables in chunks that threads can read side by side.
//!
//! A stream of batches is cut into chunks as it comes. A Parquet file is cut into its row groups,
//! and each is decoded by the thread that reads it. What its metadata say of rows positions the
//! chunks, so it has to be what is read.

use super::arrow_file::{ArrowFile, error_of};
use super::checked::{Full, check_batch};
use super::csv::file::{BATCH_ROWS, CsvFile};
use super::csv::reader::{TextBatch, TextReader};
use super::json::{JsonFile, JsonRows};
use super::pages::memory::ReadMemory;
use super::path_columns::{PathColumn, case_clashes, columns_of, with_columns, without_own};
use super::row_groups::{CHUNK_ROWS, ParquetFile, Position, RowGroup};
use super::table_format::TableFormat;
use crate::db::{Canceller, LoadProgress};
use crate::tables::shape::options::{SniffedOption, Table, TableOptions};
use crate::tables::shape::parts::Fault;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use hexgraph_base::budget::Held;
use hexgraph_base::formats::ChunkReader;
use hexgraph_base::types::{Error, Result, ValueType};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// A table that was opened.
pub(in crate::tables) struct Source {
    /// The name by which errors refer to it.
    pub name: String,
    /// All its columns.
    pub schema: SchemaRef,
    kind: Kind,
    /// The columns that the path of the file gives; they are the last ones.
    path_columns: Vec<PathColumn>,
    /// The partitions of the path that are not loaded, as sentences.
    pub notes: Vec<String>,
}

enum Kind {
    Arrow(Box<ArrowFile>),
    Json(Arc<JsonFile>),
    Batches(Box<dyn arrow_array::RecordBatchReader + Send>),
    Csv { file: Arc<CsvFile>, progress: LoadProgress },
    Parquet(ParquetFile),
}

/// A stream of chunks with some columns of a table.
pub(in crate::tables) struct Chunks {
    name: String,
    stream: Stream,
    path_columns: Arc<[PathColumn]>,
    memory: ReadMemory,
    next_row: u64,
}

enum Stream {
    /// Rows of a file of JSON, and the columns of it that are read.
    Json {
        chunks: Box<ChunkReader<'static>>,
        positions: Arc<[usize]>,
        file: Arc<JsonFile>,
    },
    /// Records of a text file, and the columns of it that are read.
    Texts {
        reader: Box<TextReader<Box<dyn Read + Send>>>,
        positions: Arc<[usize]>,
        file: Arc<CsvFile>,
        /// The lines of records that were left out.
        skipped: Vec<u64>,
        /// The number of records with missing fields.
        filled: u64,
    },
    Batches {
        batches: Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>,
        of: Arc<Full>,
        /// The part of the file that was not cut into chunks yet.
        rest: Option<RecordBatch>,
    },
    Groups {
        file: Arc<ParquetFile>,
        next: Position,
    },
}

/// A chunk: some consecutive rows of a table.
pub(in crate::tables) struct Chunk {
    /// The number of the first row in the table, from 0.
    pub first_row: u64,
    /// The number of rows.
    pub len: u64,
    /// The bytes of the file of the rows, where they are not counted elsewhere.
    pub size: u64,
    rows: Rows,
    path_columns: Arc<[PathColumn]>,
    /// The memory that it takes.
    _held: Held,
}

/// What comes next.
struct Next {
    rows: Rows,
    len: u64,
    size: u64,
    held: Held,
}

enum Rows {
    Json(JsonRows, Arc<JsonFile>, Arc<[usize]>),
    Texts(TextBatch, Arc<CsvFile>, Arc<[usize]>),
    /// A batch as somebody else made it, which has to be checked.
    Batch(RecordBatch, Arc<Full>),
    Group(RowGroup),
}

/// The columns of a Parquet file.
///
/// # Errors
///
/// [`Error::Io`] or [`Error::Query`] for a file that can't be read.
pub(super) fn parquet_schema(path: &Path, memory: &ReadMemory) -> Result<SchemaRef> {
    Ok(Arc::clone(ParquetFile::open(path, memory)?.schema()))
}

impl Source {
    /// Opens a table. `type_of` returns the type of a column of a text file; `None` infers it from
    /// the cells.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Query`] for a file that can't be read.
    pub(in crate::tables) fn open(
        table: Table,
        options: &TableOptions,
        memory: &ReadMemory,
        type_of: impl Fn(&str) -> Option<ValueType>,
    ) -> Result<Source> {
        let path = match table {
            Table::Batches(batches) => {
                let (name, schema) = ("<table>".to_owned(), batches.schema());
                if options.text.columns.is_some() {
                    return Err(names_of_named("the table"));
                }
                let kind = Kind::Batches(batches);
                if options.file_column.is_some() {
                    let fault = "filename= adds the paths of files, and this table is none";
                    return Err(Error::query(fault));
                }
                let notes = unused_note("the table", options, false).into_iter().collect();
                let path_columns = Vec::new();
                return Ok(Source { name, schema, kind, path_columns, notes });
            }
            Table::File(path) => path,
        };
        let name = path.display().to_string();
        let of_path = columns_of(&path, options.file_column.as_deref());
        let (kind, schema) = match TableFormat::of(&path)? {
            TableFormat::Parquet => {
                let file = ParquetFile::open(&path, memory)?;
                let schema = Arc::clone(file.schema());
                (Kind::Parquet(file), schema)
            }
            TableFormat::Arrow => {
                let file = ArrowFile::open(&path, memory.clone())?;
                let schema = arrow_array::RecordBatchReader::schema(&file);
                (Kind::Arrow(Box::new(file)), schema)
            }
            TableFormat::Json => {
                let file = JsonFile::open(path, options, memory, type_of)?;
                let schema = Arc::new(file.schema());
                (Kind::Json(Arc::new(file)), schema)
            }
            TableFormat::Text(hint) => {
                let file = CsvFile::open(path, hint, (options, memory), type_of)?;
                let schema = Arc::new(file.schema());
                (Kind::Csv { file: Arc::new(file), progress: options.progress.clone() }, schema)
            }
        };
        let has_names = match &kind {
            Kind::Csv { .. } => false,
            Kind::Json(file) => !file.has_arrays(),
            Kind::Arrow(_) | Kind::Batches(_) | Kind::Parquet(_) => true,
        };
        if has_names && options.text.columns.is_some() {
            return Err(names_of_named(&name));
        }
        let names = (name.as_str(), options.file_column.as_deref());
        let (path_columns, mut notes) = without_own(of_path, &schema, names)?;
        if !matches!(kind, Kind::Csv { .. }) {
            notes.extend(unused_note(&name, options, matches!(kind, Kind::Json(_))));
        }
        let mut source = Source { name, schema, kind, path_columns, notes };
        source.add_path_columns();
        Ok(source)
    }

    /// Puts the fields of the columns of the path after those of the file.
    fn add_path_columns(&mut self) {
        if self.path_columns.is_empty() {
            return;
        }
        let own = self.schema.fields().iter().map(Arc::clone);
        let fields = self.path_columns.iter().map(|column| Arc::new(column.field()));
        let fields = own.chain(fields).collect::<Vec<_>>();
        let metadata = self.schema.metadata().clone();
        self.schema = Arc::new(Schema::new_with_metadata(fields, metadata));
    }

    /// Gives columns of one name in several text files one type, that of all their cells. With
    /// `all_cells` the types of a file are inferred from all of it first.
    ///
    /// # Errors
    ///
    /// As [`CsvFile::infer`].
    pub(in crate::tables) fn unify(
        sources: &mut [&mut Source],
        all_cells: Option<(&Canceller, &ReadMemory)>,
    ) -> Result<()> {
        const UNREAD: &str = "nothing of the file is read yet";
        let (mut files, mut of_json) = (Vec::new(), Vec::new());
        for source in sources.iter_mut() {
            match &mut source.kind {
                Kind::Csv { file, .. } => files.push(Arc::get_mut(file).expect(UNREAD)),
                Kind::Json(file) => of_json.push(Arc::get_mut(file).expect(UNREAD)),
                _ => {}
            }
        }
        if let Some((canceller, memory)) = all_cells {
            files.iter_mut().try_for_each(|file| file.infer(canceller, memory))?;
        }
        CsvFile::widen(&mut files);
        JsonFile::widen(&mut of_json);
        Source::widen_path_columns(sources);
        for source in sources {
            let schema = match &source.kind {
                Kind::Csv { file, .. } => file.schema(),
                Kind::Json(file) => file.schema(),
                _ => continue,
            };
            source.schema = Arc::new(schema);
            source.add_path_columns();
        }
        Ok(())
    }

    /// Makes texts of the values of a partition in all files where one of them is no int.
    fn widen_path_columns(sources: &mut [&mut Source]) {
        let columns = sources.iter().flat_map(|source| &source.path_columns);
        let texts = columns.filter(|column| !column.is_int).map(|column| column.name.clone());
        let texts = texts.collect::<BTreeSet<String>>();
        for source in sources {
            let mut is_changed = false;
            for column in &mut source.path_columns {
                if column.is_int && texts.contains(&column.name) {
                    (column.is_int, is_changed) = (false, true);
                }
            }
            if is_changed {
                let len = source.schema.fields().len() - source.path_columns.len();
                let own: Vec<usize> = (0..len).collect();
                source.schema = Arc::new(source.schema.project(&own).expect("these are there"));
                source.add_path_columns();
            }
        }
    }

    /// A warning for each two columns of some tables whose names differ only in case, where one is
    /// a partition.
    pub(in crate::tables) fn case_clashes(sources: &[&mut Source]) -> Vec<String> {
        case_clashes(sources.iter().map(|source| (&*source.schema, &*source.path_columns)))
    }

    /// Whether it is a file of text or JSON, which has no names of columns where it has no rows.
    pub(in crate::tables) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Csv { .. } | Kind::Json(_))
    }

    /// The text file that the table is.
    pub(in crate::tables) fn text_file(&self) -> Option<Arc<CsvFile>> {
        match &self.kind {
            Kind::Csv { file, .. } => Some(Arc::clone(file)),
            _ => None,
        }
    }

    /// The detected options of the file, in one line each.
    pub(in crate::tables) fn json_description(&self) -> Option<String> {
        match &self.kind {
            Kind::Json(file) => Some(file.description()),
            _ => None,
        }
    }

    /// What the file is, in one line.
    pub(in crate::tables) fn description(&self) -> String {
        let count = self.schema.fields().len();
        let columns = if count == 1 { "1 column".to_owned() } else { format!("{count} columns") };
        match &self.kind {
            Kind::Csv { file, .. } => file.description(),
            Kind::Json(file) => file.description(),
            Kind::Parquet(_) => format!("Parquet, {columns}"),
            Kind::Arrow(_) | Kind::Batches(_) => format!("Arrow, {columns}"),
        }
    }

    /// The options that reproduce the detection for a text file.
    pub(in crate::tables) fn written_with(&self) -> Vec<(&'static str, SniffedOption)> {
        match &self.kind {
            Kind::Csv { file, .. } => file.written_with(),
            Kind::Json(file) => file.written_with(),
            _ => Vec::new(),
        }
    }

    /// Whether the types of columns are those of all cells.
    pub(in crate::tables) fn is_inferred_from_all(&self) -> bool {
        self.text_file().is_none_or(|file| file.is_inferred_from_all())
    }

    /// Checks that the cells of a column may be values, where its type alone doesn't say where one
    /// is that is none.
    ///
    /// # Errors
    ///
    /// As [`JsonFile::check_column`].
    pub(in crate::tables) fn check_column(&self, position: usize) -> Result<()> {
        match &self.kind {
            Kind::Json(file) => file.check_column(position),
            _ => Ok(()),
        }
    }

    /// The columns at `positions` of the first rows, at most `limit` of them.
    ///
    /// # Errors
    ///
    /// As [`Source::open`].
    pub(in crate::tables) fn first_rows(
        self,
        positions: Vec<usize>,
        limit: usize,
        memory: ReadMemory,
    ) -> Result<RecordBatch> {
        let own_len = self.schema.fields().len() - self.path_columns.len();
        if let Kind::Csv { file, .. } = &self.kind {
            let (own, of_path): (Vec<usize>, Vec<usize>) =
                positions.into_iter().partition(|position| *position < own_len);
            let of_path = of_path.iter().map(|position| &self.path_columns[position - own_len]);
            let of_path: Vec<PathColumn> = of_path.cloned().collect();
            let rows = file.first_rows(&own, limit, &memory)?;
            return with_columns(&rows, &of_path).map_err(|error| error_of(&self.name, error));
        }
        let schema =
            self.schema.project(&positions).map_err(|error| error_of(&self.name, error))?;
        let mut first = RecordBatch::new_empty(Arc::new(schema));
        for chunk in self.chunks(positions, 0, memory)?.take(1)? {
            chunk.for_each(|batch, row, _| {
                if row == 0 {
                    first = batch.slice(0, batch.num_rows().min(limit));
                }
                Ok(())
            })?;
        }
        Ok(first)
    }

    /// The bytes of the file, 0 where there is none.
    pub(in crate::tables) fn size(&self) -> u64 {
        match &self.kind {
            Kind::Batches(_) => 0,
            Kind::Arrow(file) => file.size(),
            Kind::Json(file) => file.size(),
            Kind::Csv { file, .. } => file.size(),
            Kind::Parquet(file) => file.size(),
        }
    }

    /// The columns at `positions`, which ascend. Rows are counted from `first_row` on.
    ///
    /// # Errors
    ///
    /// As [`Source::open`].
    pub(super) fn chunks(
        self,
        slots: Vec<usize>,
        first_row: u64,
        memory: ReadMemory,
    ) -> Result<Chunks> {
        let Source { name, kind, path_columns, schema, .. } = self;
        let own_len = schema.fields().len() - path_columns.len();
        let split = slots.partition_point(|position| *position < own_len);
        let of_path =
            slots[split..].iter().map(|position| path_columns[position - own_len].clone());
        let (path_columns, mut slots) = (of_path.collect(), slots);
        slots.truncate(split);
        let stream = match kind {
            Kind::Batches(batches) => Stream::of_batches(batches, (&name, slots, first_row)),
            Kind::Arrow(file) => Stream::of_batches(file, (&name, slots, first_row)),
            Kind::Json(file) => {
                let chunks = Box::new(file.chunks()?);
                Stream::Json { chunks, positions: slots.into(), file }
            }
            Kind::Csv { file, progress } => {
                let (reader, positions) = (Box::new(file.reader(progress)?), slots.into());
                Stream::Texts { reader, positions, file, skipped: Vec::new(), filled: 0 }
            }
            Kind::Parquet(file) => Stream::Groups {
                file: Arc::new(file.with_columns(slots)),
                next: Position::default(),
            },
        };
        Ok(Chunks { name, stream, path_columns, memory, next_row: first_row })
    }
}

impl Stream {
    fn of_batches(
        batches: Box<dyn arrow_array::RecordBatchReader + Send>,
        (name, positions, first_row): (&str, Vec<usize>, u64),
    ) -> Stream {
        let of = Arc::new(Full { name: name.to_owned(), positions, first_row });
        let table = Arc::clone(&of);
        let batches = batches.map(move |batch| batch?.project(&table.positions));
        Stream::Batches { batches: Box::new(batches), of, rest: None }
    }
}

impl Chunks {
    /// The next chunks, `count` of them or as many as memory is for; none at the end.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for what can't be read; [`Error::Limit`] where there is no memory.
    pub(in crate::tables) fn take(&mut self, count: usize) -> Result<Vec<Chunk>> {
        let (mut chunks, mut reserved) = (Vec::new(), 0_u64);
        while chunks.len() < count && reserved <= self.memory.round_len() / 2 {
            let Some(Next { rows, len, size, held }) = self.next()? else { break };
            reserved += held.bytes();
            let (first_row, path_columns) = (self.next_row, Arc::clone(&self.path_columns));
            chunks.push(Chunk { first_row, len, size, rows, path_columns, _held: held });
            self.next_row += len;
        }
        Ok(chunks)
    }

    fn next(&mut self) -> Result<Option<Next>> {
        let memory = &self.memory;
        match &mut self.stream {
            Stream::Json { chunks, positions, file } => {
                let Some(chunk) = chunks.next() else { return Ok(None) };
                let (rows, held) = file.rows(chunk?, memory)?;
                let (len, size) = (rows.len() as u64, rows.size());
                let rows = Rows::Json(rows, Arc::clone(file), Arc::clone(positions));
                Ok(Some(Next { rows, len, size, held }))
            }
            Stream::Texts { reader, positions, file, skipped, filled } => {
                let Some((mut batch, held)) = reader.next_held(BATCH_ROWS, memory)? else {
                    return Ok(None);
                };
                let len = batch.len() as u64;
                skipped.append(&mut batch.skipped);
                *filled += batch.filled as u64;
                let rows = Rows::Texts(batch, Arc::clone(file), Arc::clone(positions));
                Ok(Some(Next { rows, len, size: 0, held }))
            }
            Stream::Batches { batches, of, rest } => {
                let batch = match rest.take() {
                    Some(batch) => batch,
                    None => match batches.next() {
                        None => return Ok(None),
                        Some(batch) => batch.map_err(|error| error_of(&self.name, error))?,
                    },
                };
                let len = batch.num_rows().min(CHUNK_ROWS);
                if len < batch.num_rows() {
                    *rest = Some(batch.slice(len, batch.num_rows() - len));
                }
                let rows = Rows::Batch(batch.slice(0, len), Arc::clone(of));
                let held = memory.reserve(0)?;
                Ok(Some(Next { rows, len: len as u64, size: 0, held }))
            }
            Stream::Groups { file, next } => {
                let Some(group) = file.next(next, memory)? else { return Ok(None) };
                let (len, size, held) = (group.rows(), group.size, memory.reserve(group.cost)?);
                Ok(Some(Next { rows: Rows::Group(group), len, size, held }))
            }
        }
    }
}

impl Chunks {
    /// The lines of records that were left out so far, and the number of those that lacked fields.
    pub(in crate::tables) fn ragged(&self) -> (&[u64], u64) {
        match &self.stream {
            Stream::Texts { skipped, filled, .. } => (skipped, *filled),
            _ => (&[], 0),
        }
    }
}

impl Chunk {
    /// The line of a text file on which a row begins.
    pub(in crate::tables) fn line_of(&self, row: u64) -> Option<u64> {
        match &self.rows {
            Rows::Texts(batch, ..) => batch.lines.get((row - self.first_row) as usize).copied(),
            Rows::Json(rows, ..) => rows.line_of((row - self.first_row) as usize),
            _ => None,
        }
    }

    /// Calls `each` with the batches of the chunk, the position of the first row of each, and its
    /// texts that are no values of their column.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for what can't be read; those of `each`.
    pub(in crate::tables) fn for_each(
        &self,
        mut each: impl FnMut(&RecordBatch, u64, Vec<Fault>) -> Result<()>,
    ) -> Result<()> {
        let mut each = |batch: &RecordBatch, first_row, faults| {
            if self.path_columns.is_empty() {
                return each(batch, first_row, faults);
            }
            let batch = with_columns(batch, &self.path_columns);
            each(&batch.map_err(|error| Error::query(error.to_string()))?, first_row, faults)
        };
        match &self.rows {
            Rows::Json(rows, file, positions) => {
                let (batch, faults) = file.typed(rows, positions, self.first_row)?;
                each(&batch, self.first_row, faults)
            }
            Rows::Batch(batch, of) => {
                check_batch(batch, of, self.first_row)?;
                each(batch, self.first_row, Vec::new())
            }
            Rows::Texts(batch, file, positions) => {
                let (batch, faults) = file.typed(batch, positions, self.first_row)?;
                each(&batch, self.first_row, faults)
            }
            Rows::Group(group) => {
                group.for_each(|batch, row| each(batch, self.first_row + row, Vec::new()))
            }
        }
    }
}

/// Options that have no effect on a table since it is no text file, as a sentence.
fn unused_note(name: &str, options: &TableOptions, is_json: bool) -> Option<String> {
    let unused = options.unused_for_other(is_json);
    let names = unused.iter().map(|option| format!("{option}=")).collect::<Vec<_>>().join(", ");
    let have = if unused.len() == 1 { "has" } else { "have" };
    let what = "it is not delimited text";
    (!unused.is_empty()).then(|| format!("{name}: {names} {have} no effect, {what}"))
}

/// The error for names of columns that have names.
fn names_of_named(name: &str) -> Error {
    let fault = format!(
        "{name} has names for its columns: a list in `columns` names those of a text file without a header"
    );
    Error::query(fault).with_hint(
        "a dict renames columns of nodes: load_nodes(…, columns={\"name\": \"predicate\"})",
    )
}
