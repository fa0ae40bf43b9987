//! Pages of Parquet files: their headers, their contents, and the memory that decoding them takes.
//!
//! The headers of a row group are read before anything is decoded. They say how large each page
//! becomes, so memory is reserved for it first, and large row groups are read in ranges of rows.
//! What a header says is a bound: a page that becomes larger is refused.

mod header;
mod codec;
mod column;
mod cost;
pub(in crate::tables) mod memory;
pub(super) mod group;
