//! A file of an export.

use hexgraph_base::formats::{Compression, Compressor};
use hexgraph_base::types::Error;
use std::fs::File;
use std::io;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The file name endings that select a compression.
pub(super) const GZIP: &str = ".gz";
pub(super) const ZSTD: &str = ".zst";

/// The error for a file that can't be written.
pub(super) fn failed(path: &Path, error: io::Error) -> Error {
    Error::io(format!("writing {}", path.display()), error)
}

/// A file that is being written, compressed as the ending of its name says.
pub(super) enum Output {
    Plain(BufWriter<File>),
    Packed(Box<Compressor<BufWriter<File>>>),
}

impl Output {
    /// Begins a file whose extension selects the compression.
    pub(super) fn new(file: File, name: &str) -> io::Result<Output> {
        let file = BufWriter::new(file);
        Ok(match name {
            name if name.ends_with(GZIP) => Output::packed(file, Compression::Gzip)?,
            name if name.ends_with(ZSTD) => Output::packed(file, Compression::Zstd)?,
            _ => Output::Plain(file),
        })
    }

    fn packed(file: BufWriter<File>, compression: Compression) -> io::Result<Output> {
        Ok(Output::Packed(Box::new(Compressor::new(file, compression)?)))
    }

    /// Writes what is held back.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(super) fn finish(self) -> io::Result<()> {
        let mut file = match self {
            Output::Plain(file) => file,
            Output::Packed(packer) => packer.finish()?,
        };
        file.flush()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Plain(file) => file.write(bytes),
            Output::Packed(packer) => packer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Plain(file) => file.flush(),
            Output::Packed(packer) => packer.flush(),
        }
    }
}
