//! The graph: versions that queries read, and how data and schema get into the next one.

mod delta;
mod node_ids;
mod uids;
mod values;
mod edges;
mod version;
mod value_order;
mod parts;
mod edge_order;
mod build;
mod renumber;
mod compact;
mod check;
mod keys;
mod conflicts;
mod catalog;
mod persist_vectors;
pub mod persist;
mod batch;
mod unique;
mod spill;
mod gather;
mod lean;
mod intern;
mod columns;
mod load;
mod statements;
mod weight;
mod bindings;
mod mutate;
mod changes;
mod apply;
mod alter;
mod graphql_schema;
mod definitions;
mod record;
mod replay;
mod replay_first;
mod snapshots;
mod watch;
mod publish;
mod stats;
mod export;
mod export_json;
mod vectors;

pub use alter::{
    alter, altered, define, drop_all, drop_attr, drop_data, drop_type, report, resolve,
    resolve_graphql,
};
pub use bindings::{Binding, Bindings};
pub use changes::Changes;
pub use check::{check_indexed, check_storable, stored};
pub use columns::{ColumnLoad, IdSpace, PLACES_A_ROW};
pub use compact::{Check, room_to_settle, settle_all, settle_all_while};
pub use conflicts::Claim;
pub use definitions::Definitions;
pub use delta::{FacetList, Row};
pub use edges::{Direction, EdgeStore};
pub use export::{export, is_exported};
pub use export_json::export_json;
pub use graphql_schema::{graphql_schema, stage_graphql_schema};
pub use intern::Interner;
pub use keys::Key;
pub use load::{LoadOptions, LoadProgress, LoadReport, LoadSource, SkippedLine, load};
pub use mutate::{
    Charge, MutationReport, Passwords, STATEMENTS_MAX, Stager, names_passwords, stage,
};
pub use node_ids::NodeIds;
pub use parts::{EdgePart, FacetPart, FacetRows, FacetsBuilder, ValuePart};
pub use publish::{Commit, Journal, Store};
pub use record::{SchemaChange, encode_changes, encode_next_uid};
pub use replay::Replay;
pub use snapshots::Snapshot;
pub use spill::{SpillOptions, remove_left};
pub use statements::{Mutation, MutationTree, Statements};
pub use stats::{PredicateStats, stats};
pub use uids::{NamedUids, Uids};
pub use values::{IndexView, LangValues, ValueBase, ValueList, distinct_of, union_of};
pub use vectors::Nearest;
pub use version::{Predicate, PredicateData, Version};
pub use watch::Watch;

#[cfg(test)]
mod tests;
