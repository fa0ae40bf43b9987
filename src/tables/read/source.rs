//! Tables in pieces that threads can read side by side.
//!
//! A stream of batches is cut into pieces as it comes. A Parquet file is cut into its row groups,
//! and each is decoded by the thread that reads it. What its metadata say of rows places the pieces, so it has to be what is read.

use super::checked::{Whole, check_batch};
use super::csv::file::{BATCH_ROWS, CsvFile};
use super::csv::reader::{TextBatch, TextReader};
use super::opened::unreadable;
use super::pages::memory::ReadMemory;
use super::row_groups::{PIECE_ROWS, ParquetFile, Position, RowGroup};
use crate::db::{Canceller, LoadProgress};
use crate::tables::shape::options::{Table, TableOptions};
use crate::tables::shape::parts::Fault;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use hexgraph_base::budget::Held;
use hexgraph_base::types::{Error, Result, ValueType};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

const PARQUET_ENDS: [&str; 2] = [".parquet", ".pq"];

/// The ends of names of delimited text files, and the separator that each promises.
const TEXT_ENDS: [(&str, u8); 4] =
    [(".csv", b','), (".tsv", b'\t'), (".txt", b'\t'), (".edges", b'\t')];

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
    Csv { file: Arc<CsvFile>, progress: LoadProgress },
    Parquet(ParquetFile),
}

/// A stream of pieces with some columns of a table.
pub(in crate::tables) struct Pieces {
    name: String,
    stream: Stream,
    memory: ReadMemory,
    next_row: u64,
}

enum Stream {
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
        of: Arc<Whole>,
        /// The part of the file that was not cut into pieces yet.
        rest: Option<RecordBatch>,
    },
    Groups {
        file: Arc<ParquetFile>,
        next: Position,
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
    Texts(TextBatch, Arc<CsvFile>, Arc<[usize]>),
    /// A batch as somebody else made it, which has to be checked.
    Batch(RecordBatch, Arc<Whole>),
    Group(RowGroup),
}

/// Returns true if a file is a table, by the end of its name.
pub fn is_table_name(name: &str) -> bool {
    let plain = plain_name(name);
    let texts = TEXT_ENDS.iter().map(|(end, _)| end);
    PARQUET_ENDS.iter().chain(texts).any(|end| plain.ends_with(end))
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
        let promised = TEXT_ENDS.iter().find(|(end, _)| plain.ends_with(end));
        let Some((_, usual)) = promised else {
            let what = "a table is read from .parquet, .csv, .tsv, .txt or .edges";
            return Err(Error::query(format!("{name}: {what}")));
        };
        let is_list = [".txt", ".edges"].iter().any(|end| plain.ends_with(end));
        let file = CsvFile::open(path, (*usual, is_list), options, type_of)?;
        Ok(Source::of_text(file, options.progress.clone()))
    }

    fn of_text(file: CsvFile, progress: LoadProgress) -> Source {
        let schema = Arc::new(file.schema());
        let name = file.name().to_owned();
        Source { name, schema, kind: Kind::Csv { file: Arc::new(file), progress } }
    }

    /// Gives columns of one name in several text files one type, that of all their cells. With `canceller` the types of a file are
    /// inferred from all of it first.
    ///
    /// # Errors
    ///
    /// As [`CsvFile::infer`].
    pub(in crate::tables) fn unify(
        sources: &mut [&mut Source],
        canceller: Option<&Canceller>,
    ) -> Result<()> {
        let mut files = Vec::new();
        for source in sources.iter_mut() {
            if let Kind::Csv { file, .. } = &mut source.kind {
                files.push(Arc::get_mut(file).expect("nothing of the file is read yet"));
            }
        }
        if let Some(canceller) = canceller {
            files.iter_mut().try_for_each(|file| file.infer(canceller))?;
        }
        CsvFile::widen(&mut files);
        for source in sources {
            if let Kind::Csv { file, .. } = &source.kind {
                source.schema = Arc::new(file.schema());
            }
        }
        Ok(())
    }

    /// The text file that the table is.
    pub(in crate::tables) fn text_file(&self) -> Option<Arc<CsvFile>> {
        match &self.kind {
            Kind::Csv { file, .. } => Some(Arc::clone(file)),
            _ => None,
        }
    }

    /// The bytes of the file, 0 where there is none.
    pub(in crate::tables) fn size(&self) -> u64 {
        match &self.kind {
            Kind::Batches(_) => 0,
            Kind::Csv { file, .. } => file.size(),
            Kind::Parquet(file) => file.size(),
        }
    }

    /// The columns at `places`, which ascend. Rows are counted from `first_row` on.
    ///
    /// # Errors
    ///
    /// As [`Source::open`].
    pub(super) fn pieces(
        self,
        places: Vec<usize>,
        first_row: u64,
        memory: ReadMemory,
    ) -> Result<Pieces> {
        let Source { name, kind, .. } = self;
        let stream = match kind {
            Kind::Batches(batches) => {
                let (name, places) = (name.clone(), places.clone());
                let of = Arc::new(Whole { name, places, first_row });
                let table = Arc::clone(&of);
                let batches = batches.map(move |batch| batch?.project(&table.places));
                Stream::Batches { batches: Box::new(batches), of, rest: None }
            }
            Kind::Csv { file, progress } => {
                let (reader, positions) = (Box::new(file.reader(progress)?), places.into());
                Stream::Texts { reader, positions, file, skipped: Vec::new(), filled: 0 }
            }
            Kind::Parquet(file) => Stream::Groups {
                file: Arc::new(file.with_columns(places)),
                next: Position::default(),
            },
        };
        Ok(Pieces { name, stream, memory, next_row: first_row })
    }
}

impl Pieces {
    /// The next pieces, `count` of them or as many as memory is for; none at the end.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for what can't be read; [`Error::Limit`] where there is no memory.
    pub(in crate::tables) fn take(&mut self, count: usize) -> Result<Vec<Piece>> {
        let (mut pieces, mut reserved) = (Vec::new(), 0_u64);
        while pieces.len() < count && reserved <= self.memory.round_len() / 2 {
            let Some(Next { rows, len, size, held }) = self.next()? else { break };
            reserved += held.bytes();
            pieces.push(Piece { first_row: self.next_row, len, size, rows, _held: held });
            self.next_row += len;
        }
        Ok(pieces)
    }

    fn next(&mut self) -> Result<Option<Next>> {
        let memory = &self.memory;
        match &mut self.stream {
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
                        Some(batch) => batch.map_err(|error| unreadable(&self.name, error))?,
                    },
                };
                let len = batch.num_rows().min(PIECE_ROWS);
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

impl Pieces {
    /// The lines of records that were left out so far, and the number of those that lacked fields.
    pub(in crate::tables) fn ragged(&self) -> (&[u64], u64) {
        match &self.stream {
            Stream::Texts { skipped, filled, .. } => (skipped, *filled),
            _ => (&[], 0),
        }
    }
}

impl Piece {
    /// The line of a text file on which a row begins.
    pub(in crate::tables) fn line_of(&self, row: u64) -> Option<u64> {
        match &self.rows {
            Rows::Texts(batch, ..) => batch.lines.get((row - self.first_row) as usize).copied(),
            _ => None,
        }
    }

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
