//! Files compressed with gzip or Zstandard, read and written.

use super::compression::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::io::{self, BufReader, Read, Write};

/// Returns a reader of what was compressed. `read_len` is the number of bytes that are read of the
/// file at a time.
///
/// # Errors
///
/// When the decoder gets no memory.
pub(super) fn unpacked<'a>(
    input: impl Read + Send + 'a,
    compression: Compression,
    read_len: usize,
) -> io::Result<Box<dyn Read + Send + 'a>> {
    Ok(match compression {
        Compression::Gzip => {
            Box::new(MultiGzDecoder::new(BufReader::with_capacity(read_len, input)))
        }
        Compression::Zstd => Box::new(zstd::Decoder::new(input)?),
    })
}

/// Compresses what is written to it. [`Compressor::finish`] writes the end.
pub struct Compressor<W: Write>(Encoder<W>);

enum Encoder<W: Write> {
    Gzip(GzEncoder<W>),
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> Compressor<W> {
    /// Creates a compressor, which trades size for speed.
    ///
    /// # Errors
    ///
    /// When the encoder gets no memory.
    pub fn new(out: W, compression: Compression) -> io::Result<Compressor<W>> {
        Ok(Compressor(match compression {
            Compression::Gzip => Encoder::Gzip(GzEncoder::new(out, flate2::Compression::fast())),
            Compression::Zstd => Encoder::Zstd(zstd::Encoder::new(out, 0)?),
        }))
    }

    /// Writes what is left, and returns what the compressor wrote to.
    ///
    /// # Errors
    ///
    /// When that can't be written to.
    pub fn finish(self) -> io::Result<W> {
        match self.0 {
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Encoder::Gzip(encoder) => encoder.write(bytes),
            Encoder::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Encoder::Gzip(encoder) => encoder.flush(),
            Encoder::Zstd(encoder) => encoder.flush(),
        }
    }
}
