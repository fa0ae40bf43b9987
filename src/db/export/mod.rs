//! The data as files that other programs read: text by its file extension, and the files of
//! Dgraph's loaders.

mod output;
mod text;
mod loaders;

pub use text::ExportReport;
