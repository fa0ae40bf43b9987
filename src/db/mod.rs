//! The public API: [`Database`], which all surfaces (HTTP, the command line, Python) use to query, change, save and open a
//! graph.

mod operation;
mod activity;
mod database;
mod ask;
mod compact;
mod change;
mod keep;
mod files;
mod export;
mod folding;
mod open;
mod handles;
mod connect;
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
pub use ask::each::EachAnswer;
pub use ask::explain::{ExplainedStep, Explanation};
pub use ask::kept::algorithm_table::{AlgorithmNumbers, AlgorithmTable};
pub use ask::kept::copied::AnswerMemory;
pub use ask::many::ManyRequest;
pub use ask::pages::Pages;
pub use ask::plans::{QueryRequest, Variables};
pub use ask::query::QueryAnswer;
pub use ask::questions::Questions;
pub use ask::slow::SlowQuery;
pub use ask::warnings::{Warning, WarningKind};
pub use change::detach::{DeleteAnswer, Nodes};
pub use change::input::{LoadProgress, Source};
pub use change::mutate::{Mutation, MutationAnswer, MutationRequest};
pub use change::quads::{QuadObject, QuadParts, QuadText};
pub use change::txn::{Txn, TxnOptions};
pub use compact::{CompactCall, CompactGraph};
pub use database::Database;
pub use export::ExportReport;
pub use files::paths::{files_of, has_triples, refuse_loaders_export};
pub use guard::guarded;
pub use hexgraph_base::plan::{
    ALGORITHMS, Algorithm, ArgumentDef, ArgumentKind, COMMON_ARGUMENTS, Gives, nearest_algorithm,
};
pub use hexgraph_base::schema::{SchemaItem, SchemaReport};
pub use hexgraph_dql::{Given, keywords, without_passwords, without_strings};
pub use hexgraph_store::algo::{
    EdgeArrays, Found as AlgorithmFound, Output as AlgorithmOutput, Report as AlgorithmReport,
};
pub use hexgraph_store::durability::{Recovery, SyncPolicy};
pub use hexgraph_store::exec::{
    Canceller, Control as RequestContext, Limits, Onward, byte_count, parse_time,
};
pub use hexgraph_store::graph::{
    Effect, Folding, LoadReport, Losses, LostValue, PredicateStats, SkippedLine, Statements,
    Thresholds,
};
pub use keep::{Checked, check};
pub use operation::{
    Drop, Latency, LoadOptions, Memory, OpenOptions, Stats, TxnLimits, memory_count,
};

#[cfg(test)]
mod tests;
