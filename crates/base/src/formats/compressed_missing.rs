//! Replaces the module `packed` in a build without the feature `files`. It has the same functions,
//! and each returns an error: compressed files are neither read nor written.

use super::compression::Compression;
use crate::types::Feature;
use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::marker::PhantomData;

/// In the other module, decompresses what is read. Here an error.
///
/// # Errors
///
/// [`io::ErrorKind::Unsupported`], always.
pub(super) fn unpacked<'a>(
    _: impl Read + Send + 'a,
    compression: Compression,
    _: usize,
) -> io::Result<Box<dyn Read + Send + 'a>> {
    Err(missing(compression))
}

/// A writer that compresses. This build has none: the field of type [`Infallible`] makes it
/// impossible to construct one, so the methods are never called.
pub struct Compressor<W: Write>(Infallible, PhantomData<W>);

impl<W: Write> Compressor<W> {
    /// Returns an error instead of a compressor.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::Unsupported`], always.
    pub fn new(_: W, compression: Compression) -> io::Result<Compressor<W>> {
        Err(missing(compression))
    }

    /// In the other module, writes the rest and returns the inner writer.
    ///
    /// # Errors
    ///
    /// None, as there is no compressor.
    pub fn finish(self) -> io::Result<W> {
        match self.0 {}
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

fn missing(compression: Compression) -> io::Error {
    let what = match compression {
        Compression::Gzip => "a file compressed with gzip",
        Compression::Zstd => "a file compressed with Zstandard",
    };
    io::Error::new(io::ErrorKind::Unsupported, Feature::Files.missing(what))
}
