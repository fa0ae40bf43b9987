//! [`Namespace`]: a graph with its threads, its cache of plans, and the directory that it is stored
//! in.

#[cfg(feature = "graphql")]
use crate::db::access::AccessList;
#[cfg(feature = "client")]
use crate::db::client::Client;
use crate::db::cypher::CachedNames;
#[cfg(feature = "graphql")]
use crate::db::graphql::Schemas;
use crate::db::open::Open;
use crate::db::query::plans::Plans;
use crate::db::query::slow::SlowLog;
use arc_swap::ArcSwapOption;
use hexgraph_base::budget::Budget;
use hexgraph_base::types::Error;
use hexgraph_base::types::pool::Pool;
#[cfg(feature = "graphql")]
use hexgraph_graphql::remote::Fetch;
#[cfg(all(feature = "graphql", not(feature = "client")))]
use hexgraph_graphql::remote::NoFetch;
use hexgraph_store::algo::GraphCache;
use hexgraph_store::exec::Limits;
use std::process;
use std::sync::{Arc, OnceLock};

/// The number of the reserved database, which is no namespace: nobody gets a handle of it.
pub(in crate::db) const RESERVED: u64 = u64::MAX;

/// A graph that is open, with its caches. Predicates, types, schemas, users, transactions and their
/// numbers are its own; threads and memory are those of the entire database.
pub(in crate::db) struct Namespace {
    /// The number of the namespace.
    pub id: u64,
    /// The data and the directory; `None` once it is closed.
    pub open: ArcSwapOption<Open>,
    /// The cache of plans.
    pub plans: Plans,
    /// The threads.
    pub pool: Arc<Pool>,
    /// The short names of the schema, for queries in Cypher.
    pub names: CachedNames,
    /// The compact graphs of algorithms, of all namespaces: each is identified by its predicates,
    /// and so only visible in its namespace.
    pub graphs: Arc<GraphCache>,
    /// The limits of each request.
    pub limits: Limits,
    /// The memory of all requests.
    pub budget: Budget,
    /// The log of slow queries.
    pub slow: SlowLog,
    /// The process that opened it.
    pub process: u32,
    /// Set once it was dropped.
    dropped: OnceLock<()>,
    /// The GraphQL schema.
    #[cfg(feature = "graphql")]
    pub graphql: Schemas,
    /// Users and their rights, once they are requested.
    #[cfg(feature = "graphql")]
    pub access: OnceLock<AccessList>,
}

impl Namespace {
    /// The namespace 0 of a database.
    pub(super) fn first(open: Open, budget: &Budget, threads: usize, limits: Limits) -> Namespace {
        Namespace {
            id: 0,
            open: ArcSwapOption::from_pointee(open),
            plans: Plans::new(budget),
            names: CachedNames::default(),
            pool: Arc::new(Pool::new(threads)),
            graphs: Arc::new(GraphCache::new(budget)),
            limits,
            budget: budget.clone(),
            slow: SlowLog::default(),
            process: process::id(),
            dropped: OnceLock::new(),
            #[cfg(feature = "graphql")]
            graphql: Schemas::new(default_client()),
            #[cfg(feature = "graphql")]
            access: OnceLock::new(),
        }
    }

    /// Another namespace, with the same threads, the memory, the limits and the options of GraphQL.
    pub(super) fn sibling(&self, id: u64, open: Open) -> Namespace {
        Namespace {
            id,
            open: ArcSwapOption::from_pointee(open),
            plans: Plans::new(&self.budget),
            names: CachedNames::default(),
            pool: Arc::clone(&self.pool),
            graphs: Arc::clone(&self.graphs),
            limits: self.limits,
            budget: self.budget.clone(),
            slow: SlowLog::default(),
            process: self.process,
            dropped: OnceLock::new(),
            #[cfg(feature = "graphql")]
            graphql: self.graphql.sibling(),
            #[cfg(feature = "graphql")]
            access: OnceLock::new(),
        }
    }

    /// The error of requests after it was closed.
    pub(in crate::db) fn closed(&self) -> Error {
        match self.dropped.get() {
            Some(()) => Error::query(format!("the namespace {} was dropped", self.id)),
            None => Error::Closed,
        }
    }

    /// Closes it for good, without a snapshot.
    pub(super) fn end(&self) {
        let _ = self.dropped.set(());
        // Whoever still reads it goes on; its files are unlinked, and closing them can't lose
        // anything.
        if let Some(open) = self.open.swap(None) {
            open.abandon();
        }
    }
}

impl Drop for Namespace {
    /// Waits for a snapshot that is being written, so that the directory can be opened again when
    /// the last handle is gone.
    fn drop(&mut self) {
        if let Some(open) = &*self.open.load() {
            open.wait_for_checkpointer();
        }
    }
}

/// Whoever sends requests to other servers, where nobody else is named.
#[cfg(feature = "client")]
fn default_client() -> Arc<dyn Fetch> {
    Arc::new(Client::default())
}

/// Whoever sends requests to other servers, where nobody else is named.
#[cfg(all(feature = "graphql", not(feature = "client")))]
fn default_client() -> Arc<dyn Fetch> {
    Arc::new(NoFetch)
}
