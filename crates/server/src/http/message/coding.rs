//! [`Coding`]: how bodies are compressed, gzip (RFC 1952) or zstd (RFC 8878).

use super::request_error::RequestError;
use axum::http::{HeaderMap, HeaderValue, header};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::io;
use std::io::{Read, Write};

/// What gzip begins with: the magic number, and the one method that there is.
const GZIP_HEADER: &[u8] = &[0x1f, 0x8b, 8];

/// What a frame of zstd begins with.
const ZSTD_HEADER: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// A decoder of zstd holds a window of at most 2 to this power bytes, 8 MiB, as RFC 9659 has it for
/// HTTP: the sender says how long it is.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Fast, like the level of gzip.
const ZSTD_LEVEL: i32 = 1;

/// How a body is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum Coding {
    /// By gzip.
    Gzip,
    /// By zstd.
    Zstd,
}

impl Coding {
    /// The coding that a client accepts, `None` without a supported one: the one of the greater
    /// weight, and zstd of equal ones, which is faster.
    pub(in crate::http) fn accepted(headers: &HeaderMap) -> Option<Coding> {
        Coding::accepted_among(headers, &[Coding::Gzip, Coding::Zstd])
    }

    fn accepted_among(headers: &HeaderMap, offered: &[Coding]) -> Option<Coding> {
        let accepted = headers.get(header::ACCEPT_ENCODING)?.to_str().ok()?;
        let mut best: Option<(f32, Coding)> = None;
        for coding in accepted.split(',') {
            let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
            let quality = quality.trim().strip_prefix("q=").map(|number| number.trim().parse());
            let coding = Coding::of_name(name.trim()).filter(|coding| offered.contains(coding));
            let (Some(coding), weight) = (coding, quality.unwrap_or(Ok(1.0))) else {
                continue;
            };
            // A weight that is no number counts as none that was given.
            let weight: f32 = weight.unwrap_or(1.0);
            let is_better = best.is_none_or(|(existing, other)| {
                existing < weight || existing == weight && other == Coding::Gzip
            });
            // Nothing of it is requested: `q=0`.
            if 0.0 < weight && is_better {
                best = Some((weight, coding));
            }
        }
        best.map(|(_, coding)| coding)
    }

    /// Whether a client accepts gzip.
    pub(in crate::http) fn accepts_gzip(headers: &HeaderMap) -> bool {
        Coding::accepted_among(headers, &[Coding::Gzip]).is_some()
    }

    /// How a body is compressed, by what its headers say and how it begins.
    ///
    /// # Errors
    ///
    /// [`RequestError::Encoding`] for another coding, [`RequestError::GzipHeader`] and
    /// [`RequestError::ZstdHeader`] for a body that is not what the headers say.
    pub(in crate::http) fn of_body(
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Option<Coding>, RequestError> {
        let named = headers.get(header::CONTENT_ENCODING).map_or(&b""[..], |it| it.as_bytes());
        let named = String::from_utf8_lossy(named);
        if named.is_empty() || named.eq_ignore_ascii_case("identity") {
            return Ok(None);
        }
        match Coding::of_name(&named) {
            Some(Coding::Gzip) if !body.starts_with(GZIP_HEADER) => Err(RequestError::GzipHeader),
            Some(Coding::Zstd) if !body.starts_with(ZSTD_HEADER) => Err(RequestError::ZstdHeader),
            None => Err(RequestError::Encoding),
            existing => Ok(existing),
        }
    }

    fn of_name(name: &str) -> Option<Coding> {
        match name.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Some(Coding::Gzip),
            "zstd" => Some(Coding::Zstd),
            _ => None,
        }
    }

    /// The name in headers.
    pub(in crate::http) fn name(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Coding::Gzip => "gzip",
            Coding::Zstd => "zstd",
        })
    }

    /// What decompresses a body fragment by fragment.
    ///
    /// # Errors
    ///
    /// `Limit`-like errors of the library when there is no memory for it.
    pub(in crate::http) fn unpacker<'b>(self, body: &'b [u8]) -> io::Result<Box<dyn Read + 'b>> {
        Ok(match self {
            // A body may be several of them, one after the other (RFC 1952, section 2.2).
            Coding::Gzip => Box::new(MultiGzDecoder::new(body)),
            Coding::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(body)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Box::new(decoder)
            }
        })
    }

    /// What went wrong in decompressing.
    pub(in crate::http) fn fault(self, error: &io::Error) -> RequestError {
        let reason = error.to_string();
        match self {
            Coding::Gzip => RequestError::Gzip { reason },
            Coding::Zstd => RequestError::Zstd { reason },
        }
    }

    /// What compresses an answer; `None` when there is no memory for it, and the answer goes out as
    /// it is.
    pub(in crate::http) fn packer(self) -> Option<Compressor> {
        Some(match self {
            Coding::Gzip => Compressor::Gzip(GzEncoder::new(Vec::new(), Compression::fast())),
            Coding::Zstd => {
                Compressor::Zstd(zstd::stream::write::Encoder::new(Vec::new(), ZSTD_LEVEL).ok()?)
            }
        })
    }
}

/// What compresses an answer, fragment by fragment.
pub(in crate::http) enum Compressor {
    /// By gzip.
    Gzip(GzEncoder<Vec<u8>>),
    /// By zstd.
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

impl Compressor {
    /// Compresses a fragment.
    ///
    /// # Errors
    ///
    /// Those of the library, which has none for memory that is there.
    pub(in crate::http) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Compressor::Gzip(packer) => packer.write_all(bytes),
            Compressor::Zstd(packer) => packer.write_all(bytes),
        }
    }

    /// Compresses all that was written, so that it can be decompressed before more comes.
    ///
    /// # Errors
    ///
    /// As [`Compressor::write`].
    pub(in crate::http) fn flush(&mut self) -> io::Result<()> {
        match self {
            Compressor::Gzip(packer) => packer.flush(),
            Compressor::Zstd(packer) => packer.flush(),
        }
    }

    /// What is compressed and not consumed.
    pub(in crate::http) fn ready(&mut self) -> &mut Vec<u8> {
        match self {
            Compressor::Gzip(packer) => packer.get_mut(),
            Compressor::Zstd(packer) => packer.get_mut(),
        }
    }

    /// The rest, with the end.
    ///
    /// # Errors
    ///
    /// As [`Compressor::write`].
    pub(in crate::http) fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Compressor::Gzip(packer) => packer.finish(),
            Compressor::Zstd(packer) => packer.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_accept() {
        for (accepted, want) in [
            ("gzip", Some(Coding::Gzip)),
            ("br, GZIP;q=0.5", Some(Coding::Gzip)),
            ("gzip;q=0", None),
            ("br;q=1, gzip; q=0.0", None),
            ("deflate", None),
            ("gzip, deflate, br, zstd", Some(Coding::Zstd)),
            ("zstd, gzip", Some(Coding::Zstd)),
            ("zstd;q=0.1, gzip;q=0.9", Some(Coding::Gzip)),
            ("zstd;q=0", None),
            ("zstd;q=nothing", Some(Coding::Zstd)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, accepted.parse().unwrap());
            assert_eq!(Coding::accepted(&headers), want, "{accepted}");
        }
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let text = "0123456789".repeat(100_000);
        for coding in [Coding::Gzip, Coding::Zstd] {
            let mut packer = coding.packer().unwrap();
            let mut packed = Vec::new();
            for chunk in text.as_bytes().chunks(7_777) {
                packer.write(chunk).unwrap();
                packed.append(packer.ready());
            }
            packed.extend(packer.finish().unwrap());
            assert!(packed.len() < text.len() / 20, "{coding:?}: {}", packed.len());
            let headers = HeaderMap::from_iter([(header::CONTENT_ENCODING, coding.name())]);
            assert_eq!(Coding::of_body(&headers, &packed), Ok(Some(coding)));
            let mut unpacked = String::new();
            coding.unpacker(&packed).unwrap().read_to_string(&mut unpacked).unwrap();
            assert!(unpacked == text, "{coding:?}");
            let mut cut = coding.unpacker(&packed[..packed.len() / 2]).unwrap();
            assert!(cut.read_to_end(&mut Vec::new()).is_err(), "{coding:?}");
            assert!(Coding::of_body(&headers, b"x").is_err());
        }
    }

    #[test]
    fn a_window_that_is_too_long_is_refused() {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(27).unwrap();
        encoder.write_all(&vec![b'x'; 1 << 20]).unwrap();
        let packed = encoder.finish().unwrap();
        let mut unpacker = Coding::Zstd.unpacker(&packed).unwrap();
        let error = unpacker.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(Coding::Zstd.fault(&error).to_string().starts_with("zstd: "), "{error}");
    }
}
