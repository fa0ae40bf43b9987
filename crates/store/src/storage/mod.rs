//! The data of one predicate, immutable, in heap or mapped from a snapshot file.

mod columns;
mod sets;
mod files;
mod vectorized;

pub use columns::array::Array;
pub(crate) use columns::column::facets_byte_len;
pub use columns::column::{Column, FacetColumn};
pub use columns::edges::Edges;
pub(crate) use columns::node_values::Entries;
pub use columns::node_values::{NodeValues, TypedValues};
pub(crate) use columns::offsets::Offsets;
pub(crate) use columns::text_array::TextArray;
pub(crate) use columns::values::is_negative;
pub use columns::values::{Values, ValuesBuilder, text_of};
pub(crate) use files::blocks::catch_corrupt;
pub(crate) use files::disk::write_all_at;
pub use files::disk::{Disk, Files, OutputFile};
pub(crate) use files::file_format::SnapshotWriter;
pub use files::file_format::{FileAccess, SnapshotFile};
pub use files::identity::Identity;
pub(crate) use files::log::{HEADER_LEN as LOG_HEADER_LEN, LogWriter};
pub use files::log::{Header as LogHeader, LogReader};
pub(crate) use files::scratch::ScratchArray;
pub(crate) use sets::bitmap::{FrozenBitmap, FrozenIter, NO_ROW, RowRun};
pub(crate) use sets::node_lookup::{NodeLookup, is_dense};
pub use sets::node_set::NodeSet;
pub(crate) use sets::node_set::SetChanges;
pub(crate) use sets::sorted::{EvenSearch, append_changed, gallop, is_run};
pub(crate) use sets::span_bits::{SpanBits, bit_of};
pub(crate) use vectorized::{bits_where, vectorized};
