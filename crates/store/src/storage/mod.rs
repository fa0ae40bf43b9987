//! The data of one predicate, immutable, in heap or mapped from a snapshot file.

mod array;
mod bitmap;
mod blocks;
mod column;
mod edges;
mod files;
mod file_format;
mod identity;
mod log;
mod mapped;
mod node_set;
mod offsets;
mod text_array;
mod values;
mod values_pack;

pub use array::Array;
pub use bitmap::{FrozenBitmap, FrozenIter};
pub use blocks::catch_corrupt;
pub use column::{Column, FacetColumn, facets_byte_len};
pub use edges::Edges;
pub use file_format::{FileAccess, SnapshotFile, SnapshotWriter};
pub use files::{Disk, Files, OutputFile, write_all_at};
pub use identity::Identity;
pub use log::{
    AppendError, HEADER_LEN as LOG_HEADER_LEN, Header as LogHeader, LogReader, LogRecord, LogWriter,
};
pub use node_set::{NodeIter, NodeSet, OverlayIter, bitmap_of};
pub use offsets::Offsets;
pub use text_array::{TextArray, TextArrayBuilder};
pub use values::{Values, ValuesBuilder, text_of, textual};
