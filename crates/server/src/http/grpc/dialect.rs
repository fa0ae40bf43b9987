//! The framings of a call: gRPC over HTTP/2, and gRPC-Web, which pages of browsers speak over any
//! HTTP.

use axum::http::{HeaderMap, header};

/// The media types of calls, without their parameters: two for each [`CallFraming`], in the order
/// of its variants.
pub(in crate::http) const GRPC_TYPES: &[&str] = &[
    "application/grpc",
    "application/grpc+proto",
    "application/grpc-web",
    "application/grpc-web+proto",
    "application/grpc-web-text",
    "application/grpc-web-text+proto",
];

/// How a call is framed, and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum CallFraming {
    /// The status is in the trailers of HTTP/2.
    Grpc,
    /// The status is a last frame of the body.
    Web,
    /// As [`CallFraming::Web`], all in base64.
    WebText,
}

impl CallFraming {
    /// The dialect of a request; `None` for one that is no call, or whose messages are not in
    /// protobuf.
    pub(in crate::http) fn of(headers: &HeaderMap) -> Option<CallFraming> {
        let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        let media_type = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let at = GRPC_TYPES.iter().position(|existing| *existing == media_type)?;
        // Two types in a row are of one dialect.
        Some([CallFraming::Grpc, CallFraming::Web, CallFraming::WebText][at / 2])
    }

    /// The media type of the answer, whether that of the request has `+proto` or not.
    pub(in crate::http) fn content_type(self) -> &'static str {
        match self {
            CallFraming::Grpc => "application/grpc",
            CallFraming::Web => "application/grpc-web+proto",
            CallFraming::WebText => "application/grpc-web-text+proto",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types() {
        for (value, want) in [
            ("application/grpc", Some(CallFraming::Grpc)),
            ("application/grpc+proto", Some(CallFraming::Grpc)),
            ("Application/gRPC; a=b", Some(CallFraming::Grpc)),
            ("application/grpc-web+proto", Some(CallFraming::Web)),
            ("application/grpc-web-text", Some(CallFraming::WebText)),
            ("application/grpc+json", None),
            ("application/grpcx", None),
            ("application/json", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, value.parse().unwrap());
            assert_eq!(CallFraming::of(&headers), want, "{value}");
        }
        assert_eq!(CallFraming::of(&HeaderMap::new()), None);
    }
}
