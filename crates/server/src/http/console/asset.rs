//! [`Asset`]: a file that is part of the program, and how it is sent.

use crate::http::message::coding::Coding;
use crate::http::message::reply::Reply;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use flate2::read::GzDecoder;
use ring::digest;
use std::fmt::Write as _;
use std::io::Read;
use std::sync::OnceLock;

/// What a page may do, whatever text it shows: load scripts and styles of this server and talk to
/// this server. Editors set styles of single elements; scripts within a page are refused.
const CONTENT_SECURITY_POLICY: &str = include_str!("policy.txt");

/// A file that is part of the program, compressed by gzip.
pub(super) struct Asset {
    content_type: &'static str,
    packed: &'static [u8],
    /// The file as it is, for clients that do not accept gzip. It is decompressed once, so that
    /// many of them cost no more memory than one.
    plain: OnceLock<Bytes>,
    tag: OnceLock<String>,
}

impl Asset {
    pub(super) const fn new(content_type: &'static str, packed: &'static [u8]) -> Asset {
        Asset { content_type, packed, plain: OnceLock::new(), tag: OnceLock::new() }
    }

    /// The file as a reply to a request with some headers; without a body where the client has it
    /// already.
    pub(super) fn reply(&self, headers: &HeaderMap) -> Reply {
        let tag = self.tag();
        let tags = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
        let is_cached = tags.is_some_and(|tags| tags.split(',').any(|one| one.trim() == tag));
        let reply = match (is_cached, Coding::accepts_gzip(headers)) {
            (true, _) => {
                Reply::fixed(self.content_type, Bytes::new()).with_status(StatusCode::NOT_MODIFIED)
            }
            (false, true) => Reply::fixed(self.content_type, Bytes::from_static(self.packed))
                .with_header("content-encoding", "gzip"),
            (false, false) => Reply::fixed(self.content_type, self.plain().clone()),
        };
        // Browsers revalidate the file each time: another version of the program has other files
        // under the same names.
        reply
            .with_header("etag", tag)
            .with_header("cache-control", "no-cache")
            .with_header("vary", "accept, accept-encoding")
            .with_header("content-security-policy", CONTENT_SECURITY_POLICY.trim_end())
            .with_header("x-content-type-options", "nosniff")
            .with_header("referrer-policy", "no-referrer")
            .with_header("cross-origin-opener-policy", "same-origin")
            .with_header("cross-origin-resource-policy", "same-origin")
    }

    /// The tag of the content. It is weak, since the file is sent with and without compression.
    fn tag(&self) -> &str {
        self.tag.get_or_init(|| {
            let digest = digest::digest(&digest::SHA256, self.packed);
            let mut tag = "W/\"".to_owned();
            for byte in &digest.as_ref()[..16] {
                let _ = write!(tag, "{byte:02x}");
            }
            tag + "\""
        })
    }

    fn plain(&self) -> &Bytes {
        self.plain.get_or_init(|| {
            let mut plain = Vec::new();
            let mut decoder = GzDecoder::new(self.packed);
            decoder.read_to_end(&mut plain).expect("build.rs has compressed it");
            Bytes::from(plain)
        })
    }
}
