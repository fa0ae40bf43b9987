//! Tables whose rows are computed when they are read.

use crate::tables::Table;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use std::ops::Range;
use std::sync::Arc;

/// The rows that are computed at a time.
const ROWS_A_BATCH: u64 = 1 << 16;

/// Makes the columns of some rows.
type Rows = Box<dyn Fn(Range<u64>) -> Vec<ArrayRef> + Send>;

struct Batches {
    schema: SchemaRef,
    next: u64,
    end: u64,
    rows: Rows,
}

/// A table of `count` rows with columns of these names and types, in the order in which `rows`
/// makes them.
pub(super) fn table(
    columns: &[(&str, DataType)],
    count: u64,
    rows: impl Fn(Range<u64>) -> Vec<ArrayRef> + Send + 'static,
) -> Table {
    let fields = columns.iter().map(|(name, data_type)| Field::new(*name, data_type.clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
    Table::Batches(Box::new(Batches { schema, next: 0, end: count, rows: Box::new(rows) }))
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.end {
            return None;
        }
        let start = self.next;
        self.next = self.end.min(start + ROWS_A_BATCH);
        Some(RecordBatch::try_new(Arc::clone(&self.schema), (self.rows)(start..self.next)))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
