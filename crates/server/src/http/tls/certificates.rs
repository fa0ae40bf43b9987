//! [`Certificates`], which are read anew when their files change.

use super::files::{Stamp, TlsFiles};
use super::settings::Settings;
use hexgraph_base::types::Result;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tokio_rustls::TlsAcceptor;

/// The certificates of a server, which are read anew when their files change.
pub struct Certificates {
    files: TlsFiles,
    current: RwLock<Settings>,
    looked: Mutex<Looked>,
}

/// What was seen of the files.
struct Looked {
    /// The stamp of the files when they were last read.
    read: Stamp,
    /// Their stamp when they were last looked at.
    last: Stamp,
}

impl Certificates {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](hexgraph_base::types::Error::Io) where one cannot be read, and
    /// [`Error::Query`](hexgraph_base::types::Error::Query) where it is not what it has to be, both
    /// with its name; its content is never reported.
    pub fn read(files: TlsFiles) -> Result<Certificates> {
        // Whatever is written after this is reported by another stamp.
        let stamp = Stamp::of(&files);
        let current = RwLock::new(Settings::read(&files)?);
        let looked = Mutex::new(Looked { read: stamp.clone(), last: stamp });
        Ok(Certificates { files, current, looked })
    }

    /// Reads the files anew if they have changed and are as they were at the last call: whoever
    /// writes them may not be done with all of them. `None` if nothing was read. It waits for the
    /// disk.
    ///
    /// # Errors
    ///
    /// As [`Certificates::read`] has them, once for each change. The certificates before it stay in
    /// use.
    pub(in crate::http) fn renew(&self) -> Option<Result<()>> {
        let now = Stamp::of(&self.files);
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_clean = looked.last == now;
        looked.last = now.clone();
        if !is_clean || looked.read == now {
            return None;
        }
        looked.read = now;
        Some(Settings::read(&self.files).map(|settings| {
            *self.current.write().unwrap_or_else(PoisonError::into_inner) = settings;
        }))
    }

    /// What begins TLS on a new connection, with the current certificates.
    pub(in crate::http) fn acceptor(&self) -> TlsAcceptor {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(Arc::clone(&current.config))
    }

    /// The files.
    pub fn files(&self) -> &TlsFiles {
        &self.files
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Certificates").field(&self.files).finish()
    }
}
