//! A delimited text file whose dialect and columns are detected.
//!
//! Types are inferred from a sample first. A later cell that does not fit stops that attempt: the
//! types are inferred from the entire file, and the load begins again. So a file is read once where
//! its beginning is like the rest of it, and twice where it is not.

use super::dialect::separator_name;
use super::kinds::{ColumnKind, MissingTexts, Observed, TypedColumns, column_array};
use super::options::CsvOptions;
use super::reader::{TextBatch, TextReader, counted};
use super::records::FIELDS_MAX;
use super::sniff::{CsvFormat, Sample, sniff};
use crate::db::{Canceller, LoadProgress};
use crate::tables::read::opened::open_file;
use crate::tables::read::pages::memory::ReadMemory;
use crate::tables::read::text::{TextFile, decoded};
use crate::tables::shape::options::{
    NO_SEPARATOR, Ragged, SniffedOption, TableOptions, TextOptions,
};
use crate::tables::shape::parts::{ColumnName, Fault, shown};
use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};
use hexgraph_base::formats::decompressed;
use hexgraph_base::types::{Error, Result, ValueRef, ValueType};
use rayon::prelude::*;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The bytes from which dialect and types are inferred: some thousand records.
const SAMPLE_LEN: usize = 1 << 18;

/// The most of them: more are read only where the first record is longer than the usual sample.
const SAMPLE_LEN_MAX: usize = 1 << 24;

/// The bytes of memory for a byte of the sample: its text as it is read, decoded and without a
/// mark, and its fields.
const SAMPLE_COPIES: u64 = 8;

/// The records of a batch at most.
pub(in crate::tables) const BATCH_ROWS: usize = 1 << 16;

/// What the name of a file promises.
#[derive(Debug, Clone, Copy)]
pub(in crate::tables) struct NameHint {
    /// The separator.
    pub usual: u8,
    /// Whether blanks may be separators.
    pub is_list: bool,
    /// Whether its records are edges.
    pub is_edges: bool,
}

/// A file with its detected dialect and columns.
pub(in crate::tables) struct CsvFile {
    name: String,
    text: TextFile,
    sniffed: CsvFormat,
    columns: Vec<Column>,
    missing: MissingTexts,
    options: TextOptions,
    /// Whether the types are those of the entire file.
    is_inferred_from_all: bool,
    /// Set when a cell is of another type than the sample showed.
    mismatch: OnceLock<()>,
}

struct Column {
    name: String,
    observed: Observed,
    requested: Option<ValueType>,
}

impl Column {
    /// The type that its cells are read as, and whether it is given.
    fn kind(&self) -> (ColumnKind, bool) {
        match self.requested {
            None => (self.observed.kind(), false),
            Some(requested) => (ColumnKind::from(requested), true),
        }
    }
}

impl CsvFile {
    /// Finds out how a file is written. `hint` is what its name promises; `type_of` says for a
    /// column which type it has, `None` leaves that to the cells.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] for a file that can't be read; [`Error::Load`] for a first record that is none
    /// of a table; [`Error::Limit`] where there is no memory for the sample.
    pub(in crate::tables) fn open(
        path: PathBuf,
        hint: NameHint,
        (options, memory): (&TableOptions, &ReadMemory),
        type_of: impl Fn(&str) -> Option<ValueType>,
    ) -> Result<CsvFile> {
        let (name, text) = (path.display().to_string(), TextFile::find(path, options.encoding)?);
        let given = CsvOptions { is_list: hint.is_list, is_edges: hint.is_edges, ..given(options) };
        let mut sample_len = SAMPLE_LEN;
        let (is_cut, Sample { mut sniffed, mut observed, .. }) = loop {
            let _held = memory.reserve(sample_len as u64 * SAMPLE_COPIES)?;
            let (text, is_cut) = text.sample(sample_len)?;
            let sample = sniff(&text, is_cut, hint.usual, &given);
            if sample.has_first_record {
                break (is_cut, sample);
            }
            let split = sample.split;
            if split.is_too_wide || SAMPLE_LEN_MAX <= sample_len {
                let line = split.open_quote.unwrap_or(sample.sniffed.skip + 1);
                let message = if split.is_too_wide {
                    format!("a record begins here that has more than {FIELDS_MAX} fields")
                } else {
                    format!(
                        "the first record begins here, and is longer than {SAMPLE_LEN_MAX} bytes; is a quote not closed?"
                    )
                };
                return Err(Error::Load { file: name, line, column: 1, message });
            }
            sample_len *= 8;
        };
        if let Some(names) = &options.text.columns {
            check_names(&name, names, sniffed.header.columns.len())?;
            sniffed.header.columns.clone_from(names);
            observed.resize(names.len(), Observed::default());
        }
        let names = sniffed.header.columns.iter().zip(observed);
        let columns = names.map(|(name, observed)| Column {
            name: name.clone(),
            observed,
            requested: type_of(name),
        });
        let columns = columns.collect();
        Ok(CsvFile {
            name,
            text,
            sniffed,
            columns,
            missing: given.missing,
            options: options.text.clone(),
            is_inferred_from_all: !is_cut,
            mismatch: OnceLock::new(),
        })
    }

    /// Infers types from the entire file, on all threads.
    ///
    /// # Errors
    ///
    /// As [`TextReader::next_held`]; [`Error::Limit`] when `canceller` stops it.
    pub(in crate::tables) fn infer(
        &mut self,
        canceller: &Canceller,
        memory: &ReadMemory,
    ) -> Result<()> {
        let mut reader = self.reader(LoadProgress::default())?;
        let mut full = vec![Observed::default(); self.columns.len()];
        loop {
            canceller.check()?;
            let mut batches = Vec::new();
            while batches.len() < rayon::current_num_threads() {
                let Some((batch, held)) = reader.next_held(BATCH_ROWS, memory)? else { break };
                batches.push((batch, held));
            }
            if batches.is_empty() {
                break;
            }
            let missing = &self.missing;
            let observed = full.par_iter().enumerate().map(|(column, before)| {
                let mut observed = before.clone();
                for (batch, _) in &batches {
                    for ((text, is_quoted), line) in batch.column(column).zip(&batch.lines) {
                        observed.add(&text, is_quoted, *line, missing);
                    }
                }
                observed
            });
            full = observed.collect();
        }
        for (column, observed) in self.columns.iter_mut().zip(full) {
            column.observed = observed;
        }
        (self.is_inferred_from_all, self.mismatch) = (true, OnceLock::new());
        Ok(())
    }

    /// Returns true if a cell was of another type than the sample showed, so that the types have to
    /// be inferred again.
    pub(in crate::tables) fn has_mismatch(&self) -> bool {
        self.mismatch.get().is_some()
    }

    /// Widens the types of columns to those of the columns of the same names of other files of one
    /// table.
    pub(in crate::tables) fn widen(files: &mut [&mut CsvFile]) {
        for position in 1..files.len() {
            let (before, rest) = files.split_at_mut(position);
            let (first, file) = (&mut before[0], &mut rest[0]);
            for column in &file.columns {
                if let Some(same) = first.columns.iter_mut().find(|same| same.name == column.name) {
                    same.observed.merge(column.observed.clone());
                }
            }
        }
        let Some((first, others)) = files.split_first_mut() else { return };
        for file in others {
            for column in &mut file.columns {
                if let Some(same) = first.columns.iter().find(|same| same.name == column.name) {
                    column.observed = same.observed.clone();
                }
            }
        }
    }

    /// Its columns, with Arrow's types.
    pub(in crate::tables) fn schema(&self) -> Schema {
        let fields = self.columns.iter();
        let fields =
            fields.map(|column| Field::new(&column.name, column.kind().0.data_type(), true));
        Schema::new(fields.collect::<Vec<Field>>())
    }

    /// The bytes of the file as it lies on the disk.
    pub(in crate::tables) fn size(&self) -> u64 {
        fs::metadata(&self.text.path).map_or(0, |file| file.len())
    }

    /// Reads its records from the first one on. `progress` counts the bytes of the file that were
    /// read.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] for a file that can't be read.
    pub(in crate::tables) fn reader(
        &self,
        progress: LoadProgress,
    ) -> Result<TextReader<Box<dyn Read + Send>>> {
        let counted = Counted { file: open_file(&self.text.path)?, progress };
        let input = decoded(decompressed(counted, &self.name)?, self.text.encoding);
        let CsvFormat { dialect, skip, header, .. } = &self.sniffed;
        let shape = (self.columns.len(), self.options.ragged);
        Ok(TextReader::new(
            (self.name.clone(), input),
            *dialect,
            (*skip, header.is_first_record),
            shape,
        ))
    }

    /// The values of some columns of a batch whose first record is row `first_row`, and the cells
    /// that are none.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] where a cell is of another type than the sample showed;
    /// [`CsvFile::has_mismatch`] says that.
    pub(in crate::tables) fn typed(
        &self,
        batch: &TextBatch,
        positions: &[usize],
        first_row: u64,
    ) -> Result<(RecordBatch, Vec<Fault>)> {
        let mut typed = TypedColumns::default();
        // A column without a value in the sample is no predicate, so that nobody requests it.
        let has_value = |position: &usize| {
            let mut cells = batch.column(*position);
            cells.any(|(text, is_quoted)| !self.missing.is_missing(&text, is_quoted))
        };
        if self.unknown_columns().any(|position| has_value(&position)) {
            return Err(self.changed());
        }
        for &position in positions {
            let column = &self.columns[position];
            let (kind, is_given) = column.kind();
            let cells = batch.column(position);
            let (array, mismatches) = column_array(cells, (kind, is_given), &self.missing);
            if !mismatches.is_empty() && !is_given && !self.is_inferred_from_all {
                return Err(self.changed());
            }
            let name = ColumnName { name: column.name.clone(), position };
            let mismatches = mismatches.into_iter().map(|row| (row, batch.cell(row, position).0));
            typed.push((name, kind), array, mismatches, first_row);
        }
        typed.finish(batch.len())
    }

    /// The positions of the columns that have no value in the sample of a longer file.
    fn unknown_columns(&self) -> impl Iterator<Item = usize> {
        let is_unknown = |column: &Column| column.kind() == (ColumnKind::Missing, false);
        let columns = self.columns.iter().enumerate();
        let columns = columns.filter(|_| !self.is_inferred_from_all);
        columns.filter(move |(_, column)| is_unknown(column)).map(|(position, _)| position)
    }

    /// Notes that the sample does not show the types of all columns.
    fn changed(&self) -> Error {
        self.mismatch.get_or_init(|| ());
        Error::query(format!("{}: the types of columns change", self.name))
    }

    /// The detected options, in one line: `comma, header, utf-8, 14 columns`.
    pub(in crate::tables) fn description(&self) -> String {
        let CsvFormat { dialect, skip, header, .. } = &self.sniffed;
        let mut parts = vec![separator_name(dialect.separator)];
        match (dialect.quote, dialect.escape) {
            (Some(b'"'), None) => {}
            (Some(b'"'), Some(escape)) => parts.push(format!("escape {}", char::from(escape))),
            (Some(quote), None) => parts.push(format!("quote {}", char::from(quote))),
            (Some(quote), Some(escape)) => {
                parts.push(format!("quote {}, escape {}", char::from(quote), char::from(escape)));
            }
            (None, _) => parts.push("no quotes".to_owned()),
        }
        if let Some(comment) = dialect.comment {
            let in_lines = if dialect.has_comments_in_lines { " (in lines, too)" } else { "" };
            parts.push(format!("comments behind {}{in_lines}", char::from(comment)));
        }
        if 0 < *skip {
            parts.push(format!("{skip} lines skipped"));
        }
        parts.push(match (header.is_first_record, header.is_assumed) {
            (true, false) => "header".to_owned(),
            (true, true) => "header (assumed, as all cells are texts)".to_owned(),
            (false, _) => "no header".to_owned(),
        });
        parts.push(self.text.encoding.name().to_owned());
        let count = self.columns.len();
        parts.push(if count == 1 { "1 column".to_owned() } else { format!("{count} columns") });
        parts.join(", ")
    }

    /// The options that reproduce this detection.
    pub(in crate::tables) fn written_with(&self) -> Vec<(&'static str, SniffedOption)> {
        let sign = |sign: Option<u8>| {
            let sign = sign.filter(|sign| *sign != NO_SEPARATOR);
            SniffedOption::Text(sign.map_or(String::new(), |sign| char::from(sign).to_string()))
        };
        let CsvFormat { dialect, skip, header, .. } = &self.sniffed;
        let mut options = vec![
            ("separator", sign(Some(dialect.separator))),
            ("quote", sign(dialect.quote)),
            ("header", SniffedOption::Flag(header.is_first_record)),
            ("encoding", SniffedOption::Text(self.text.encoding.name().to_owned())),
            ("comment", sign(dialect.comment)),
            ("skip", SniffedOption::Number(*skip)),
        ];
        if dialect.escape.is_some() {
            options.insert(2, ("escape", sign(dialect.escape)));
        }
        let TextOptions { null_values, quoted_null, ragged, columns, .. } = &self.options;
        if !null_values.is_empty() {
            options.push(("null_values", SniffedOption::Texts(null_values.clone())));
        }
        if *quoted_null {
            options.push(("quoted_null", SniffedOption::Flag(true)));
        }
        if *ragged != Ragged::Error {
            options.push(("ragged", SniffedOption::Text(ragged.name().to_owned())));
        }
        if let Some(columns) = columns {
            options.push(("columns", SniffedOption::Texts(columns.clone())));
        }
        options
    }

    /// Whether the types are those of all cells.
    pub(in crate::tables) fn is_inferred_from_all(&self) -> bool {
        self.is_inferred_from_all
    }

    /// The first rows, at most `limit` of them.
    ///
    /// # Errors
    ///
    /// As [`TextReader::next`].
    pub(in crate::tables) fn first_rows(
        &self,
        positions: &[usize],
        limit: usize,
        memory: &ReadMemory,
    ) -> Result<RecordBatch> {
        let mut records = limit;
        loop {
            let mut reader = self.reader(LoadProgress::default())?;
            let Some((batch, _held)) = reader.next_held(records, memory)? else {
                return Ok(self.no_rows(positions));
            };
            let is_short = batch.len() < limit && !batch.skipped.is_empty();
            if !is_short || BATCH_ROWS <= records {
                let rows = self.typed(&batch, positions, 0)?.0;
                return Ok(rows.slice(0, limit.min(rows.num_rows())));
            }
            // Records were left out.
            records = 2 * records + batch.skipped.len();
        }
    }

    fn no_rows(&self, positions: &[usize]) -> RecordBatch {
        let schema = self.schema().project(positions).expect("these are positions of columns");
        RecordBatch::new_empty(Arc::new(schema))
    }

    /// What to do about a file of one column that has separators in its lines.
    pub(in crate::tables) fn separator_hint(&self) -> Option<String> {
        let separators =
            self.sniffed.separators.iter().map(|sign| format!("{:?}", char::from(*sign)));
        let separators = separators.collect::<Vec<String>>().join(" or ").replace('\'', "\"");
        (!separators.is_empty()).then(|| {
            format!(
                "no separator gives these lines the same number of fields; read as one column of text; give separator={separators} \
                 where they have fields"
            )
        })
    }

    /// The columns that are texts because of a cell that is unlike those before it, as sentences.
    pub(in crate::tables) fn widened(&self) -> Vec<String> {
        let reported = |column: &Column| {
            let (kind, is_given) = column.kind();
            let (text, line) =
                column.observed.mixed_reason().filter(|_| !is_given && kind == ColumnKind::Text)?;
            let (name, text) = (&column.name, shown(ValueRef::String(text)));
            Some(format!(
                "column {name:?} is a string: the cell {text} on line {line} is unlike those before"
            ))
        };
        self.columns.iter().filter_map(reported).collect()
    }
}

/// Checks that the options name all columns of a file; one without a row has as many as they name.
///
/// # Errors
///
/// [`Error::Query`] with both numbers.
pub(in crate::tables) fn check_names(file: &str, names: &[String], columns: usize) -> Result<()> {
    if columns == 0 || columns == names.len() {
        return Ok(());
    }
    let (names, columns) = (counted(names.len(), "name"), counted(columns, "column"));
    let fault = format!("{file}: `columns` has {names}, and the table has {columns}");
    Err(Error::query(fault).with_hint("name each column in the order of the file"))
}

fn given(options: &TableOptions) -> CsvOptions {
    let TextOptions { header, quote, escape, comment, skip, null_values, quoted_null, .. } =
        &options.text;
    CsvOptions {
        separator: options.separator,
        quote: *quote,
        escape: *escape,
        comment: *comment,
        header: *header,
        skip: *skip,
        missing: MissingTexts { given: null_values.clone(), quoted_empty: *quoted_null },
        is_named: options.text.columns.is_some(),
        ragged: options.text.ragged,
        is_list: false,
        is_edges: false,
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

#[cfg(test)]
mod tests {
    use super::*;
    use hexgraph_base::budget::Budget;

    /// The sample grows to 16 MiB where the first record is long, and nothing was reserved for it.
    #[test]
    fn the_memory_of_the_sample_is_reserved() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), format!("a,b\n1,\"{}\"\n", "x".repeat(3 << 20))).unwrap();
        let hint = NameHint { usual: b',', is_list: false, is_edges: false };
        let open = |bytes: u64| {
            let (budget, options) = (Budget::new(bytes), TableOptions::default());
            let memory = ReadMemory::new(&budget, 0);
            let opened = CsvFile::open(file.path().into(), hint, (&options, &memory), |_| None);
            (opened.map(drop), budget)
        };
        let (opened, budget) = open(1 << 30);
        opened.unwrap();
        assert!(SAMPLE_LEN as u64 * SAMPLE_COPIES <= budget.peak(), "{}", budget.peak());
        budget.forget_peak();
        assert_eq!(budget.peak(), 0);
        let error = open(1 << 20).0.unwrap_err();
        assert!(matches!(error, Error::Limit { .. }), "{error}");
    }

    /// A second pass reads the file to its end, which was not reserved either.
    #[test]
    fn the_memory_of_a_second_pass_is_reserved() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), format!("a,b\n{}", "1,2\n".repeat(1 << 20))).unwrap();
        let hint = NameHint { usual: b',', is_list: false, is_edges: false };
        let (budget, options) = (Budget::new(1 << 30), TableOptions::default());
        let memory = ReadMemory::new(&budget, 0);
        let mut opened =
            CsvFile::open(file.path().into(), hint, (&options, &memory), |_| None).unwrap();
        budget.forget_peak();
        opened.infer(&crate::db::RequestContext::new().canceller(), &memory).unwrap();
        assert!(4 << 20 <= budget.peak(), "{}", budget.peak());
    }
}
