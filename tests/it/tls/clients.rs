//! Clients that have to show a certificate.

use super::authority::Authority;
use super::site::{Encrypted, Manner, Site, connect};
use crate::hostile::wire::Line;
use std::io::Write;
use std::net::SocketAddr;
use tokio_rustls::rustls::SupportedProtocolVersion;
use tokio_rustls::rustls::version::{TLS12, TLS13};

/// Connects, and asks; what is answered, or how that failed. In TLS 1.3 a client learns only
/// afterwards that it is refused.
fn requested(address: SocketAddr, site: &Site, manner: Manner<'_>) -> Result<u16, String> {
    let stream: Encrypted =
        connect(address, &site.authority, manner).map_err(|error| error.to_string())?;
    let mut line = Line::over(stream);
    line.try_get("/health").map(|reported| reported.status).map_err(|error| error.to_string())
}

#[test]
fn who_has_none_or_a_foreign_one_is_refused() {
    let (existing, external) = (Authority::new("clients"), Authority::new("clients"));
    let mut site = Site::that_asks_for(&existing);
    let (good, bad) = (existing.sign("ada"), external.sign("ada"));
    let versions: [&[&SupportedProtocolVersion]; 2] = [&[&TLS12], &[&TLS13]];
    for versions in versions {
        let of = |identity| Manner { versions, identity, protocols: &["http/1.1"] };
        for address in [site.program.address, site.grpc] {
            let error = requested(address, &site, of(None)).unwrap_err();
            let is_reported =
                error.contains("CertificateRequired") || error.contains("HandshakeFailure");
            assert!(is_reported, "{error}");
            let error = requested(address, &site, of(Some(&bad))).unwrap_err();
            assert!(error.contains("UnknownCA") || error.contains("DecryptError"), "{error}");
        }
        assert_eq!(requested(site.program.address, &site, of(Some(&good))), Ok(200));
        // There is no such route at the port of gRPC, which is an answer.
        assert!(requested(site.grpc, &site, of(Some(&good))).is_ok());
    }
    site.logs("is refused: its TLS handshake failed: peer sent no certificates");
    site.program.check_alive();
}

#[test]
fn bytes_without_encryption_end_a_connection() {
    let existing = Authority::new("clients");
    let site = Site::that_asks_for(&existing);
    let good = existing.sign("ada");
    let mut first =
        site.try_connect(Manner { identity: Some(&good), ..Manner::default() }).unwrap();
    assert_eq!(first.get("/health").status, 200);
    // Whoever stands between a client that is known and the server cannot ask in its name.
    first.stream.sock.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert!(first.read().is_err());
}
