//! The data as files that other programs read: text by the end of its name, and the files that Dgraph's loaders take.

mod output;
mod text;
mod loaders;

pub use text::ExportReport;
