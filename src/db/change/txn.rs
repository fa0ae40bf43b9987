//! Transactions: several requests that read one snapshot and are committed as one.
//!
//! A transaction holds its snapshot, the version that was the newest when it began, and a view: the
//! snapshot with its own changes. Queries read the view. Each mutation is checked against the view
//! and executed there, and its [`Changes`] are retained; the commit carries them out again on the
//! newest version, where nobody has changed the same things meanwhile. While nobody else committed
//! at all, the view is the next version already.

use super::detach::{DeleteAnswer, Detached, Nodes, Selection};
use super::mutate::{Job, MutationAnswer, MutationRequest, Staged};
use super::open_txn::{DetachedNodes, End, OpenTxn, State, Work};
use super::transactions::Resolved;
use crate::db::database::Database;
use crate::db::guard::guarded;
use crate::db::open::Open;
use crate::db::query::prepared::PreparedQuery;
use crate::db::query::{answer::QueryAnswer, plans::QueryRequest};
use hexgraph_base::types::{Error, Result};
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph::{Changes, ConflictKey, Effect, Snapshot, Store, Version};
use std::mem;
use std::net::IpAddr;
use std::sync::Arc;

/// Options for [`Database::begin`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TxnOptions {
    /// True for a transaction that may not change anything.
    pub read_only: bool,
    /// True to accept a version that is slightly out of date, which only a read-only transaction
    /// may request. The newest version is always available here, so this has no effect.
    pub best_effort: bool,
    /// The address of the client, for a transaction over the network. The number of transactions of
    /// one client is bounded.
    pub client: Option<IpAddr>,
}

/// A transaction. It may be used from any thread, its mutations wait for each other. Dropping it
/// discards it, unless it came from [`Database::resume`] or was left open with [`Txn::leave_open`].
pub struct Txn {
    database: Database,
    open: Arc<OpenTxn>,
    is_owner: bool,
}

/// # Transactions
impl Database {
    /// Begins a transaction. It sees the newest version and its own changes; others see these when
    /// it is committed. Costs O(1).
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions};
    ///
    /// let db = Database::in_memory();
    /// let txn = db.begin(TxnOptions::default())?;
    /// txn.mutate("<1> <name> \"Ada\" .", "")?;
    /// assert!(!db.query("{ q(func: has(name)) { name } }")?.has_rows()?, "nobody else sees it yet");
    /// txn.commit()?;
    /// assert!(db.query("{ q(func: has(name)) { name } }")?.has_rows()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Limit` when too many are open, `Query` for options that contradict each other.
    pub fn begin(&self, options: TxnOptions) -> Result<Txn> {
        if options.best_effort && !options.read_only {
            return Err(Error::query("A best effort query must be read-only."));
        }
        let open = self.open_state()?;
        let txn = OpenTxn::new(open.store.snapshot(), options.read_only);
        let txn = txn.of_client(options.client);
        open.note_number(txn.number())?;
        Ok(Txn { database: self.clone(), open: open.transactions.add(txn)?, is_owner: true })
    }

    /// The transaction of a number from [`Txn::number`] or [`Database::query_at`]. The number of an
    /// ended transaction gives one that can't be committed.
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions};
    ///
    /// let db = Database::in_memory();
    /// let txn = db.begin(TxnOptions::default())?;
    /// txn.mutate("<1> <name> \"Ada\" .", "")?;
    /// let number = txn.number();
    /// txn.leave_open();
    /// db.resume(number)?.commit()?;
    /// assert!(db.query("{ q(func: has(name)) { name } }")?.has_rows()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Query` for a number that was never handed out, or whose version is not retained any more.
    pub fn resume(&self, number: u64) -> Result<Txn> {
        self.resume_for(number, None)
    }

    /// As [`Database::resume`], for a client over the network, which may have only so many
    /// transactions.
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions};
    /// use std::net::{IpAddr, Ipv4Addr};
    ///
    /// let db = Database::in_memory();
    /// let client = Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    /// let txn = db.begin(TxnOptions { client, ..TxnOptions::default() })?;
    /// let number = txn.number();
    /// txn.leave_open();
    /// assert!(db.resume_for(number, client)?.is_open());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::resume`]; `Limit` when it has too many.
    pub fn resume_for(&self, number: u64, client: Option<IpAddr>) -> Result<Txn> {
        let open = self.open_state()?;
        let new = |snapshot| OpenTxn::numbered(number, snapshot, false).of_client(client);
        let existing = match open.transactions.find(number) {
            Resolved::Open(txn) => txn,
            Resolved::Start(snapshot) => open.transactions.add(new(snapshot))?,
            Resolved::Ended(start) => {
                let snapshot = start.unwrap_or_else(|| open.store.snapshot());
                let txn = new(snapshot);
                // It may read on, and learns by its commit that it was aborted.
                txn.lock_work(|work| work.is_doomed = true)?;
                open.transactions.add(txn)?
            }
            // What was staged before the restart is lost, and half of a transaction must not be
            // committed.
            Resolved::Lost => {
                let txn = new(snapshot_at(number, &open.store)?);
                txn.lock_work(|work| work.is_doomed = true)?;
                open.transactions.add(txn)?
            }
            Resolved::Nothing => {
                let snapshot = snapshot_at(number, &open.store)?;
                open.transactions.add(new(snapshot))?
            }
        };
        Ok(Txn { database: self.clone(), open: existing, is_owner: false })
    }

    /// Commits the transaction of a number; as [`Txn::commit_keys`]. An unknown number is that of a
    /// transaction without changes.
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions};
    ///
    /// let db = Database::in_memory();
    /// let txn = db.begin(TxnOptions::default())?;
    /// txn.mutate("<1> <name> \"Ada\" .", "")?;
    /// assert_eq!(db.commit_txn(txn.number(), None)?, db.commit()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Txn::commit`]; `Conflict` for one that has ended.
    pub fn commit_txn(&self, number: u64, keys: Option<&[ConflictKey]>) -> Result<u64> {
        self.check_existing()?;
        self.check_may_write()?;
        let open = self.open_state()?;
        match open.transactions.find(number) {
            Resolved::Open(open) => {
                Txn { database: self.clone(), open, is_owner: false }.commit_keys(keys)
            }
            Resolved::Ended(_) => Err(Error::Conflict),
            // One without keys has changed nothing, so nothing of it is lost.
            Resolved::Lost if keys.is_none_or(|keys| !keys.is_empty()) => Err(Error::Conflict),
            Resolved::Lost | Resolved::Start(_) | Resolved::Nothing => {
                Ok(open.store.snapshot().number())
            }
        }
    }

    /// Discards the transaction of a number. An unknown one is discarded already.
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions};
    ///
    /// let db = Database::in_memory();
    /// let txn = db.begin(TxnOptions::default())?;
    /// db.discard_txn(txn.number())?;
    /// assert!(!txn.is_open());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails only when the database is closed.
    pub fn discard_txn(&self, number: u64) -> Result<()> {
        self.check_existing()?;
        // Who may only read has changed nothing, and the number may be that of another's
        // transaction.
        if self.check_may_write().is_err() {
            return Ok(());
        }
        if let Resolved::Open(open) = self.open_state()?.transactions.find(number) {
            Txn { database: self.clone(), open, is_owner: false }.discard();
        }
        Ok(())
    }

    /// Answers a query at a start timestamp: from the version that it names, or from the view of
    /// its open transaction; 0 is the newest version. Returns the timestamp, too, for
    /// [`Database::resume`].
    ///
    /// ```
    /// use hexgraph::db::{Database, QueryRequest, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// let request = QueryRequest::from("{ q(func: has(name)) { name } }");
    /// let (_, number) = db.query_at(0, &request, &RequestContext::new())?;
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let (answer, _) = db.query_at(number, &request, &RequestContext::new())?;
    /// assert!(!answer.has_rows()?, "the timestamp was before the commit");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::query`] and [`Database::resume`].
    pub fn query_at(
        &self,
        number: u64,
        request: &QueryRequest,
        context: &RequestContext,
    ) -> Result<(QueryAnswer, u64)> {
        let (version, number) = self.version_at(number)?;
        Ok((self.query_version(version, request, context)?, number))
    }

    /// As [`Database::prepare_query`], on the version that [`Database::query_at`] would read.
    ///
    /// ```
    /// use hexgraph::db::{Database, QueryRequest, RequestContext, Variables};
    ///
    /// let db = Database::in_memory();
    /// let (text, context) = ("{ q(func: has(name)) { name } }", RequestContext::new());
    /// let (_, number) = db.query_at(0, &QueryRequest::from(text), &context)?;
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let prepared = db.prepare_query_at(number, text, &context)?;
    /// assert!(!prepared.query_with(&Variables::new(), &context)?.has_rows()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::prepare_query`] and [`Database::resume`].
    pub fn prepare_query_at(
        &self,
        number: u64,
        text: &str,
        context: &RequestContext,
    ) -> Result<PreparedQuery> {
        let (version, _) = self.version_at(number)?;
        self.prepared_query_of(version, text, context)
    }

    /// What the caller sees of the version at a start timestamp, with the timestamp; a new one for
    /// 0.
    pub(in crate::db) fn version_at(&self, number: u64) -> Result<(Arc<Version>, u64)> {
        let open = self.open_state()?;
        if number == 0 {
            let (version, number) = open.transactions.start(&open.store);
            open.note_number(number)?;
            return Ok((self.seen(version)?, number));
        }
        let version = match open.transactions.find(number) {
            Resolved::Open(txn) => txn.view()?,
            // A client may not know yet that his transaction was aborted: he reads what he read.
            Resolved::Start(snapshot) | Resolved::Ended(Some(snapshot)) => {
                Arc::clone(snapshot.version())
            }
            Resolved::Ended(None) => open.store.version(),
            Resolved::Lost | Resolved::Nothing => {
                Arc::clone(snapshot_at(number, &open.store)?.version())
            }
        };
        Ok((self.seen(version)?, number))
    }

    /// Discards the transactions that nobody used for their time, which otherwise happens when the
    /// next one is requested. A server does so every few seconds.
    ///
    /// ```
    /// use hexgraph::db::{Database, OpenOptions, TxnLimits, TxnOptions};
    /// use std::time::Duration;
    ///
    /// let transactions = TxnLimits { idle: Duration::ZERO, ..TxnLimits::default() };
    /// let db = Database::in_memory_with(OpenOptions { transactions, ..OpenOptions::default() });
    /// let txn = db.begin(TxnOptions::default())?;
    /// db.expire_txns();
    /// assert!(!txn.is_open());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn expire_txns(&self) {
        if let Ok(open) = self.open_state() {
            open.transactions.expire();
        }
    }

    /// Aborts the transactions that have changed one of `names`, or all that have changed anything.
    /// Returns whether any was aborted.
    pub(super) fn abort_txns(&self, names: Option<&[&str]>) -> Result<bool> {
        let open = self.open_state()?;
        let mut aborted = false;
        for txn in open.transactions.all() {
            if let Some(statements) = txn.abort(names) {
                open.transactions.end(txn.number(), statements);
                aborted = true;
            }
        }
        Ok(aborted)
    }
}

/// A snapshot of the newest version, if it is the one at the start timestamp `number`.
fn snapshot_at(number: u64, store: &Store) -> Result<Snapshot> {
    if store.clock() < number {
        return Err(Error::query(format!(
            "StartTs {number} lies in the future: context deadline exceeded"
        )));
    }
    let snapshot = store.snapshot();
    // A version holds from its commit on, so a smaller number saw another one.
    if number < snapshot.version().commit {
        return Err(Error::query(format!(
            "StartTs {number} is too old: that version is no longer available"
        )));
    }
    Ok(snapshot)
}

/// # In the transaction
impl Txn {
    /// The start timestamp. No other transaction and no commit has it.
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions};
    ///
    /// let db = Database::in_memory();
    /// let (one, other) = (db.begin(TxnOptions::default())?, db.begin(TxnOptions::default())?);
    /// assert_ne!(one.number(), other.number());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn number(&self) -> u64 {
        self.open.number()
    }

    /// True if the transaction may not change anything.
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions};
    ///
    /// let db = Database::in_memory();
    /// let txn = db.begin(TxnOptions { read_only: true, ..TxnOptions::default() })?;
    /// assert!(txn.is_read_only());
    /// assert!(txn.mutate("<1> <name> \"Ada\" .", "").is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn is_read_only(&self) -> bool {
        self.open.read_only
    }

    /// True until the transaction is committed, discarded or aborted.
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions};
    ///
    /// let txn = Database::in_memory().begin(TxnOptions::default())?;
    /// assert!(txn.is_open());
    /// txn.discard();
    /// assert!(!txn.is_open());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn is_open(&self) -> bool {
        matches!(&*self.open.lock(), State::Open(_))
    }

    /// True after a commit or a discard. A transaction that was aborted from outside is not
    /// finished: its commit reports the conflict.
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions};
    ///
    /// let txn = Database::in_memory().begin(TxnOptions::default())?;
    /// assert!(!txn.is_finished());
    /// txn.commit()?;
    /// assert!(txn.is_finished());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn is_finished(&self) -> bool {
        matches!(&*self.open.lock(), State::Ended(End::Finished))
    }

    /// Answers a query from what the transaction sees, its own changes included.
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions};
    ///
    /// let db = Database::in_memory();
    /// let txn = db.begin(TxnOptions::default())?;
    /// txn.mutate("_:a <name> \"Ada\" .", "")?;
    /// let answer = txn.query("{ q(func: has(name)) { name } }")?;
    /// assert_eq!(answer.row_count()?, 1);
    /// txn.commit()?;
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Txn::query_with`].
    pub fn query(&self, request: impl Into<QueryRequest>) -> Result<QueryAnswer> {
        self.query_with(&request.into(), &RequestContext::new())
    }

    /// Answers a query from what the transaction sees.
    ///
    /// ```
    /// use hexgraph::db::{Database, QueryRequest, RequestContext, TxnOptions};
    ///
    /// let db = Database::in_memory();
    /// let txn = db.begin(TxnOptions::default())?;
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let request = QueryRequest::from("{ q(func: has(name)) { name } }");
    /// let answer = txn.query_with(&request, &RequestContext::new())?;
    /// assert!(!answer.has_rows()?, "it sees its snapshot");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::query`]; `Conflict` when the transaction was aborted, `Query` when it has
    /// ended.
    pub fn query_with(
        &self,
        request: &QueryRequest,
        context: &RequestContext,
    ) -> Result<QueryAnswer> {
        let (database, version) = self.seen_version()?;
        database.query_version(version, request, context)
    }

    /// The version that queries of the transaction read, with its own changes.
    ///
    /// # Errors
    ///
    /// As [`Txn::query_with`].
    pub(in crate::db) fn seen_version(&self) -> Result<(&Database, Arc<Version>)> {
        Ok((&self.database, self.database.seen(self.open.view()?)?))
    }

    /// Deletes and sets N-Quads in the transaction, the deletes first.
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions};
    ///
    /// let db = Database::in_memory();
    /// let (one, other) = (db.begin(TxnOptions::default())?, db.begin(TxnOptions::default())?);
    /// one.mutate("<1> <name> \"Ada\" .", "")?;
    /// other.mutate("<1> <name> \"Eve\" .", "")?;
    /// one.commit()?;
    /// assert!(matches!(other.commit(), Err(hexgraph::types::Error::Conflict)));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Txn::mutate_with`].
    pub fn mutate(&self, set: &str, delete: &str) -> Result<MutationAnswer> {
        self.mutate_with(&MutationRequest::n_quads(set, delete), &RequestContext::new())
    }

    /// Executes a request in the transaction. The answer's `keys` and `predicates` say what it
    /// changed.
    ///
    /// ```
    /// use hexgraph::db::{Database, MutationRequest, RequestContext, TxnOptions};
    ///
    /// let db = Database::in_memory();
    /// let txn = db.begin(TxnOptions::default())?;
    /// let request = MutationRequest::n_quads("<1> <name> \"Ada\" .", "");
    /// let done = txn.mutate_with(&request, &RequestContext::new())?;
    /// assert_eq!(done.predicates, ["name"]);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::mutate_with`]; nothing of this request is changed then, and the
    /// transaction goes on. As [`Txn::query`].
    pub fn mutate_with(
        &self,
        request: &MutationRequest<'_>,
        context: &RequestContext,
    ) -> Result<MutationAnswer> {
        self.database.with_request(request, context, |job| self.run(job, context))
    }

    /// Executes a request in DQL in the transaction, as [`Database::mutate_text`].
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions};
    ///
    /// let db = Database::in_memory();
    /// let txn = db.begin(TxnOptions::default())?;
    /// txn.mutate_text("{ set { <1> <name> \"Ada\" . } }")?;
    /// assert!(txn.query("{ q(func: has(name)) { name } }")?.has_rows()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Txn::mutate_text_with`].
    pub fn mutate_text(&self, request: &str) -> Result<MutationAnswer> {
        self.mutate_text_with(request, &RequestContext::new())
    }

    /// Carries a request in DQL out in the transaction, as [`Database::mutate_text`].
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext, TxnOptions};
    ///
    /// let db = Database::in_memory();
    /// let txn = db.begin(TxnOptions::default())?;
    /// let context = RequestContext::new();
    /// assert!(txn.mutate_text_with("{ set { <1> <name> } }", &context).is_err());
    /// // The transaction goes on.
    /// txn.mutate_text_with("{ set { <1> <name> \"Ada\" . } }", &context)?;
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Txn::mutate`].
    pub fn mutate_text_with(
        &self,
        request: &str,
        context: &RequestContext,
    ) -> Result<MutationAnswer> {
        self.database.with_text(request, context, |job| self.run(job, context))
    }

    /// Makes the changes visible to all. Returns the number of the commit.
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions};
    /// use hexgraph::types::Error;
    ///
    /// let db = Database::in_memory();
    /// loop {
    ///     let txn = db.begin(TxnOptions::default())?;
    ///     txn.mutate("<1> <visits> \"1\" .", "")?;
    ///     match txn.commit() {
    ///         Err(Error::Conflict) => continue,
    ///         done => break assert_eq!(done?, db.commit()?),
    ///     }
    /// }
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Conflict` when another transaction changed the same things after this one began: begin
    /// again. `Query` when a value is no longer free that no two nodes may have, or when the
    /// transaction has ended. It has ended in any case then. `Access` when the user may no longer
    /// change what was changed: it stays open then.
    pub fn commit(&self) -> Result<u64> {
        self.commit_keys(None)
    }

    /// As [`Txn::commit`], but only those of its keys count that are in `keys` too, where they are
    /// given: a remote client selects what is checked.
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions};
    ///
    /// let db = Database::in_memory();
    /// let txn = db.begin(TxnOptions::default())?;
    /// let done = txn.mutate("<1> <name> \"Ada\" .", "")?;
    /// txn.commit_keys(Some(&done.keys))?;
    /// assert!(txn.is_finished());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Txn::commit`].
    pub fn commit_keys(&self, keys: Option<&[ConflictKey]>) -> Result<u64> {
        let mut state = self.open.lock();
        if let State::Open(work) = &*state {
            self.database.check_commit(&work.names)?;
        }
        // Ended before anything can fail: a commit that fails is not tried again with half of its
        // changes gone.
        let work = match mem::replace(&mut *state, State::Ended(End::Finished)) {
            State::Open(work) => work,
            State::Ended(end) => {
                *state = State::Ended(end);
                return Err(end.error());
            }
        };
        let open = self.database.open_state()?;
        let statements = work.statements;
        let done = self.database.commit_work(*work, keys);
        if matches!(done, Err(Error::Conflict)) {
            *state = State::Ended(End::Aborted);
        }
        open.transactions.end(self.open.number(), statements);
        done
    }

    /// Discards the changes and closes the transaction. Does nothing if it is closed already.
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions};
    ///
    /// let db = Database::in_memory();
    /// let txn = db.begin(TxnOptions::default())?;
    /// txn.mutate("<1> <name> \"Ada\" .", "")?;
    /// txn.discard();
    /// assert!(txn.commit().is_err());
    /// assert!(!db.query("{ q(func: has(name)) { name } }")?.has_rows()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn discard(&self) {
        if let Some(statements) = self.open.end(End::Finished)
            && let Ok(open) = self.database.open_state()
        {
            open.transactions.end(self.open.number(), statements);
        }
    }

    /// Lets go of the transaction without discarding it: [`Database::resume`] finds it by its
    /// number, until nobody has used it for a while.
    ///
    /// ```
    /// use hexgraph::db::{Database, TxnOptions};
    ///
    /// let db = Database::in_memory();
    /// let txn = db.begin(TxnOptions::default())?;
    /// let number = txn.number();
    /// txn.leave_open();
    /// assert!(db.resume(number)?.is_open());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn leave_open(mut self) {
        self.is_owner = false;
    }

    fn run(&self, job: Job<'_>, context: &RequestContext) -> Result<MutationAnswer> {
        let open = self.database.open_state()?;
        let mut state = self.open.lock();
        let work = state.work()?;
        if job.changes() {
            self.check_may_change()?;
        }
        open.check_writable()?;
        let Staged { changes, mut answer, .. } = self.database.stage(job, &work.view, context)?;
        answer.start = self.open.number();
        if changes.is_empty() {
            return Ok(answer);
        }
        answer.predicates = changes.names().map(str::to_owned).collect();
        answer.predicates.sort_unstable();
        (answer.effect, answer.keys) =
            self.add(work, &open, (changes, answer.statements), context)?;
        Ok(answer)
    }

    /// Deletes nodes with all their values and edges in the transaction.
    ///
    /// ```
    /// use hexgraph::db::{Database, Nodes, TxnOptions};
    /// use hexgraph::types::Uid;
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let txn = db.begin(TxnOptions::default())?;
    /// assert_eq!(txn.delete(&Nodes::Uids(&[Uid(1)]))?.nodes, 1);
    /// assert!(db.query("{ q(func: has(name)) { name } }")?.has_rows()?, "it is not committed");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Txn::delete_with`].
    pub fn delete(&self, nodes: &Nodes<'_>) -> Result<DeleteAnswer> {
        self.delete_with(nodes, &RequestContext::new())
    }

    /// Deletes nodes with all their values and edges in the transaction, as [`Database::delete`]:
    /// those that it sees. The commit fails where somebody else has given one of them a value or an
    /// edge meanwhile, or an edge to it.
    ///
    /// ```
    /// use hexgraph::db::{Database, Nodes, RequestContext, TxnOptions, Variables};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .\n<2> <name> \"Bob\" .", "")?;
    /// let txn = db.begin(TxnOptions::default())?;
    /// let variables = Variables::new();
    /// let nodes = Nodes::Query("{ q(func: has(name)) { uid } }", &variables);
    /// assert_eq!(txn.delete_with(&nodes, &RequestContext::new())?.nodes, 2);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::delete`] and [`Txn::query`]; nothing is deleted then, and the transaction
    /// goes on.
    pub fn delete_with(&self, nodes: &Nodes<'_>, context: &RequestContext) -> Result<DeleteAnswer> {
        guarded(|| {
            self.database.prepare(context);
            self.database.check_may_write()?;
            let open = self.database.open_state()?;
            let selection = Selection::new(nodes, context)?;
            let mut state = self.open.lock();
            let work = state.work()?;
            self.check_may_change()?;
            open.check_writable()?;
            let database = &self.database;
            let Detached { changes, nodes, uids } =
                database.compute(context, || database.detached(&selection, &work.view, context))?;
            // Also of those that have nothing: what others give them until the commit would be
            // left.
            let held = open.transactions.hold(8 * uids.len() as u64);
            let held = held.inspect_err(|_| context.note_starved())?;
            let mut answer = DeleteAnswer { nodes, ..DeleteAnswer::default() };
            if !changes.is_empty() {
                let statements = changes.delete_count() as u64;
                let (effect, _) = self.add(work, &open, (changes, statements), context)?;
                (answer.values, answer.edges) = (effect.values_deleted, effect.edges_deleted);
                work.held.push(held);
                let at = work.changes.len() - 1;
                work.detached.push(DetachedNodes { uids, at, effect });
            }
            Ok(answer)
        })
    }

    fn check_may_change(&self) -> Result<()> {
        match self.open.read_only {
            true => Err(Error::query("Readonly transaction cannot run mutations or be committed")),
            false => Ok(()),
        }
    }

    /// Adds changes and the number of their statements to what the transaction has changed. Returns
    /// their effect, and their conflict keys, ascending and distinct.
    ///
    /// # Errors
    ///
    /// `Limit` when there is no memory or capacity for them; nothing of the transaction is changed
    /// then.
    fn add(
        &self,
        work: &mut Work,
        open: &Open,
        (changes, statements): (Changes, u64),
        context: &RequestContext,
    ) -> Result<(Effect, Vec<ConflictKey>)> {
        // The changes, and the view with them.
        let held = open.transactions.hold(2 * changes.weight() as u64);
        let held = held.inspect_err(|_| context.note_starved())?;
        let mut keys = Vec::new();
        let (copy, before) = (changes.clone(), &work.view);
        let (view, effect) = self
            .database
            .compute(context, || copy.apply_keyed(before, &mut keys, &|| context.check()))?;
        open.transactions.reserve(statements)?;
        work.statements += statements;
        work.held.push(held);
        work.view = Arc::new(view);
        work.names.extend(changes.names().map(Arc::from));
        work.names.sort_unstable();
        work.names.dedup();
        keys.sort_unstable();
        keys.dedup();
        work.keys.extend_from_slice(&keys);
        work.changes.push(changes);
        Ok((effect, keys))
    }
}

impl Drop for Txn {
    fn drop(&mut self) {
        if self.is_owner {
            self.discard();
        }
    }
}
