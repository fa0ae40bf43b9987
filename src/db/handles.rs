//! [`Handle`]: one of several handles of a database that a process has open, closed one by one.
//! [`super::connect`] says what for.

use super::guard::guarded;
use super::namespaces::NamespaceSet;
use super::operation::OpenOptions;
use hexgraph_base::types::{Error, Result};
use std::io::ErrorKind;
use std::path::Path;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// One of the handles of a database that a process has open. Clones of a
/// [`Database`](super::Database) have the same one.
pub(super) struct Handle {
    shared: Arc<Shared>,
    closed: OnceLock<()>,
}

impl Handle {
    fn new(shared: Arc<Shared>) -> Arc<Handle> {
        Arc::new(Handle { shared, closed: OnceLock::new() })
    }

    /// True once it was closed.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.get().is_some()
    }

    /// Closes the handle, and with the last one the database.
    ///
    /// # Errors
    ///
    /// As [`Database::close`](super::Database::close); the handle stays open then.
    pub(super) fn close(&self) -> Result<()> {
        if self.shared.process != process::id() {
            // What another thread of the parent had locked stays so here.
            let _ = self.closed.set(());
            return Ok(());
        }
        let mut open = lock(&self.shared.open);
        if self.is_closed() {
            return Ok(());
        }
        if *open == 1 {
            self.shared.all.close()?;
        }
        *open -= 1;
        let _ = self.closed.set(());
        Ok(())
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // An error has no receiver here; `close` reports it.
        let _ = guarded(|| self.close());
    }
}

/// A database that a process has open, with what its handles have in common.
pub(super) struct Shared {
    all: Arc<NamespaceSet>,
    options: OpenOptions,
    /// The number of handles that are neither closed nor dropped. Locked while the database is
    /// being closed.
    open: Mutex<usize>,
    /// The process that opened it.
    process: u32,
}

impl Shared {
    /// A database that was just opened, with its first handle.
    pub(super) fn first(
        all: Arc<NamespaceSet>,
        options: OpenOptions,
    ) -> (Arc<Shared>, Arc<Handle>) {
        let shared = Arc::new(Shared { all, options, open: Mutex::new(1), process: process::id() });
        (Arc::clone(&shared), Handle::new(shared))
    }

    /// The database itself.
    pub(super) fn all(&self) -> &Arc<NamespaceSet> {
        &self.all
    }

    /// Another handle; `None` when the database was closed.
    ///
    /// # Errors
    ///
    /// `Io` when it is open with other options.
    pub(super) fn another(
        self: &Arc<Self>,
        path: &Path,
        options: &OpenOptions,
    ) -> Result<Option<Arc<Handle>>> {
        let mut open = lock(&self.open);
        if *open == 0 {
            return Ok(None);
        }
        let differences = self.options.differences(options);
        if !differences.is_empty() {
            let list = |values: fn(&(String, String, String)) -> String| {
                differences.iter().map(values).collect::<Vec<_>>().join(", ")
            };
            let message = format!(
                "this process has the database open with {}, and here {}: connect with the same, or close the other handles first",
                list(|(name, own, _)| format!("{name}={own}")),
                list(|(name, _, other)| format!("{name}={other}")),
            );
            let context = format!("opening {}", path.display());
            return Err(Error::io(context, std::io::Error::new(ErrorKind::AlreadyExists, message)));
        }
        *open += 1;
        Ok(Some(Handle::new(Arc::clone(self))))
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // One who panicked has put nothing half into it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
