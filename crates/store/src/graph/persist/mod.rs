//! Writes versions to files, as snapshots and as exports that other programs read.

pub(super) mod catalog;
pub(super) mod vector_sections;
mod sections;
pub(super) mod export;
pub(super) mod export_json;

pub(crate) use sections::{Reader, Writer};
pub use sections::{open, open_of, save, save_in, save_temporary, verify};
