//! The settings of TLS: versions, certificates, and the protocol that is agreed on by ALPN.

use super::files::{TlsFiles, certificates, private_key};
use hexgraph_base::types::{Error, Result};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{Error as TlsError, RootCertStore, ServerConfig};

/// The settings of all ports, read from the files at one time. They do not change: when the files
/// do, new ones are read, and connections that are open use the old ones.
#[derive(Clone)]
pub(super) struct Settings {
    /// For rustls. The client chooses between HTTP/1.1 and HTTP/2; if it offers both, it is HTTP/2.
    pub config: Arc<ServerConfig>,
}

impl Settings {
    /// Reads the files. TLS is spoken in the versions 1.2 and 1.3. Early data of TLS 1.3 is not
    /// accepted, since others could send it again.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] for a file that can't be read, [`Error::Query`] for one whose content is
    /// wrong. Both name the file.
    pub(super) fn read(files: &TlsFiles) -> Result<Settings> {
        let (chain, key) = (certificates(&files.certificate)?, private_key(&files.key)?);
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13, &TLS12])
            .map_err(|fault| Error::query(format!("TLS cannot be set up: {fault}")))?;
        let builder = match &files.client_authorities {
            None => builder.with_no_client_auth(),
            Some(path) => builder.with_client_cert_verifier(verifier(path, provider)?),
        };
        let mut config =
            builder.with_single_cert(chain, key).map_err(|fault| unusable(files, &fault))?;
        config.alpn_protocols = ["h2", "http/1.1"].map(|name| name.as_bytes().to_vec()).into();
        Ok(Settings { config: Arc::new(config) })
    }
}

/// Makes the check of clients' certificates: each client has to have one that was signed by an
/// authority in the file at `path`.
fn verifier(path: &Path, provider: Arc<CryptoProvider>) -> Result<Arc<dyn ClientCertVerifier>> {
    let mut roots = RootCertStore::empty();
    let wrong = |what: String| Error::query(format!("{}: {what}", path.display()));
    for (at, certificate) in certificates(path)?.into_iter().enumerate() {
        let damaged = |_| wrong(format!("certificate {} cannot be an authority's", at + 1));
        roots.add(certificate).map_err(damaged)?;
    }
    let built = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
    let verifier = built.map_err(|fault| wrong(format!("it cannot be used: {fault}")))?;
    Ok(verifier)
}

/// Makes the error for a certificate and a key that rustls refuses.
fn unusable(files: &TlsFiles, fault: &TlsError) -> Error {
    let (certificate, key) = (files.certificate.display(), files.key.display());
    match fault {
        TlsError::InconsistentKeys(_) => {
            let message = format!(
                "the private key in {key} does not belong to the certificate in {certificate}"
            );
            Error::query(message).with_hint(
                "the server's certificate has to be the first in its file, before those that lead to its authority",
            )
        }
        TlsError::InvalidCertificate(_) => {
            Error::query(format!("{certificate}: its first certificate is damaged"))
        }
        fault => Error::query(format!("{key}: the private key cannot be used: {fault}")),
    }
}
