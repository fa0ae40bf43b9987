//! The nodes or the edges of a file of GraphML as batches of Arrow columns.

use super::graphml::{Cell, Element, GraphmlReader, Kind};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchReader, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use hexgraph_base::budget::Reservation;
use hexgraph_base::types::{Error, Result, shown};
use rustc_hash::FxBuildHasher;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A batch has so many rows and cells at most, and goes out when its texts have so many bytes.
const ROWS_MAX: usize = 1 << 13;
const CELLS_MAX: usize = 1 << 18;
const TEXT_LEN_MAX: usize = 4 << 20;

/// A batch goes out after so many elements, whether they are rows of it or not, so that a load can
/// be stopped between them.
const ELEMENTS_MAX: usize = 1 << 16;

/// What an id in the set takes, at most: the set is half full after it has grown, and has a byte
/// more for each bucket.
const ID_BYTES: u64 = 48;

/// The nodes and edges so far: by hashes, so that the memory of an id does not depend on its
/// length.
pub(super) struct Seen {
    reservation: Reservation,
    ids: IdSet,
    /// The number of nodes and edges.
    pub counts: [u64; 2],
    /// The number of endpoints of edges that are no nodes of the file, and the first of them.
    pub missing: (u64, String),
    /// What is not stored.
    pub left_out: Vec<String>,
    /// The number of values that were left out, and the first reason.
    pub wrong: (u64, Option<String>),
}

impl Seen {
    /// Nothing yet; memory is reserved in `reservation`.
    pub(super) fn new(reservation: Reservation) -> Seen {
        let missing = (0, String::new());
        let (ids, counts) = (IdSet::default(), [0; 2]);
        Seen { reservation, ids, counts, missing, left_out: Vec::new(), wrong: (0, None) }
    }

    fn note(&mut self, element: &Element, refuses_missing: bool, file: &str) -> Result<()> {
        self.counts[usize::from(element.is_edge)] += 1;
        let id = element.id.as_ref().filter(|_| !element.is_edge);
        if id.is_some_and(|id| self.ids.insert(id)) {
            return self.reservation.reserve(ID_BYTES);
        }
        for end in element.endpoints.iter().filter(|_| element.is_edge) {
            if self.ids.contains(end) {
                continue;
            }
            if refuses_missing {
                let message = format!("the file has no node {}, an end of this edge", shown(end));
                return Err(Error::Load {
                    file: file.to_owned(),
                    line: element.line,
                    column: 1,
                    message,
                });
            }
            add(&mut self.missing, end);
        }
        Ok(())
    }
}

fn add((count, first): &mut (u64, String), id: &str) {
    if *count == 0 {
        *first = shown(id);
    }
    *count += 1;
}

/// A set of ids, each by 128 bits of two hashes. Their keys are random, so no file is made of ids
/// that it takes for one another.
#[derive(Default)]
struct IdSet {
    keys: [RandomState; 2],
    hashes: HashSet<[u64; 2], FxBuildHasher>,
}

impl IdSet {
    fn hash(&self, id: &str) -> [u64; 2] {
        self.keys.each_ref().map(|key| key.hash_one(id))
    }

    /// Adds an id. False where it is there.
    fn insert(&mut self, id: &str) -> bool {
        self.hashes.insert(self.hash(id))
    }

    fn contains(&self, id: &str) -> bool {
        self.hashes.contains(&self.hash(id))
    }
}

/// A column that grows.
struct Column {
    kind: Kind,
    cells: Vec<Option<Cell>>,
}

impl Column {
    fn new(kind: Kind) -> Column {
        Column { kind, cells: Vec::new() }
    }

    /// The cells as an array; a cell of another type is none.
    fn finish(self) -> ArrayRef {
        let cells = self.cells.into_iter();
        match self.kind {
            Kind::Bool => Arc::new(BooleanArray::from_iter(cells.map(|cell| match cell {
                Some(Cell::Bool(truth)) => Some(truth),
                _ => None,
            }))),
            Kind::Int => Arc::new(Int64Array::from_iter(cells.map(|cell| match cell {
                Some(Cell::Int(number)) => Some(number),
                _ => None,
            }))),
            Kind::Float => Arc::new(Float64Array::from_iter(cells.map(|cell| match cell {
                Some(Cell::Float(number)) => Some(number),
                _ => None,
            }))),
            Kind::Text => Arc::new(StringArray::from_iter(cells.map(|cell| match cell {
                Some(Cell::Text(text)) => Some(text),
                _ => None,
            }))),
        }
    }
}

/// The nodes or the edges of a file.
pub(super) struct ElementBatches {
    reader: GraphmlReader,
    file: String,
    of_edges: bool,
    refuses_missing: bool,
    schema: SchemaRef,
    /// The keys that are columns after those of ids and endpoints.
    keys: Vec<usize>,
    seen: Arc<Mutex<Seen>>,
    has_ended: bool,
}

impl ElementBatches {
    /// Opens a file. Nodes have the column `id` and those of their attributes; edges `source`,
    /// `target`, `id` and those of theirs.
    ///
    /// # Errors
    ///
    /// As [`GraphmlReader::open`].
    pub(super) fn open(
        path: &Path,
        of_edges: bool,
        (refuses_missing, skip_errors): (bool, bool),
        seen: &Arc<Mutex<Seen>>,
    ) -> Result<ElementBatches> {
        let reader = GraphmlReader::open(path, skip_errors)?;
        let own = |position: &usize| reader.keys[*position].of[usize::from(of_edges)];
        let keys: Vec<usize> = (0..reader.keys.len()).filter(own).collect();
        let ids: &[&str] = if of_edges { &["source", "target", "id"] } else { &["id"] };
        let ids = ids.iter().map(|name| Field::new(*name, DataType::Utf8, true));
        let fields = keys.iter().map(|&position| {
            let key = &reader.keys[position];
            let data_type = match key.kind {
                Kind::Bool => DataType::Boolean,
                Kind::Int => DataType::Int64,
                Kind::Float => DataType::Float64,
                Kind::Text => DataType::Utf8,
            };
            Field::new(&key.name, data_type, true)
        });
        let schema = Arc::new(Schema::new(ids.chain(fields).collect::<Vec<Field>>()));
        let (seen, file) = (Arc::clone(seen), path.display().to_string());
        let has_ended = false;
        Ok(ElementBatches {
            reader,
            file,
            of_edges,
            refuses_missing,
            schema,
            keys,
            seen,
            has_ended,
        })
    }

    /// Whether edges have a direction.
    pub(super) fn is_directed(&self) -> bool {
        self.reader.is_directed
    }

    /// The next batch; `None` at the end of the file.
    fn batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.has_ended {
            return Ok(None);
        }
        let ids_len = self.schema.fields().len() - self.keys.len();
        let mut ids: Vec<Column> = (0..ids_len).map(|_| Column::new(Kind::Text)).collect();
        let kinds = self.keys.iter().map(|&position| self.reader.keys[position].kind);
        let mut columns: Vec<Column> = kinds.map(Column::new).collect();
        let (mut rows, mut text_len) = (0, 0);
        let rows_max = ROWS_MAX.min(CELLS_MAX / columns.len().max(1)).max(1);
        for _ in 0..ELEMENTS_MAX {
            let Some(element) = self.reader.next()? else {
                self.has_ended = true;
                break;
            };
            if element.is_edge != self.of_edges {
                continue;
            }
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.note(&element, self.refuses_missing, &self.file)?;
            drop(seen);
            rows += 1;
            let Element { id, endpoints, mut cells, .. } = element;
            let own = id.map(Cell::Text);
            let of_edge = endpoints.into_iter().map(|end| Some(Cell::Text(end)));
            let values: Vec<Option<Cell>> = match self.of_edges {
                true => of_edge.chain([own]).collect(),
                false => vec![own],
            };
            let mut push = |column: &mut Column, cell: Option<Cell>| {
                if let Some(Cell::Text(text)) = &cell {
                    text_len += text.len();
                }
                column.cells.push(cell);
            };
            ids.iter_mut().zip(values).for_each(|(column, value)| push(column, value));
            for (column, position) in columns.iter_mut().zip(&self.keys) {
                push(column, cells.remove(position));
            }
            if rows_max <= rows || TEXT_LEN_MAX <= text_len {
                break;
            }
        }
        if self.has_ended {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if self.of_edges {
                // Both readers have met all of it.
                seen.left_out.extend(std::mem::take(&mut self.reader.left_out));
                seen.wrong = std::mem::take(&mut self.reader.wrong);
            }
        }
        let arrays = ids.into_iter().chain(columns).map(Column::finish).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
            .map(Some)
            .map_err(|fault| Error::query(format!("{}: {fault}", self.file)))
    }
}

impl Iterator for ElementBatches {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.batch();
        self.has_ended |= next.is_err();
        next.map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for ElementBatches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ids that a hash without a key takes for one: the two halves are swapped, and bits are
    /// flipped.
    #[test]
    fn ids_that_differ_are_two_whatever_they_are() {
        let [one, other] = ["T\u{d1fb}er@w\u{12d}nd9iH`", "S\u{5bd}\u{27c9}nW\u{d6}T=\u{d2}f@"];
        assert_eq!(FxBuildHasher.hash_one(one), FxBuildHasher.hash_one(other));
        let mut ids = IdSet::default();
        assert!(ids.insert(one) && !ids.insert(one));
        assert!(ids.contains(one) && !ids.contains(other));
    }
}
