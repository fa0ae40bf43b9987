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
pub(crate) use bitmap::{FrozenBitmap, FrozenIter};
pub(crate) use blocks::catch_corrupt;
pub(crate) use column::facets_byte_len;
pub use column::{Column, FacetColumn};
pub use edges::Edges;
pub use file_format::FileAccess;
pub use file_format::SnapshotFile;
pub(crate) use file_format::SnapshotWriter;
pub(crate) use files::write_all_at;
pub use files::{Disk, Files, OutputFile};
pub use identity::Identity;
pub use log::Header as LogHeader;
pub use log::LogReader;
pub(crate) use log::{HEADER_LEN as LOG_HEADER_LEN, LogWriter};
pub(crate) use node_set::{NodeSet, bitmap_of};
pub(crate) use offsets::Offsets;
pub(crate) use text_array::TextArray;
pub use values::{Values, ValuesBuilder, text_of};
