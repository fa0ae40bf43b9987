//! [`NamespaceSet`]: the namespaces of a database that are open.

use super::namespace::{Namespace, RESERVED};
use super::registry::Registry;
use crate::db::open::{Open, no_database};
use crate::db::operation::OpenOptions;
use arc_swap::{ArcSwap, ArcSwapOption};
use hexgraph_base::budget::Budget;
use hexgraph_base::types::{Error, Result};
use hexgraph_store::durability::{Disk, Files, SyncPolicy, is_database};
use hexgraph_store::graph::Uids;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The folder of the namespaces but the first.
const NAMESPACES: &str = "namespaces";

/// The folder of the reserved database.
const RESERVED_FOLDER: &str = "reserved";

/// The namespaces of a database that are open, by their numbers. Looking one up takes no lock.
pub(in crate::db) struct NamespaceSet {
    main: Arc<Namespace>,
    opened: ArcSwap<BTreeMap<u64, Arc<Namespace>>>,
    /// Locked while one is opened, made, dropped or closed.
    changing: Mutex<()>,
    /// The last state of the reserved database.
    pub(super) registry: ArcSwapOption<Registry>,
    /// No uid from this one on was handed out while there were several namespaces, unless the
    /// reserved database knows.
    uid_bound: Mutex<u64>,
    options: OpenOptions,
    budget: Budget,
    files: Arc<dyn Files>,
}

/// Who may change the set.
pub(in crate::db) type NamespaceLock<'a> = MutexGuard<'a, ()>;

impl NamespaceSet {
    /// A database whose namespace 0 is open.
    pub(in crate::db) fn new(
        open: Open,
        (options, budget): (OpenOptions, &Budget),
    ) -> NamespaceSet {
        NamespaceSet {
            main: Arc::new(Namespace::first(open, budget, options.threads, options.limits)),
            opened: ArcSwap::default(),
            changing: Mutex::default(),
            registry: ArcSwapOption::empty(),
            uid_bound: Mutex::default(),
            options,
            budget: budget.clone(),
            files: Arc::new(Disk),
        }
    }

    /// The same, with the files that others are written through.
    pub(in crate::db) fn writing_through(self, files: Arc<dyn Files>) -> NamespaceSet {
        NamespaceSet { files, ..self }
    }

    /// The namespace 0.
    pub(in crate::db) fn main(&self) -> &Arc<Namespace> {
        &self.main
    }

    /// True while this process writes, and a path has the directory that it writes to: not one that
    /// was made later instead.
    pub(in crate::db) fn is_locked_at(&self, path: &Path) -> bool {
        self.main.open.load().as_ref().is_some_and(|open| open.is_locked_at(path))
    }

    /// A namespace, or the reserved database, if it is open.
    pub(in crate::db) fn opened(&self, id: u64) -> Option<Arc<Namespace>> {
        if id == 0 {
            return Some(Arc::clone(&self.main));
        }
        self.opened.load().get(&id).cloned()
    }

    /// All that are open but the namespace 0.
    pub(in crate::db) fn others(&self) -> Vec<Arc<Namespace>> {
        self.opened.load().values().cloned().collect()
    }

    /// Waits until nobody else changes the set.
    pub(in crate::db) fn lock(&self) -> NamespaceLock<'_> {
        // One who panicked has put nothing half into the set.
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a namespace, or the reserved database, and does not put it into the set yet. In a
    /// directory it is made where it `is_new`, and its name is on the disk before this returns.
    ///
    /// # Errors
    ///
    /// As [`Database::open`](crate::db::Database::open); `Io` when it should be there and is not;
    /// `Closed` when the database is closed.
    pub(super) fn open(
        &self,
        id: u64,
        is_new: bool,
        _lock: &NamespaceLock<'_>,
    ) -> Result<Arc<Namespace>> {
        if let Some(existing) = self.opened(id) {
            return Ok(existing);
        }
        let uids = match id {
            RESERVED => None,
            _ => Some(self.uids()?),
        };
        let open = match self.folder(id)? {
            None => Open::in_memory(self.options, &self.budget, uids.as_ref()),
            Some(folder) => {
                // An empty one instead of what was lost would hide the loss.
                if !is_new && !is_database(&folder)? {
                    return Err(no_database(&folder));
                }
                self.make(&folder)?;
                let sync = match id {
                    // A key that was revoked stays so.
                    RESERVED => SyncPolicy::Always,
                    _ => self.options.sync,
                };
                let options = OpenOptions { sync, ..self.options };
                Open::at(&folder, (options, &self.budget, uids.as_ref()), &self.files)?
            }
        };
        Ok(Arc::new(self.main.sibling(id, open)))
    }

    /// Puts a namespace into the set, from which on others find it: all that it needs is there.
    pub(super) fn retain(&self, namespace: &Arc<Namespace>, _lock: &NamespaceLock<'_>) {
        self.put(namespace.id, Some(namespace));
    }

    /// Opens the reserved database if there is one.
    ///
    /// # Errors
    ///
    /// As [`NamespaceSet::open`].
    pub(in crate::db) fn open_reserved(&self) -> Result<()> {
        let lock = self.lock();
        if let Some(folder) = self.folder(RESERVED)?
            && is_database(&folder)?
        {
            let reserved = self.open(RESERVED, false, &lock)?;
            self.retain(&reserved, &lock);
        }
        Ok(())
    }

    /// Moves the reserved database of a reader to what another process has committed since.
    ///
    /// # Errors
    ///
    /// As [`NamespaceSet::open`].
    pub(in crate::db) fn refresh_reserved(&self) -> Result<()> {
        if !self.options.read_only {
            return Ok(());
        }
        if self.opened(RESERVED).is_none() {
            return self.open_reserved();
        }
        let reserved = self.opened(RESERVED).and_then(|reserved| reserved.open.load_full());
        reserved.map_or(Ok(()), |open| open.refresh().map(drop))
    }

    /// Closes a namespace, if it is open. Handles of it fail from now on.
    pub(super) fn shut(&self, id: u64, _lock: &NamespaceLock<'_>) {
        if let Some(existing) = self.opened(id) {
            self.put(id, None);
            existing.end();
        }
    }

    /// Closes a namespace and removes its folder. Handles of it fail from now on.
    ///
    /// # Errors
    ///
    /// `Io` on an error of the operating system: what is left is removed when the database is
    /// opened.
    pub(super) fn remove(&self, id: u64, lock: &NamespaceLock<'_>) -> Result<()> {
        self.shut(id, lock);
        match self.folder(id)? {
            Some(folder) => remove_folder(&folder),
            None => Ok(()),
        }
    }

    /// Removes the folders of namespaces that are not among `existing`: what was being made, or
    /// dropped, when the process ended.
    ///
    /// # Errors
    ///
    /// `Io` on an error of the operating system.
    pub(super) fn remove_others(&self, is_listed: impl Fn(u64) -> bool) -> Result<()> {
        match self.root()? {
            Some(root) if !self.options.read_only => remove_unlisted(&root, is_listed),
            _ => Ok(()),
        }
    }

    /// Checks that there are no folders of namespaces, since none are registered: a new reserved
    /// database would have no entries for them, and they would be removed.
    ///
    /// # Errors
    ///
    /// `Query` when there are some; `Io` on an error of the operating system.
    pub(super) fn check_no_others(&self) -> Result<()> {
        let Some(root) = self.root()? else { return Ok(()) };
        match listed(&root)?.first() {
            None => Ok(()),
            Some(id) => {
                let (folder, own) = (folder_in(&root, *id), folder_in(&root, RESERVED));
                let message = format!(
                    "{} is there, and {} is not, which knows of it",
                    folder.display(),
                    own.display()
                );
                Err(Error::query(message).with_hint(
                    "copy it from where the namespaces come from, or move their folders away",
                ))
            }
        }
    }

    /// Closes all: the namespace 0 as the last, which has the lock of the directory.
    ///
    /// # Errors
    ///
    /// `Io` on an error of the operating system; what could not be closed stays open.
    pub(in crate::db) fn close(&self) -> Result<()> {
        let _lock = self.lock();
        for namespace in self.others().iter().chain([&self.main]) {
            let Some(open) = namespace.open.load_full() else { continue };
            open.finish()?;
            namespace.open.store(None);
        }
        Ok(())
    }

    /// The counter that gives new nodes of all namespaces their uids.
    ///
    /// # Errors
    ///
    /// `Closed` when the database is closed.
    pub(super) fn uids(&self) -> Result<Arc<Uids>> {
        let open = self.main.open.load();
        let open = open.as_ref().ok_or_else(|| self.main.closed())?;
        Ok(Arc::clone(&open.store.version().uids))
    }

    /// The bound of uids that is noted in the reserved database, to be changed.
    pub(super) fn uid_bound(&self) -> MutexGuard<'_, u64> {
        // One who panicked has noted nothing, so the old bound holds.
        self.uid_bound.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folder of a namespace; `None` for a database in memory.
    ///
    /// # Errors
    ///
    /// `Closed` when the database is closed.
    fn folder(&self, id: u64) -> Result<Option<PathBuf>> {
        Ok(self.root()?.map(|root| folder_in(&root, id)))
    }

    fn root(&self) -> Result<Option<PathBuf>> {
        let open = self.main.open.load();
        let open = open.as_ref().ok_or_else(|| self.main.closed())?;
        Ok(open.folder().map(Path::to_owned))
    }

    /// Makes a folder, with those above it, so that a loss of power does not lose their names.
    fn make(&self, folder: &Path) -> Result<()> {
        if self.options.read_only || folder.exists() {
            return Ok(());
        }
        let failed = |error| Error::io(format!("creating {}", folder.display()), error);
        fs::create_dir_all(folder).map_err(failed)?;
        // The folder of all namespaces may be new as well, so its name is synced, too.
        let above = folder.ancestors().skip(1).take(2);
        above.into_iter().try_for_each(|above| self.files.sync_directory(above)).map_err(failed)
    }

    fn put(&self, id: u64, namespace: Option<&Arc<Namespace>>) {
        self.opened.rcu(|old| {
            let mut opened = BTreeMap::clone(old);
            match namespace {
                Some(namespace) => opened.insert(id, Arc::clone(namespace)),
                None => opened.remove(&id),
            };
            opened
        });
    }
}

/// The folder of a namespace, or of the reserved database, in the directory of a database.
pub(super) fn folder_in(root: &Path, id: u64) -> PathBuf {
    match id {
        0 => root.to_owned(),
        RESERVED => root.join(RESERVED_FOLDER),
        _ => root.join(NAMESPACES).join(id.to_string()),
    }
}

/// The folders of the namespaces but the first and of the reserved database, in the directory of a
/// database.
///
/// # Errors
///
/// `Io` on an error of the operating system.
pub(in crate::db) fn sibling_folders(root: &Path) -> Result<Vec<PathBuf>> {
    let reserved = folder_in(root, RESERVED);
    let namespaces = listed(root)?.into_iter().map(|id| folder_in(root, id));
    Ok(namespaces.chain(reserved.exists().then_some(reserved)).collect())
}

/// The numbers of the namespaces that have folders. What is called otherwise is none: the number 0
/// represents the directory itself, the greatest one for the reserved database, and other texts of
/// a number (`07`) for the folder of another name.
fn listed(root: &Path) -> Result<Vec<u64>> {
    let folder = root.join(NAMESPACES);
    let failed = |error| Error::io(format!("reading {}", folder.display()), error);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut ids = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        let id = name.to_str().and_then(|name| name.parse::<u64>().ok());
        ids.extend(id.filter(|id| {
            *id != 0 && *id != RESERVED && name.to_str() == Some(id.to_string().as_str())
        }));
    }
    Ok(ids)
}

/// Removes the folders of namespaces that nobody knows.
///
/// # Errors
///
/// `Io` on an error of the operating system.
pub(super) fn remove_unlisted(root: &Path, is_listed: impl Fn(u64) -> bool) -> Result<()> {
    let unknown = listed(root)?.into_iter().filter(|id| !is_listed(*id));
    unknown.into_iter().try_for_each(|id| remove_folder(&folder_in(root, id)))
}

/// Removes a folder with all that is in it, if it is there.
///
/// # Errors
///
/// `Io` on an error of the operating system.
pub(super) fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Error::io(format!("removing {}", folder.display()), error))
        }
        _ => Ok(()),
    }
}
