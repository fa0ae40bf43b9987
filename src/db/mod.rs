//! The one door for every surface: a database that is asked, changed, saved and opened.

mod operation;
mod database;
mod explain;
mod slow;
mod query;
mod pages;
mod change;
mod upsert;
mod mutate;
mod txn;
mod transactions;
mod input;
mod paths;
mod export;
mod plans;
mod pool;
mod open;
mod guard;
mod rows;
mod checked;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "graphql")]
pub mod graphql;

pub use database::Database;
pub use explain::{ExplainedStep, Explanation};
pub use export::ExportReport;
pub use guard::guarded;
pub use hexgraph_base::schema::{SchemaItem, SchemaReport};
pub use hexgraph_dql::{Given, without_passwords};
pub use hexgraph_store::durability::{Recovery, SyncPolicy};
pub use hexgraph_store::exec::{Canceller, Control, Limits, Onward, byte_count, parse_time};
pub use hexgraph_store::graph::{PredicateStats, Statements};
pub use input::LoadProgress;
pub use mutate::{Mutation, MutationAnswer, MutationRequest};
pub use open::{Checked, check};
pub use operation::{Drop, Latency, LoadOptions, LoadReport, Memory, OpenOptions, memory_count};
pub use operation::{SkippedLine, Source, Stats};
pub use pages::Pages;
pub use paths::{files_of, has_triples};
pub use plans::Variables;
pub use query::{QueryAnswer, QueryRequest};
pub use slow::SlowQuery;
pub use transactions::TxnLimits;
pub use txn::{Txn, TxnOptions};

#[cfg(test)]
mod tests;
