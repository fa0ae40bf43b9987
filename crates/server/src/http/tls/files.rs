//! Reads certificates and private keys from files in PEM. No error contains what is in a file.

use hexgraph_base::types::{Error, Result};
use std::fs;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The largest length of a file, in bytes.
const FILE_LEN_MAX: usize = 1 << 20;

/// The files that TLS is set up from, all in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate of the server, and after it those that point to an authority that clients
    /// know.
    pub certificate: PathBuf,
    /// The private key of the certificate. It may be the same file.
    pub key: PathBuf,
    /// The certificates of authorities: a client has to show a certificate that one of them has
    /// signed. Without it clients need none.
    pub client_authorities: Option<PathBuf>,
}

/// Detects that files were written: for each its time of modification, its length and its number;
/// `None` where it can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp([Option<(SystemTime, u64, u64)>; 3]);

impl Stamp {
    /// The present stamp of some files.
    pub(super) fn of(files: &TlsFiles) -> Stamp {
        let stamp = |path: &PathBuf| {
            let metadata = fs::metadata(path).ok()?;
            Some((metadata.modified().ok()?, metadata.len(), number(&metadata)))
        };
        let authorities = files.client_authorities.as_ref().and_then(stamp);
        Stamp([stamp(&files.certificate), stamp(&files.key), authorities])
    }
}

/// The number of a file, which another file has after it was renamed to replace the first.
#[cfg(unix)]
fn number(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> u64 {
    0
}

/// Reads all certificates of a file, at least one.
///
/// # Errors
///
/// [`Error::Io`] where the file cannot be read; [`Error::Query`] where no certificates are in it.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let bytes = read(path)?;
    let hit: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match hit {
        Ok(hit) if hit.is_empty() => Err(missing(path, "certificate", "CERTIFICATE")),
        Ok(hit) => Ok(hit),
        Err(fault) => Err(damaged(path, &fault)),
    }
}

/// Reads the first private key of a file.
///
/// # Errors
///
/// [`Error::Io`] where the file cannot be read; [`Error::Query`] where no key is in it, or one that
/// is encrypted.
pub(super) fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>> {
    let bytes = read(path)?;
    let fault = match PrivateKeyDer::from_pem_slice(&bytes) {
        Ok(key) => return Ok(key),
        Err(fault) => fault,
    };
    let is_encrypted = bytes.windows(9).any(|window| window == b"ENCRYPTED");
    Err(match fault {
        _ if is_encrypted => {
            let message = format!("{}: the private key is encrypted by a password", path.display());
            Error::query(message).with_hint("write it without: openssl pkey -in FILE -out NEW-FILE")
        }
        PemError::NoItemsFound => missing(path, "private key", "PRIVATE KEY"),
        fault => damaged(path, &fault),
    })
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let shown = path.display();
    let failed = |error| Error::io(format!("reading {shown} for TLS"), error);
    // A pipe would be waited for, and read only once.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(Error::query(format!("{shown}: expected a file in PEM, and this is no file")));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    // One byte more than is allowed shows that the file is too long.
    file.take(FILE_LEN_MAX as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    match bytes.len() <= FILE_LEN_MAX {
        true => Ok(bytes),
        false => Err(Error::query(format!(
            "{shown}: expected a certificate or a key in PEM, and it is longer than a MiB"
        ))),
    }
}

fn missing(path: &Path, what: &str, section: &str) -> Error {
    let shown = path.display();
    let message = format!("{shown}: there is no {what} in PEM in it");
    Error::query(message).with_hint(format!("expected a section -----BEGIN {section}-----"))
}

fn damaged(path: &Path, fault: &PemError) -> Error {
    let what = match fault {
        PemError::MissingSectionEnd { .. } => "a section has no line -----END",
        PemError::IllegalSectionStart { .. } => "a line -----BEGIN does not end with -----",
        PemError::Base64Decode(_) => "a section is not in Base64",
        _ => "it cannot be read",
    };
    Error::query(format!("{}: its PEM is damaged: {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pem_is_reported_without_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let key = |text: &str| {
            fs::write(&path, text).unwrap();
            private_key(&path).unwrap_err().to_string()
        };
        for (text, why) in [
            ("", "there is no private key in PEM in it"),
            ("hunter2", "there is no private key in PEM in it"),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "no private key"),
            ("-----BEGIN PRIVATE KEY-----\nhunter2", "a section has no line -----END"),
            ("-----BEGIN PRIVATE KEY hunter2\n", "does not end with -----"),
            (
                "-----BEGIN PRIVATE KEY-----\nhunter2!\n-----END PRIVATE KEY-----\n",
                "is not in Base64",
            ),
            (
                "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
                "the private key is encrypted by a password",
            ),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n",
                "the private key is encrypted by a password",
            ),
        ] {
            let error = key(text);
            assert!(error.contains(why) && !error.contains("hunter2"), "{text:?}: {error}");
        }
        fs::write(&path, "hunter2").unwrap();
        let error = certificates(&path).unwrap_err().to_string();
        assert!(error.contains("there is no certificate in PEM in it"), "{error}");
    }

    #[test]
    fn what_is_no_file_of_that_kind_is_not_read_for_long() {
        let folder = tempfile::tempdir().unwrap();
        let error = certificates(folder.path()).unwrap_err().to_string();
        assert!(error.contains("this is no file"), "{error}");
        let path = folder.path().join("file");
        let error = certificates(&path).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error:?}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        fs::write(&path, vec![b'a'; FILE_LEN_MAX + 1]).unwrap();
        let error = certificates(&path).unwrap_err().to_string();
        assert!(error.contains("longer than a MiB"), "{error}");
    }

    #[test]
    fn a_stamp_distinguishes_files_that_were_written_replaced_or_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let files = TlsFiles {
            certificate: path("a"),
            key: path("b"),
            client_authorities: Some(path("c")),
        };
        let mut stamps = vec![Stamp::of(&files)];
        for name in ["a", "b", "c"] {
            fs::write(path(name), "one").unwrap();
            stamps.push(Stamp::of(&files));
        }
        fs::write(path("b"), "longer").unwrap();
        stamps.push(Stamp::of(&files));
        fs::write(path("new"), "two").unwrap();
        fs::rename(path("new"), path("a")).unwrap();
        stamps.push(Stamp::of(&files));
        fs::remove_file(path("c")).unwrap();
        stamps.push(Stamp::of(&files));
        for (at, stamp) in stamps.iter().enumerate() {
            assert!(!stamps[..at].contains(stamp), "{at}: {stamps:?}");
        }
        assert_eq!(Stamp::of(&files), stamps[stamps.len() - 1]);
    }
}
