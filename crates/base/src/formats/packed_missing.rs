//! Replaces the module `packed` in a build without the feature `files`. It has the same functions,
//! and each returns an error: compressed files are neither read nor written.

use super::packing::Packing;
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
    packing: Packing,
    _: usize,
) -> io::Result<Box<dyn Read + Send + 'a>> {
    Err(missing(packing))
}

/// A writer that compresses. This build has none: the field of type [`Infallible`] makes it
/// impossible to construct one, so the methods are never called.
pub struct Packer<W: Write>(Infallible, PhantomData<W>);

impl<W: Write> Packer<W> {
    /// Returns an error instead of a compressor.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::Unsupported`], always.
    pub fn new(_: W, packing: Packing) -> io::Result<Packer<W>> {
        Err(missing(packing))
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

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

fn missing(packing: Packing) -> io::Error {
    let what = match packing {
        Packing::Gzip => "a file compressed with gzip",
        Packing::Zstd => "a file compressed with Zstandard",
    };
    io::Error::new(io::ErrorKind::Unsupported, Feature::Files.missing(what))
}
