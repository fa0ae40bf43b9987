//! Calls of pages in browsers: gRPC-Web, as bytes and as text, from origins that may ask and from
//! others.

use super::client::{Site, text};
use super::messages::{Request, Response};
use crate::wire::site;
use crate::wire::site::Answer;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use hexgraph::db::{Database, OpenOptions};
use hexgraph_server::http::{Security, ServeOptions};
use prost::Message;
use std::io::Write;

const QUERY: &str = "{ q(func: has(name)) { name } }";
const WANT: &str = r#"{"q":[{"name":"Ann"}]}"#;

fn site() -> Site {
    let mut security = Security::default();
    security.origins.allow_origin("https://app.example").unwrap();
    let site = Site::with(ServeOptions { security, ..ServeOptions::default() });
    site.client.set("_:a <name> \"Ann\" .");
    site
}

fn send(site: &Site, method: &str, headers: &[&str], body: &[u8]) -> Answer {
    site::send(site.server.grpc_address().unwrap(), (method, "/api.Dgraph/Query"), headers, body)
}

/// A message with what stands before it.
fn frame(flag: u8, message: &[u8]) -> Vec<u8> {
    [&[flag][..], &(message.len() as u32).to_be_bytes(), message].concat()
}

fn question() -> Vec<u8> {
    Request { query: QUERY.to_owned(), ..Request::default() }.encode_to_vec()
}

/// The answer in a body, after which the status has to come.
fn answer(body: &[u8]) -> String {
    let length = u32::from_be_bytes(body[1..5].try_into().unwrap()) as usize;
    let (message, rest) = body[5..].split_at(length);
    assert_eq!((body[0], rest), (0, &b"\x80\0\0\0\x0fgrpc-status:0\r\n"[..]));
    text(&Response::decode(message).unwrap().json)
}

#[test]
fn calls_as_bytes_and_as_text() {
    let site = site();
    let binary =
        send(&site, "POST", &["Content-Type: application/grpc-web+proto"], &frame(0, &question()));
    assert_eq!((binary.status, binary.header("content-type")), (200, "application/grpc-web+proto"));
    assert_eq!(answer(&binary.body), WANT);
    let body = STANDARD.encode(frame(0, &question()));
    let texts = send(&site, "POST", &["Content-Type: application/grpc-web-text"], body.as_bytes());
    assert_eq!(texts.header("content-type"), "application/grpc-web-text+proto");
    assert_eq!(answer(&STANDARD.decode(&texts.body).unwrap()), WANT);
    let failed = send(&site, "POST", &["Content-Type: application/grpc-web"], &frame(0, &[]));
    assert_eq!((failed.status, failed.header("grpc-status")), (200, "2"));
    assert!(failed.header("grpc-message").starts_with("empty request"), "{failed:?}");
}

#[test]
fn packed_messages_are_unpacked() {
    let mut options = OpenOptions::default();
    options.limits.set("body", "12MiB").unwrap();
    let site = Site::of(Database::in_memory_with(options), ServeOptions::default());
    site.client.set("_:a <name> \"Ann\" .");
    let pack = |message: &[u8]| {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(message).unwrap();
        packer.finish().unwrap()
    };
    let headers = ["Content-Type: application/grpc-web", "grpc-encoding: gzip"];
    let reported = send(&site, "POST", &headers, &frame(1, &pack(&question())));
    assert_eq!(answer(&reported.body), WANT);
    // Some 13 KB that become 13 MB.
    let reported = send(&site, "POST", &headers, &frame(1, &pack(&vec![0; 13 << 20])));
    assert_eq!(reported.header("grpc-status"), "8", "{reported:?}");
    assert!(reported.header("grpc-message").contains("unpacks to more than"), "{reported:?}");
    let reported = send(&site, "POST", &headers, &frame(1, b"no gzip"));
    assert_eq!(reported.header("grpc-status"), "3", "{reported:?}");
    let headers = ["Content-Type: application/grpc-web", "grpc-encoding: zstd"];
    let reported = send(&site, "POST", &headers, &frame(1, b"x"));
    assert_eq!(reported.header("grpc-status"), "12", "{reported:?}");
}

#[test]
fn pages_of_other_origins_may_not_ask() {
    let site = site();
    let call = ["Content-Type: application/grpc-web", "X-Grpc-Web: 1"];
    let ask = |origin: &str| {
        send(&site, "POST", &[&call[..], &[origin]].concat(), &frame(0, &question()))
    };
    let allowed = ask("Origin: https://app.example");
    assert_eq!(answer(&allowed.body), WANT);
    assert_eq!(allowed.header("access-control-allow-origin"), "https://app.example");
    assert_eq!(
        allowed.header("access-control-expose-headers"),
        "grpc-status,grpc-message,dgraph-toucheduids"
    );
    let refused = ask("Origin: https://evil.example");
    assert_eq!(refused.header("grpc-status"), "7");
    assert!(
        refused.header("grpc-message").contains("a page of another origin sent the request"),
        "{refused:?}"
    );
    assert!(!refused.headers.iter().any(|(name, _)| name.starts_with("access-control-allow")));
    let refused = ask("Sec-Fetch-Site: cross-site");
    assert_eq!(refused.header("grpc-status"), "7");
    let before = |origin: &str| {
        let headers = [
            origin,
            "Access-Control-Request-Method: POST",
            "Access-Control-Request-Headers: content-type,x-grpc-web,grpc-timeout",
        ];
        send(&site, "OPTIONS", &headers, b"")
    };
    let allowed = before("Origin: https://app.example");
    assert_eq!(allowed.status, 200);
    assert_eq!(
        allowed.header("access-control-allow-headers"),
        "content-type,x-grpc-web,grpc-timeout"
    );
    assert_eq!(before("Origin: https://evil.example").status, 403);
}

#[test]
fn what_is_no_call() {
    let site = site();
    let reported = send(&site, "POST", &["Content-Type: application/json"], b"{}");
    assert_eq!(reported.status, 415, "{reported:?}");
    let reported = send(&site, "GET", &["Content-Type: application/grpc"], b"");
    assert_eq!(
        (reported.header("grpc-status"), reported.header("grpc-message")),
        ("12", "Invalid method")
    );
    assert_eq!(send(&site, "GET", &[], b"").status, 405);
}
