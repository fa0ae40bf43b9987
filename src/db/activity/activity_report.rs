//! [`Activity`]: what an open database does now, and what it has done since it was opened. Servers
//! export it as metrics.

use super::meter::Runs;
use crate::db::database::Database;
use crate::db::open::Open;
use hexgraph_base::types::Result;
use std::sync::Arc;

/// What a database does now, and what it has done since it was opened, over all namespaces that are
/// open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity {
    /// The number of namespaces that are open.
    pub namespaces: u64,
    /// The number of versions in memory: the newest of each namespace, and older ones that somebody
    /// still reads.
    pub versions: u64,
    /// The number of open transactions.
    pub transactions: u64,
    /// The bytes of the log of commits since the newest snapshot.
    pub log_bytes: u64,
    /// The compactions of columns.
    pub compactions: Runs,
    /// The checkpoints: snapshots that replaced a log. The snapshot that a load writes is not among
    /// them.
    pub checkpoints: Runs,
    /// The number of compact graphs that are cached for algorithms.
    pub cached_graphs: u64,
    /// The bytes of these graphs.
    pub cached_graph_bytes: u64,
}

/// # Activity
impl Database {
    /// Returns what the database does and has done. Costs O(namespaces), and counts all
    /// namespaces whichever the handle is for.
    ///
    /// # Errors
    ///
    /// Fails only when the database is closed.
    ///
    /// ```
    /// use hexgraph::db::Database;
    ///
    /// let database = Database::in_memory();
    /// let activity = database.activity()?;
    /// assert_eq!((activity.versions, activity.transactions), (1, 0));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn activity(&self) -> Result<Activity> {
        self.open_state()?;
        let namespaces = [Arc::clone(self.all.main())].into_iter().chain(self.all.others());
        let (cached_graphs, cached_graph_bytes) = self.own.graphs.cached();
        let mut activity = Activity {
            cached_graphs: cached_graphs as u64,
            cached_graph_bytes,
            ..Activity::default()
        };
        for open in namespaces.filter_map(|namespace| namespace.open.load_full()) {
            activity.add(&open);
        }
        Ok(activity)
    }
}

impl Activity {
    fn add(&mut self, open: &Open) {
        self.namespaces += 1;
        self.versions += 1 + open.store.replaced_count() as u64;
        self.transactions += open.transactions.count() as u64;
        self.log_bytes += open.log_bytes();
        self.compactions.add(open.compactions.runs());
        self.checkpoints.add(open.checkpoints.runs());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{OpenOptions, TxnOptions};
    use hexgraph_base::types::Error;

    #[test]
    fn an_open_database_says_what_it_does() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(folder.path(), OpenOptions::default()).unwrap();
        let before = database.activity().unwrap();
        assert_eq!((before.namespaces, before.versions, before.log_bytes), (1, 1, 0));
        let txn = database.begin(TxnOptions::default()).unwrap();
        database.mutate("_:a <name> \"a\" .", "").unwrap();
        let during = database.activity().unwrap();
        assert_eq!(
            (during.versions, during.transactions),
            (2, 1),
            "the transaction reads the first"
        );
        assert!(0 < during.log_bytes);
        drop(txn);
        database.checkpoint().unwrap();
        let after = database.activity().unwrap();
        assert_eq!((after.transactions, after.log_bytes, after.checkpoints.done), (0, 0, 1));
        database.checkpoint().unwrap();
        assert_eq!(database.activity().unwrap().checkpoints.done, 1, "nothing was left to write");
        database.compact().unwrap();
        assert_eq!(database.activity().unwrap().compactions.done, 1);
        database.close().unwrap();
        assert!(matches!(database.activity(), Err(Error::Closed)));
    }
}
