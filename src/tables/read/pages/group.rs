//! Gives the pages of some columns of a row group to the decoder, and reserves what lists need
//! beyond the average.

use super::column::{ColumnPages, PageAt};
use super::cost::{cost_of, lists_len, page_len};
use super::header::PageKind;
use super::memory::ReadMemory;
use crate::tables::read::opened::open_file;
use bytes::Bytes;
use hexgraph_base::budget::Held;
use hexgraph_base::types::{Error, Result};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::RowGroups;
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use std::fs::File;
use std::io::BufReader;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The headers of all pages of the columns of a row group that are read.
pub(in crate::tables::read) struct GroupPages {
    /// By column of the file; `None` for one that is not read.
    columns: Vec<Option<Arc<ColumnPages>>>,
    rows: u64,
}

impl GroupPages {
    /// Reads the headers.
    ///
    /// # Errors
    ///
    /// Why the file is damaged.
    pub(in crate::tables::read) fn read(
        file: File,
        group: &RowGroupMetaData,
        mask: &ProjectionMask,
        limit: u64,
    ) -> std::result::Result<GroupPages, String> {
        let file_len = file.metadata().map_or(0, |file| file.len());
        let rows = u64::try_from(group.num_rows()).unwrap_or(0);
        let mut file = BufReader::new(file);
        let columns = group.columns().iter().enumerate().map(|(index, chunk)| {
            let is_read = mask.leaf_included(index);
            let mut read = || ColumnPages::read(&mut file, chunk, (rows, file_len, limit));
            is_read.then(|| read().map(Arc::new)).transpose()
        });
        Ok(GroupPages { columns: columns.collect::<std::result::Result<_, _>>()?, rows })
    }

    /// The bytes that it takes to read a range of rows.
    pub(in crate::tables::read) fn cost(&self, range: &Range<u64>) -> u64 {
        cost_of(self.columns.iter().flatten().map(Arc::as_ref), range, self.rows)
    }

    /// The bytes of `cost` that are for lists.
    fn lists_cost(&self, range: &Range<u64>) -> u64 {
        let lists = self.columns.iter().flatten().filter(|column| column.is_list);
        lists.map(|column| lists_len(column, range, self.rows)).fold(0, u64::saturating_add)
    }
}

/// What the decoder reads a range of rows of.
pub(in crate::tables::read) struct RangePages {
    metadata: Arc<ParquetMetaData>,
    position: usize,
    pages: Arc<GroupPages>,
    file: Arc<Mutex<File>>,
    lists: Arc<Lists>,
}

impl RangePages {
    /// Opens a file again to read a range of rows of one of its row groups.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] where it can't be opened.
    pub(in crate::tables::read) fn open(
        path: &Path,
        (metadata, position): (Arc<ParquetMetaData>, usize),
        (pages, range): (Arc<GroupPages>, &Range<u64>),
        memory: &ReadMemory,
    ) -> Result<RangePages> {
        let name = path.display().to_string();
        let expected = pages.lists_cost(range);
        let lists = Lists {
            name,
            memory: memory.clone(),
            state: Mutex::new(ListState {
                used: vec![(0, 0); pages.columns.len()],
                reserved: expected,
                held: None,
                fault: None,
            }),
        };
        let file = Arc::new(Mutex::new(open_file(path)?));
        Ok(RangePages { metadata, position, pages, file, lists: Arc::new(lists) })
    }

    /// The lists of the range.
    pub(in crate::tables::read) fn lists(&self) -> Arc<Lists> {
        Arc::clone(&self.lists)
    }
}

impl RowGroups for RangePages {
    fn num_rows(&self) -> usize {
        self.pages.rows as usize
    }

    fn column_chunks(&self, column: usize) -> ParquetResult<Box<dyn PageIterator>> {
        let pages = self.pages.columns.get(column).cloned().flatten();
        let pages = pages.ok_or_else(|| ParquetError::General("no such column".to_owned()))?;
        let (file, lists) = (Arc::clone(&self.file), Arc::clone(&self.lists));
        let reader = ColumnReader { column, pages, at: 0, file, lists };
        Ok(Box::new(OneColumn(Some(reader))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.metadata.row_group(self.position)))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// The memory of the lists that a batch is made of. A page of a list says how many items it has,
/// not how many rows.
pub(in crate::tables::read) struct Lists {
    name: String,
    memory: ReadMemory,
    state: Mutex<ListState>,
}

struct ListState {
    /// For each column the bytes of its pages since the last batch, and those of the last page.
    used: Vec<(u64, u64)>,
    /// The bytes that are reserved, the expected ones included.
    reserved: u64,
    /// What is reserved beyond the expected ones.
    held: Option<Held>,
    /// Why there is no more.
    fault: Option<Error>,
}

impl Lists {
    fn state(&self) -> MutexGuard<'_, ListState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves the memory for the items of a page.
    fn reserve(&self, column: usize, bytes: u64) -> Result<()> {
        let mut state = self.state();
        let (used, last) = &mut state.used[column];
        (*used, *last) = (used.saturating_add(bytes), bytes);
        let all = state.used.iter().map(|(used, _)| *used).fold(0, u64::saturating_add);
        if all <= state.reserved {
            return Ok(());
        }
        if self.memory.round_len() < all {
            return Err(self.memory.too_large(&format!("a list of {}", self.name), all));
        }
        let more = all - state.reserved;
        match &mut state.held {
            Some(held) => held.grow(more)?,
            held => *held = Some(self.memory.reserve(more)?),
        }
        state.reserved = all;
        Ok(())
    }

    /// Notes that a batch is done with: only the last page of each column is needed further.
    pub(in crate::tables::read) fn end_batch(&self) {
        self.state().used.iter_mut().for_each(|(used, last)| *used = *last);
    }

    /// Why the decoder got no page, where that was for lack of memory.
    pub(in crate::tables::read) fn fault(&self) -> Option<Error> {
        self.state().fault.take()
    }
}

struct OneColumn(Option<ColumnReader>);

impl Iterator for OneColumn {
    type Item = ParquetResult<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader: Box<dyn PageReader> = Box::new(self.0.take()?);
        Some(Ok(reader))
    }
}

impl PageIterator for OneColumn {}

/// Reads the pages of a column one after the other.
struct ColumnReader {
    column: usize,
    pages: Arc<ColumnPages>,
    at: usize,
    file: Arc<Mutex<File>>,
    lists: Arc<Lists>,
}

impl ColumnReader {
    fn page(&self, page: &PageAt) -> ParquetResult<Page> {
        if self.pages.is_list {
            let reserved = self.lists.reserve(self.column, page_len(&self.pages, page));
            if let Err(fault) = reserved {
                self.lists.state().fault = Some(fault);
                return Err(ParquetError::General("out of memory".to_owned()));
            }
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let content = self.pages.content(&mut *file, page).map_err(ParquetError::General)?;
        let (buf, header) = (Bytes::from(content), page.header);
        let (num_values, encoding) = (header.values, header.encoding);
        Ok(match header.kind {
            PageKind::Dictionary => {
                Page::DictionaryPage { buf, num_values, encoding, is_sorted: false }
            }
            PageKind::Data { definition, repetition } => Page::DataPage {
                buf,
                num_values,
                encoding,
                def_level_encoding: definition,
                rep_level_encoding: repetition,
                statistics: None,
            },
            PageKind::DataV2 { nulls, rows, definition_len, repetition_len, is_packed } => {
                Page::DataPageV2 {
                    buf,
                    num_values,
                    encoding,
                    num_nulls: nulls,
                    num_rows: rows,
                    def_levels_byte_len: definition_len,
                    rep_levels_byte_len: repetition_len,
                    is_compressed: is_packed,
                    statistics: None,
                }
            }
            PageKind::Other => unreachable!("pages without values are left out"),
        })
    }
}

impl Iterator for ColumnReader {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for ColumnReader {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        let Some(page) = self.pages.pages.get(self.at) else { return Ok(None) };
        self.at += 1;
        self.page(page).map(Some)
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        Ok(self.pages.pages.get(self.at).map(|page| match page.header.kind {
            PageKind::Dictionary => {
                PageMetadata { num_rows: None, num_levels: None, is_dict: true }
            }
            PageKind::DataV2 { rows, .. } if self.pages.is_list => PageMetadata {
                num_rows: Some(rows as usize),
                num_levels: Some(page.header.values as usize),
                is_dict: false,
            },
            _ => PageMetadata {
                num_rows: None,
                num_levels: Some(page.header.values as usize),
                is_dict: false,
            },
        }))
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.at += 1;
        Ok(())
    }
}
