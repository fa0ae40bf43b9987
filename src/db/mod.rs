//! The public API: [`Database`], which all surfaces (HTTP, the command line, Python) use to query,
//! change, save and open a graph.
//!
//! [`QueryAnswer`] reads the result of a query, [`Txn`] is a transaction, and [`RequestContext`]
//! stops a request. A method with the suffix `_with` takes a context and all options; the one
//! without has the defaults.

mod operation;
mod activity;
mod database;
mod connect;
mod query;
mod cypher;
mod compact;
mod change;
mod maintenance;
mod files;
mod export;
mod compactor;
mod open;
mod handles;
mod namespaces;
mod guard;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "tables")]
mod moment;
#[cfg(feature = "graphql")]
pub mod graphql;
#[cfg(feature = "graphql")]
pub mod access;
#[cfg(not(feature = "graphql"))]
mod without_access;

pub use activity::{Activity, Runs};
pub use change::detach::{DeleteAnswer, Nodes};
pub use change::input::{LoadProgress, Source};
pub use change::mutate::{Mutation, MutationAnswer, MutationRequest};
pub use change::quads::{QuadObject, QuadParts, QuadText};
pub use change::txn::{Txn, TxnOptions};
pub use compact::{CompactCall, CompactGraph};
pub use cypher::{CypherAnswer, cypher_params};
pub use database::Database;
pub use export::ExportReport;
pub use files::paths::{files_of, has_triples, refuse_loaders_export};
pub use guard::guarded;
#[doc(inline)]
pub use hexgraph_base::plan::{
    ALGORITHMS, Algorithm, ArgumentDef, ArgumentKind, COMMON_ARGUMENTS, Gives, nearest_algorithm,
};
#[doc(inline)]
pub use hexgraph_base::schema::{SchemaItem, SchemaReport};
#[doc(inline)]
pub use hexgraph_dql::{
    Keyword, KeywordKind, ParameterValue, is_mutation, keyword_table, without_passwords,
    without_strings,
};
#[doc(inline)]
pub use hexgraph_store::algo::{
    EdgeArrays, Outcome as AlgorithmOutcome, Output as AlgorithmOutput, Report as AlgorithmReport,
};
#[doc(inline)]
pub use hexgraph_store::durability::{Recovery, SyncPolicy};
/// ```
/// use hexgraph::db::{Database, QueryRequest, RequestContext};
/// use std::time::Duration;
///
/// let db = Database::in_memory();
/// let request = QueryRequest::from("{ q(func: has(name)) { name } }");
/// let context = RequestContext::new().with_timeout(Duration::from_secs(5));
/// // Any thread may cancel the request.
/// let canceller = context.canceller();
/// std::thread::spawn(move || canceller.cancel()).join().unwrap();
/// assert!(db.query_with(&request, &context).is_err());
/// ```
///
#[doc(inline)]
pub use hexgraph_store::exec::RequestContext;
#[doc(inline)]
pub use hexgraph_store::exec::{Canceller, Limits, Onward, byte_count, parse_time};
#[doc(inline)]
pub use hexgraph_store::graph::{
    Effect, Folding, LoadReport, Losses, LostValue, PredicateStats, SkippedLine, Statements,
    Thresholds,
};
pub use maintenance::{Checked, check};
pub use operation::{
    Drop, Latency, LoadOptions, Memory, OpenOptions, Stats, TxnLimits, memory_count,
};
pub use query::answer::QueryAnswer;
pub use query::each::EachAnswer;
pub use query::explain::{Actual, Alternative, ExplainedStep, Explanation};
pub use query::grammar::GrammarFormat;
pub use query::many::ManyRequest;
pub use query::pages::Pages;
pub use query::plans::{QueryRequest, Variables};
pub use query::prepared::PreparedQuery;
pub use query::retained::algorithm_table::{AlgorithmNumbers, AlgorithmTable};
pub use query::retained::copied::AnswerMemory;
pub use query::slow::SlowQuery;
pub use query::warnings::{Warning, WarningKind};

#[cfg(test)]
mod tests;
