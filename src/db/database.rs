//! A database: the graph, the threads, the plans, and the directory where it lives.

use super::directory::Directory;
use super::guard::guarded;
use super::operation::OpenOptions;
use super::operation::Stats;
use super::plans::Plans;
use super::plans::Variables;
use super::pool::Pool;
use super::slow::SlowLog;
use super::transactions::Transactions;
use crate::exec::Control;
use crate::exec::Limits;
use crate::graph;
use crate::graph::Claim;
use crate::graph::Key;
use crate::graph::Store;
use crate::graph::Version;
use crate::graph::persist;
use crate::plan::Query;
use crate::types::Error;
use crate::types::Result;
use arc_swap::ArcSwapOption;
use rayon::ThreadPool;
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

/// An open database. A clone is another handle of the same one; all may be used at once, from any
/// thread. Readers take no lock and never wait for a writer.
#[derive(Clone)]
pub struct Database {
    shared: Arc<Shared>,
}

struct Shared {
    /// `None` when it is closed.
    open: ArcSwapOption<Open>,
    plans: Plans,
    pool: Pool,
    limits: Limits,
    slow: SlowLog,
    process: u32,
}

/// What there is while it is open.
pub struct Open {
    /// The data.
    pub(super) store: Store,
    /// The open transactions.
    pub(super) transactions: Transactions,
    /// `None` for one in memory.
    directory: Option<Directory>,
    /// The commit that the directory has. Held while a snapshot is written.
    saved_commit: Mutex<Option<u64>>,
}

impl Database {
    /// An empty database in memory.
    pub fn in_memory() -> Database {
        Database::in_memory_with(OpenOptions::default())
    }

    /// An empty database in memory that uses so many threads as `options` say.
    pub fn in_memory_with(options: OpenOptions) -> Database {
        Database::new(Store::new(), None, options)
    }

    /// Opens the database in a directory, which is created where it is missing and `options` do
    /// not say read-only. Costs O(number of predicates): data is read where it lies.
    ///
    /// # Errors
    ///
    /// `Io` when there is no database, or another process writes to it; `Corrupt` when its
    /// snapshot is damaged or of another kind.
    pub fn open(path: &Path, options: OpenOptions) -> Result<Database> {
        guarded(|| {
            if options.read_only {
                let directory = Directory::open_read_only(path)?;
                let store = open_newest(&directory)?.unwrap_or_default();
                return Ok(Database::new(store, Some(directory), options));
            }
            let directory = Directory::open(path)?;
            graph::remove_left(path)?;
            let found = open_newest(&directory)?;
            let is_new = found.is_none();
            let database = Database::new(found.unwrap_or_default(), Some(directory), options);
            if is_new {
                database.checkpoint()?;
            }
            Ok(database)
        })
    }

    fn new(store: Store, directory: Option<Directory>, options: OpenOptions) -> Database {
        let has_snapshot = directory.as_ref().is_some_and(|it| matches!(it.current(), Ok(Some(_))));
        let saved_commit = Mutex::new(has_snapshot.then(|| store.version().commit));
        let transactions = Transactions::new(options.transactions);
        let open = Open { store, transactions, directory, saved_commit };
        Database {
            shared: Arc::new(Shared {
                open: ArcSwapOption::from_pointee(open),
                plans: Plans::default(),
                pool: Pool::new(options.threads),
                limits: options.limits,
                slow: SlowLog::default(),
                process: process::id(),
            }),
        }
    }

    /// Writes what changed since the last snapshot to the directory; nothing for one in memory.
    ///
    /// # Errors
    ///
    /// `Io` when the system refuses.
    pub fn checkpoint(&self) -> Result<()> {
        let open = self.open_state()?;
        guarded(|| open.checkpoint())
    }

    /// Writes the database as it is now to a directory, from which [`Database::open`] opens it.
    /// The database itself stays where it is.
    ///
    /// # Errors
    ///
    /// As [`Database::open`] of that directory; `Io` when the system refuses.
    pub fn save(&self, path: &Path) -> Result<()> {
        let open = self.open_state()?;
        guarded(|| match &open.directory {
            Some(own) if is_same(own.path(), path) => open.checkpoint(),
            _ => {
                let version = open.store.version();
                Directory::open(path)?.publish(|file| persist::save(&version, file))
            }
        })
    }

    /// Writes what is unsaved and lets go of data and directory. Later calls fail; closing again
    /// does nothing. Queries that run finish, each on the version that it has.
    ///
    /// # Errors
    ///
    /// As [`Database::checkpoint`]; it is open still then.
    pub fn close(&self) -> Result<()> {
        let Ok(open) = self.open_state() else { return Ok(()) };
        guarded(|| open.checkpoint_if_writer())?;
        self.shared.open.store(None);
        Ok(())
    }

    /// The schema in the language of [`Database::alter`].
    ///
    /// # Errors
    ///
    /// Fails only when it is closed.
    pub fn schema_text(&self) -> Result<String> {
        Ok(self.version()?.schema.to_text())
    }

    /// How large the database is. Costs a pass over the sets of nodes of all predicates.
    ///
    /// # Errors
    ///
    /// `Corrupt` when it meets a damaged part of the file.
    pub fn stats(&self) -> Result<Stats> {
        let version = self.version()?;
        guarded(|| Ok(stats_of(&version)))
    }

    /// The number of the last commit.
    ///
    /// # Errors
    ///
    /// Fails only when it is closed.
    pub fn commit(&self) -> Result<u64> {
        Ok(self.version()?.commit)
    }

    /// The newest version.
    pub(super) fn version(&self) -> Result<Arc<Version>> {
        let open = self.shared.open.load();
        open.as_ref().map(|open| open.store.version()).ok_or_else(closed)
    }

    /// What a single request may use.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// The queries that took long.
    pub(super) fn slow_log(&self) -> &SlowLog {
        &self.shared.slow
    }

    /// The plan of a text.
    pub(super) fn plan(&self, text: &str, variables: &Variables) -> Result<Arc<Query>> {
        let most = self.limits().text;
        if most < text.len() as u64 {
            let what = format!("the text has {} bytes, more than {most}", text.len());
            let message = format!("{what}: ask for less, or raise the limit `text`");
            return Err(Error::Limit { message });
        }
        self.shared.plans.plan(text, variables)
    }

    /// The threads for loads and large queries.
    ///
    /// # Errors
    ///
    /// `Limit` when the system gives no threads.
    pub fn pool(&self) -> Result<Arc<ThreadPool>> {
        self.shared.pool.get()
    }

    /// Does what may compute on many threads, within the limits of a request. Those that rayon itself started are not there in a
    /// forked child, which has a pool of its own.
    ///
    /// # Errors
    ///
    /// Those of `job`; `Limit` when the system gives no threads.
    pub(super) fn compute<T: Send>(
        &self,
        control: &Control,
        job: impl FnOnce() -> Result<T> + Send,
    ) -> Result<T> {
        control.set_limits(*self.limits());
        if self.is_forked() { control.install(&*self.pool()?, job) } else { job() }
    }

    /// True in a child that was forked from the process that opened the database.
    fn is_forked(&self) -> bool {
        self.shared.process != process::id()
    }

    /// Publishes the version that `make_next` makes of the newest one, and writes it to the
    /// directory where `is_durable`: a snapshot takes as long as the data is large, so single
    /// mutations wait for the next one.
    pub(super) fn change<T>(
        &self,
        is_durable: bool,
        make_next: impl FnOnce(&Arc<Version>) -> Result<(Version, T)>,
    ) -> Result<T> {
        let open = self.open_state()?;
        guarded(|| {
            open.check_writable()?;
            let result = open.store.write(make_next)?;
            if is_durable {
                open.checkpoint()?;
            }
            Ok(result)
        })
    }

    /// As [`Database::change`], for a change that tells its conflict keys, and is made only where
    /// `claim` is not in conflict. Not durable. Returns the number of the commit too.
    pub(super) fn change_keys<T>(
        &self,
        claim: Option<Claim<'_>>,
        make_next: impl FnOnce(&Arc<Version>, &mut Vec<Key>) -> Result<(Version, T)>,
    ) -> Result<(u64, T)> {
        let open = self.open_state()?;
        guarded(|| {
            open.check_writable()?;
            open.store.write_keys(claim, make_next)
        })
    }

    /// What there is while it is open.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when it is closed.
    pub(super) fn open_state(&self) -> Result<Arc<Open>> {
        self.shared.open.load_full().ok_or_else(closed)
    }
}

impl Open {
    /// Checks that it may be changed.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when it was opened to be read only, or by the parent of this process.
    pub(super) fn check_writable(&self) -> Result<()> {
        self.directory.as_ref().map_or(Ok(()), Directory::check_writable)
    }

    /// The directory; `None` for a database in memory.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.directory.as_ref().map(Directory::path)
    }

    fn checkpoint(&self) -> Result<()> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let mut saved = self.saved_commit.lock().unwrap_or_else(PoisonError::into_inner);
        let version = self.store.version();
        if *saved == Some(version.commit) {
            return Ok(());
        }
        directory.publish(|path| persist::save(&version, path))?;
        *saved = Some(version.commit);
        Ok(())
    }

    fn checkpoint_if_writer(&self) -> Result<()> {
        match &self.directory {
            Some(directory) if directory.check_writable().is_ok() => self.checkpoint(),
            _ => Ok(()),
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // Nobody is left to be told; `close` tells.
        let _ = guarded(|| self.checkpoint_if_writer());
    }
}

/// Reads every block of a snapshot and compares its checksum. `path` is a directory or a file.
///
/// # Errors
///
/// `Corrupt` with the place of the first damage; `Io` when there is nothing to check.
pub fn check(path: &Path) -> Result<()> {
    let snapshot = match path.is_dir() {
        true => Directory::open_read_only(path)?.current()?,
        false => Some(path.to_owned()),
    };
    snapshot.map_or(Ok(()), |file| guarded(|| persist::verify(&file)))
}

/// Opens the newest snapshot. A writer may replace it just now; then the next one is opened.
fn open_newest(directory: &Directory) -> Result<Option<Store>> {
    let mut last = None;
    loop {
        let Some(path) = directory.current()? else { return Ok(None) };
        match persist::open(&path) {
            Err(error) if path.exists() || last.as_ref() == Some(&path) => return Err(error),
            Err(_) => last = Some(path),
            Ok(version) => return Ok(Some(Store::with_version(version))),
        }
    }
}

fn stats_of(version: &Version) -> Stats {
    let subjects = version.predicates.iter().map(|(_, predicate)| predicate.subjects());
    let nodes = subjects.reduce(|one, other| one.or(&other)).map_or(0, |nodes| nodes.len());
    Stats { nodes: nodes as u64, commit: version.commit, predicates: graph::stats(version) }
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn closed() -> Error {
    Error::query("the database is closed")
}
