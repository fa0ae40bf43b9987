//! Tables of a few rows, which are read before the load strategy is chosen.

use crate::tables::shape::options::Table;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::SchemaRef;

/// The number of rows, of all tables together, up to which they are read at once.
const ROWS_MAX: usize = 1024;

/// Tables, each with what its rows are.
pub(in crate::tables) enum ReadJobs<Rows> {
    /// Few rows, all read.
    Small(Vec<(SmallTable, Rows)>),
    /// More rows, or files; none is lost.
    Other(Vec<(Table, Rows)>),
}

/// A table that was read, and can be read again.
pub(in crate::tables) struct SmallTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl SmallTable {
    /// The table, to be read from its first row.
    pub(in crate::tables) fn reopen(&self) -> Table {
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        Table::Batches(Box::new(RecordBatchIterator::new(batches, self.schema.clone())))
    }
}

impl<Rows: Clone> ReadJobs<Rows> {
    /// Reads the first rows of tables in memory. A fault of a table comes again when it is loaded.
    pub(in crate::tables) fn read(jobs: Vec<(Table, Rows)>) -> ReadJobs<Rows> {
        if !jobs.iter().all(|(table, _)| matches!(table, Table::Batches(_))) {
            return ReadJobs::Other(jobs);
        }
        let (mut small, mut other, mut capacity) = (Vec::new(), Vec::new(), ROWS_MAX);
        let mut jobs = jobs.into_iter();
        for (table, rows) in jobs.by_ref() {
            let Table::Batches(batches) = table else { unreachable!("all tables are in memory") };
            match begun(batches, &mut capacity) {
                Begun::Small(table) => small.push((table, rows)),
                Begun::Other(table) => {
                    other.push((table, rows));
                    break;
                }
            }
        }
        if other.is_empty() {
            return ReadJobs::Small(small);
        }
        let before = small.iter().map(|(table, rows)| (table.reopen(), rows.clone()));
        ReadJobs::Other(before.chain(other).chain(jobs).collect())
    }
}

enum Begun {
    Small(SmallTable),
    Other(Table),
}

/// Reads a table as long as there is space for its rows. Where there are more, or where one can't
/// be read, what was read comes first again.
fn begun(mut batches: Box<dyn RecordBatchReader + Send>, capacity: &mut usize) -> Begun {
    let (schema, mut read) = (batches.schema(), Vec::new());
    for batch in batches.by_ref() {
        let is_small = batch.as_ref().is_ok_and(|batch| batch.num_rows() <= *capacity);
        *capacity -= batch.as_ref().map_or(0, RecordBatch::num_rows).min(*capacity);
        read.push(batch);
        if !is_small {
            let all = read.into_iter().chain(batches);
            return Begun::Other(Table::Batches(Box::new(RecordBatchIterator::new(all, schema))));
        }
    }
    let batches = read.into_iter().flatten().collect();
    Begun::Small(SmallTable { schema, batches })
}
