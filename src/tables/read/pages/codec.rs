//! Decompresses pages into as many bytes as their headers say, and no more.

use parquet::basic::Compression;
use std::fmt::Display;
use std::io::{self, Read};

/// Decompresses a page, or the part of it that is compressed.
///
/// # Errors
///
/// Why it can't be decompressed into `len` bytes.
pub(super) fn unpacked(
    codec: Compression,
    packed: Vec<u8>,
    len: usize,
) -> std::result::Result<Vec<u8>, String> {
    let input = packed.as_slice();
    let unpacked = match codec {
        Compression::UNCOMPRESSED => packed,
        _ if len == 0 => Vec::new(),
        Compression::SNAPPY => {
            let mut out = vec![0; len];
            let read = snap::raw::Decoder::new().decompress(input, &mut out).map_err(fault)?;
            out.truncate(read);
            out
        }
        Compression::GZIP(_) => streamed(flate2::read::MultiGzDecoder::new(input), len)?,
        Compression::BROTLI(_) => {
            streamed(brotli_decompressor::Decompressor::new(input, 1 << 12), len)?
        }
        Compression::ZSTD(_) => {
            let mut out = Vec::with_capacity(len);
            let mut decoder = zstd::bulk::Decompressor::new().map_err(fault)?;
            decoder.decompress_to_buffer(input, &mut out).map_err(fault)?;
            out
        }
        Compression::LZ4_RAW => block(input, len)?,
        Compression::LZ4 => {
            // Three forms have this name: blocks after their lengths, a frame, and one block.
            blocks(input, len)
                .or_else(|| streamed(lz4_flex::frame::FrameDecoder::new(input), len).ok())
                .map_or_else(|| block(input, len), Ok)?
        }
        other => return Err(format!("its pages are packed by {other}, which is not supported")),
    };
    if unpacked.len() == len {
        return Ok(unpacked);
    }
    Err("a page has another length than it says".to_owned())
}

/// What a stream has, one byte more than `len` at most.
fn streamed(input: impl Read, len: usize) -> std::result::Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(len + 1);
    input.take(len as u64 + 1).read_to_end(&mut out).map_err(fault)?;
    Ok(out)
}

fn block(input: &[u8], len: usize) -> std::result::Result<Vec<u8>, String> {
    let mut out = vec![0; len];
    let read = lz4_flex::block::decompress_into(input, &mut out).map_err(fault)?;
    out.truncate(read);
    Ok(out)
}

/// Blocks as Hadoop writes them: the lengths of a block, decompressed and compressed, are in front
/// of it.
fn blocks(mut input: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut out = vec![0; len];
    let mut at = 0_usize;
    while !input.is_empty() {
        let (lengths, rest) = input.split_at_checked(8)?;
        let length = |range: std::ops::Range<usize>| {
            Some(u32::from_be_bytes(lengths[range].try_into().ok()?) as usize)
        };
        let (block_len, packed_len) = (length(0..4)?, length(4..8)?);
        let (packed, behind) = rest.split_at_checked(packed_len)?;
        let part = out.get_mut(at..at.checked_add(block_len)?)?;
        if lz4_flex::block::decompress_into(packed, part).ok()? != block_len {
            return None;
        }
        (at, input) = (at + block_len, behind);
    }
    (at == len).then_some(out)
}

fn fault(error: impl Display) -> String {
    format!("a page can't be unpacked ({error})")
}

/// Reads the bytes at a position of a file.
///
/// # Errors
///
/// Those of the system, and [`io::ErrorKind::UnexpectedEof`].
pub(super) fn bytes_at(
    file: &mut (impl Read + io::Seek),
    offset: u64,
    len: usize,
) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(len);
    file.seek(io::SeekFrom::Start(offset))?;
    file.take(len as u64).read_to_end(&mut bytes)?;
    if bytes.len() == len { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A page that becomes longer than its header says is refused when it has one byte more.
    #[test]
    fn pages_become_no_longer_than_they_say() {
        let bytes = vec![7; 1 << 16];
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&bytes).unwrap();
        let snappy = snap::raw::Encoder::new().compress_vec(&bytes).unwrap();
        let raw = lz4_flex::block::compress(&bytes);
        let framed = {
            let mut frame = lz4_flex::frame::FrameEncoder::new(Vec::new());
            frame.write_all(&bytes).unwrap();
            frame.finish().unwrap()
        };
        let lengths = [bytes.len() as u32, raw.len() as u32].map(u32::to_be_bytes).concat();
        let hadoop = [lengths.as_slice(), &raw].concat();
        let cases = [
            (Compression::GZIP(Default::default()), gzip.finish().unwrap()),
            (Compression::SNAPPY, snappy),
            (Compression::ZSTD(Default::default()), zstd::bulk::compress(&bytes, 1).unwrap()),
            (Compression::LZ4_RAW, raw.clone()),
            (Compression::LZ4, raw),
            (Compression::LZ4, framed),
            (Compression::LZ4, hadoop),
            (Compression::UNCOMPRESSED, bytes.clone()),
        ];
        for (codec, packed) in cases {
            assert_eq!(unpacked(codec, packed.clone(), bytes.len()).unwrap(), bytes, "{codec}");
            for len in [0, 100, bytes.len() + 1] {
                let result = unpacked(codec, packed.clone(), len);
                assert!(result.is_err() || len == 0, "{codec} {len}");
                assert!(result.unwrap_or_default().len() <= len, "{codec} {len}");
            }
        }
    }
}
