//! [`Database::connect`]: several handles of one directory in a process, closed one by one.
//!
//! [`Database::open`] takes a directory for one owner, who hands out clones. Programs with
//! independent parts (the cells of a notebook, a library and its user) open it again instead. To
//! them `connect` gives a further handle:
//!
//! ```text
//!   Slots (of this process)          Shared                        handles
//!   /data/films ──weak──►  NamespaceSet, options, open: 2  ◄── Handle   Handle ✗   Handle
//! ```
//!
//! - A closed handle, with its clones, transactions and servers, fails with `Closed`; the others go
//!   on. The last one that is closed or dropped closes the database. `Shared::open` counts those
//!   that are left, and is locked while the database is being closed: who connects meanwhile waits,
//!   and opens it anew.
//! - A slot is found by the canonical path and locked while its directory is opened, so only one of
//!   several connecting threads opens it. It counts only while the path has the file that is
//!   locked: a directory that was removed and made anew is another database.
//! - Handles have the same threads, memory and limits, so connecting with other options is an error
//!   that names them.
//! - Who reads only gets a database of its own: nothing is locked, and `refresh` of one must not
//!   move the others.
//! - A forked child has handles of its parent, which it must not use: slots belong to a process. It
//!   locks nothing that another thread may have held when it was forked.
//!
//! A call through a handle costs one look at a cell that is written once.

use super::database::Database;
use super::guard::guarded;
use super::handles::{Shared, lock};
use super::operation::OpenOptions;
use arc_swap::ArcSwapOption;
use dashmap::DashMap;
use hexgraph_base::types::Result;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, Weak};

/// # Sharing an open directory
impl Database {
    /// Opens the database in a directory as [`Database::open`] does. Where this process has it open
    /// already by this function, to be written and with the same options, the result is another
    /// handle of the same database. The database is closed with the last of them. With `read_only`
    /// it is opened anew, to be moved by [`Database::refresh`] alone.
    ///
    /// # Errors
    ///
    /// As [`Database::open`]; `Io` when it is open here with other options, with their names.
    ///
    /// ```
    /// # use hexgraph::db::{Database, OpenOptions};
    /// let folder = tempfile::tempdir()?;
    /// let one = Database::connect(folder.path(), OpenOptions::default())?;
    /// let other = Database::connect(folder.path(), OpenOptions::default())?;
    /// one.mutate("_:a <name> \"Ada\" .", "")?;
    /// one.close()?;
    /// assert_eq!(other.stats()?.nodes, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn connect(path: &Path, options: OpenOptions) -> Result<Database> {
        if options.read_only {
            return Database::open(path, options);
        }
        guarded(|| {
            let slot = Slots::of_process().slot(path);
            let mut slot = lock(&slot);
            if let Some(shared) = slot.upgrade().filter(|shared| shared.all().is_locked_at(path))
                && let Some(handle) = shared.another(path, &options)?
            {
                return Ok(Database::of_set(Arc::clone(shared.all())).with_handle(handle));
            }
            let database = Database::open(path, options)?;
            let (shared, handle) = Shared::first(Arc::clone(&database.all), options);
            *slot = Arc::downgrade(&shared);
            Ok(database.with_handle(handle))
        })
    }
}

/// The database of a directory, if it is open.
type Slot = Mutex<Weak<Shared>>;

/// The directories that a process has opened, by their canonical paths.
struct Slots {
    process: u32,
    by_path: DashMap<PathBuf, Arc<Slot>>,
}

static SLOTS: ArcSwapOption<Slots> = ArcSwapOption::const_empty();

impl Slots {
    /// Those of this process: a child that was forked begins with none.
    fn of_process() -> Arc<Slots> {
        let process = process::id();
        let is_own = |slots: &&Arc<Slots>| slots.process == process;
        loop {
            let existing = SLOTS.load();
            if let Some(slots) = existing.as_ref().filter(is_own) {
                return Arc::clone(slots);
            }
            let new = Arc::new(Slots { process, by_path: DashMap::new() });
            // Of threads that come at once one wins.
            SLOTS.compare_and_swap(&*existing, Some(new));
        }
    }

    /// The slot of a directory, which need not be there yet.
    fn slot(&self, path: &Path) -> Arc<Slot> {
        // A slot that another thread holds is in use. The lock of any other slot is free: only the
        // map has it.
        self.by_path.retain(|_, slot| 1 < Arc::strong_count(slot) || 0 < lock(slot).strong_count());
        Arc::clone(&self.by_path.entry(canonical(path)).or_default())
    }
}

/// A path without links and dots, also where its last parts are not there yet.
fn canonical(path: &Path) -> PathBuf {
    let Ok(absolute) = std::path::absolute(path) else { return path.to_owned() };
    let existing = absolute.ancestors().find_map(|above| {
        let rest = absolute.strip_prefix(above).ok()?;
        let result = above.canonicalize().ok()?;
        // Joined with nothing a path would end in a slash.
        Some(if rest.as_os_str().is_empty() { result } else { result.join(rest) })
    });
    existing.unwrap_or(absolute)
}
