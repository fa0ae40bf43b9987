//! Operations on the directory of a database: checkpoint, compact, save a copy, follow another
//! writer, check for damage.

use super::database::Database;
use super::guard::guarded;
use super::namespaces::{save_all, sibling_folders};
use super::open::{no_database, open_follower};
use super::operation::OpenOptions;
use hexgraph_base::types::{Result, endless};
use hexgraph_store::durability::{Directory, Recovery, check_new, is_database};
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph::{Check, Compactions, Version, persist};
use std::path::Path;

/// # Snapshots, backups and recovery
impl Database {
    /// Writes a new snapshot of the newest version, which replaces the log. Does nothing for a
    /// database in memory, or when nothing has changed since the last snapshot. Readers and writers
    /// go on meanwhile.
    ///
    /// ```
    /// use hexgraph::db::{Database, OpenOptions};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let db = Database::open(folder.path(), OpenOptions::default())?;
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// db.checkpoint()?;
    /// drop(db);
    /// let db = Database::open(folder.path(), OpenOptions::default())?;
    /// assert_eq!(db.recovery()?.commits, 0, "the snapshot has them all");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Io` on an error of the operating system.
    pub fn checkpoint(&self) -> Result<()> {
        let open = self.open_state()?;
        guarded(|| open.checkpoint(&|| Ok(())))
    }

    /// Writes a snapshot as [`Database::checkpoint`] does, but stops when `context` says so. The
    /// work runs on another thread, so the call returns at once when it is stopped; the unfinished
    /// snapshot is thrown away.
    ///
    /// ```
    /// use hexgraph::db::{Database, OpenOptions, RequestContext};
    /// use std::time::Duration;
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let db = Database::open(folder.path(), OpenOptions::default())?;
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// db.checkpoint_with(&RequestContext::new().with_timeout(Duration::from_secs(60)))?;
    /// assert_eq!(db.recovery()?.commits, 0, "nothing was replayed");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::checkpoint`]; `Limit` when `context` stops it.
    pub fn checkpoint_with(&self, context: &RequestContext) -> Result<()> {
        let open = self.open_state()?;
        guarded(|| context.run_detached(move |canceller| open.checkpoint(&|| canceller.check())))
    }

    /// Merges all changes into their columns, which makes reads faster and memory smaller, and
    /// writes a snapshot. Readers and writers go on meanwhile; their last changes may be left.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// db.compact()?;
    /// assert!(db.query("{ q(func: has(name)) { name } }")?.has_rows()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::checkpoint`].
    pub fn compact(&self) -> Result<()> {
        guarded(|| self.compact_while(&|| Ok(())))
    }

    /// Compacts as [`Database::compact`] does, but stops when `context` says so, as
    /// [`Database::checkpoint_with`] does.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// db.compact_with(&RequestContext::new())?;
    /// assert_eq!(db.stats()?.nodes, 1);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::compact`]; `Limit` when `context` stops it.
    pub fn compact_with(&self, context: &RequestContext) -> Result<()> {
        let database = self.clone();
        guarded(|| {
            context.run_detached(move |canceller| database.compact_while(&|| canceller.check()))
        })
    }

    fn compact_while(&self, check: Check<'_>) -> Result<()> {
        let (open, pool) = (self.open_state()?, self.pool()?);
        open.check_writable()?;
        open.compactions.run(|| {
            let compact = |version: &Version| {
                check()?;
                pool.install(|| Compactions::of(version, check))
            };
            open.store.compact_all(compact).map(Some)
        })?;
        open.checkpoint(check)
    }

    /// Writes the database as it is now to a directory, from which [`Database::open`] opens it. The
    /// database itself stays where it is, and readers and writers go on meanwhile: so this is a
    /// backup. From a handle of the namespace 0 all namespaces are written, each at the time when
    /// it is written, and the keys of clients; from another handle its namespace alone, which is
    /// the namespace 0 of the copy.
    ///
    /// ```
    /// use hexgraph::db::{Database, OpenOptions};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// db.save(&folder.path().join("backup"))?;
    /// let copy = Database::open(&folder.path().join("backup"), OpenOptions::default())?;
    /// assert_eq!(copy.stats()?.nodes, 1);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::open`] of that directory; `Io` on an error of the operating system.
    pub fn save(&self, path: &Path) -> Result<()> {
        guarded(|| self.save_while(path, &endless))
    }

    /// Saves as [`Database::save`] does, but stops when `context` says so, as
    /// [`Database::checkpoint_with`] does.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let db = Database::in_memory();
    /// let context = RequestContext::new();
    /// context.canceller().cancel();
    /// assert!(db.save_with(&folder.path().join("backup"), &context).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::save`]; `Limit` when `context` stops it: what was in the directory is as it
    /// was.
    pub fn save_with(&self, path: &Path, context: &RequestContext) -> Result<()> {
        let (database, path) = (self.clone(), path.to_owned());
        guarded(|| {
            context.run_detached(move |canceller| database.save_while(&path, &|| canceller.check()))
        })
    }

    /// Saves as [`Database::save`] does, and calls `check` between steps.
    ///
    /// # Errors
    ///
    /// As [`Database::save`]; those of `check`.
    pub(super) fn save_while(&self, path: &Path, check: Check<'_>) -> Result<()> {
        let open = self.open_state()?;
        if open.is_at(path) {
            // The directory is its own: a copy would replace the snapshot that the log belongs to.
            return open.checkpoint(check);
        }
        self.save_one(path, check)?;
        match self.namespace_id() {
            0 => save_all(self, path, check),
            _ => Ok(()),
        }
    }

    /// Writes a copy of this namespace alone.
    ///
    /// # Errors
    ///
    /// As [`Database::save`]; those of `check`.
    pub(super) fn save_one(&self, path: &Path, check: Check<'_>) -> Result<()> {
        let open = self.open_state()?;
        let version = open.store.version();
        let directory = Directory::open(path)?;
        if directory.current()?.is_none() {
            check_new(&directory)?;
        }
        directory.publish_next(|file, identity| {
            persist::save_in(&**directory.files(), &version, file, identity, check)
        })
    }

    /// Moves a database that is open to be read to what other processes have committed since; does
    /// nothing to others. Queries that run go on with what they have. Returns the number of the
    /// newest commit. Costs O(changes since), and O(predicates) after a checkpoint.
    ///
    /// ```
    /// use hexgraph::db::{Database, OpenOptions};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let writer = Database::open(folder.path(), OpenOptions::default())?;
    /// let options = OpenOptions { read_only: true, ..OpenOptions::default() };
    /// let reader = Database::open(folder.path(), options)?;
    /// writer.mutate("<1> <name> \"Ada\" .", "")?;
    /// assert_eq!(reader.refresh()?, writer.commit()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::open`].
    pub fn refresh(&self) -> Result<u64> {
        let open = self.open_state()?;
        guarded(|| {
            self.all.refresh_reserved()?;
            open.refresh()
        })
    }

    /// Returns the state of the logs when the database was opened.
    ///
    /// ```
    /// use hexgraph::db::{Database, OpenOptions};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let db = Database::open(folder.path(), OpenOptions::default())?;
    /// assert_eq!(db.recovery()?.commits, 0);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails only when it is closed.
    pub fn recovery(&self) -> Result<Recovery> {
        Ok(self.open_state()?.recovery())
    }
}

/// The counts that [`check`] returns for an undamaged database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Checked {
    /// The number of commits in the logs.
    pub commits: u64,
    /// The length of all logs, in bytes.
    pub log_bytes: u64,
    /// The number of bytes after the last complete record. They belong to a commit that was never
    /// acknowledged.
    pub tail: u64,
}

/// Reads every block of a snapshot and compares its checksum, reads all its texts, and the logs
/// after it. `path` is a directory, with all its namespaces, or a snapshot file.
///
/// ```
/// use hexgraph::db::{Database, OpenOptions, check};
///
/// let folder = tempfile::tempdir().unwrap();
/// let db = Database::open(folder.path(), OpenOptions::default())?;
/// db.mutate("<1> <name> \"Ada\" .", "")?;
/// db.close()?;
/// assert_eq!(check(folder.path())?.commits, 1);
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// `Corrupt` with the position of the first damage; `Io` when there is nothing to check.
pub fn check(path: &Path) -> Result<Checked> {
    guarded(|| {
        if !path.is_dir() {
            persist::verify(path)?;
            return Ok(Checked::default());
        }
        let mut checked = check_one(path)?;
        for folder in sibling_folders(path)? {
            let Checked { commits, log_bytes, tail } = check_one(&folder)?;
            checked.commits += commits;
            checked.log_bytes += log_bytes;
            checked.tail += tail;
        }
        Ok(checked)
    })
}

fn check_one(path: &Path) -> Result<Checked> {
    // One that lost its `CURRENT` is damaged, which is another error than that there is none.
    is_database(path)?;
    let directory = Directory::open_read_only(path)?;
    let current = directory.current()?.ok_or_else(|| no_database(path))?;
    persist::verify(&directory.snapshot_path(current.snapshot))?;
    let mut follower = open_follower(&directory, &OpenOptions::default())?;
    follower.version(&directory)?;
    let result = follower.result();
    Ok(Checked { commits: result.commits, log_bytes: result.bytes, tail: result.cut })
}
