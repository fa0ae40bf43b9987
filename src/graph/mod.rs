//! The graph: versions that queries read, and how data and schema get into the next one.

mod delta;
mod node_ids;
mod uids;
mod values;
mod edges;
mod version;
mod value_order;
mod parts;
mod build;
mod renumber;
mod compact;
mod check;
mod keys;
mod conflicts;
mod batch;
mod gather;
mod load;
mod statements;
mod bindings;
mod mutate;
mod changes;
mod apply;
mod alter;
mod snapshots;
mod publish;
mod stats;
mod catalog;
mod persist_vectors;
mod vectors;
pub mod persist;

pub use alter::{alter, altered, drop_all, drop_attr, drop_data, drop_type};
pub use bindings::{Binding, Bindings};
pub use changes::Changes;
pub use conflicts::Claim;
pub use delta::{FacetList, Row};
pub use edges::{Direction, EdgeStore};
pub use keys::Key;
pub use load::{LoadOptions, LoadProgress, LoadReport, LoadSource, SkippedLine, load};
pub use mutate::{MutationReport, stage};
pub use node_ids::NodeIds;
pub use publish::Store;
pub use snapshots::Snapshot;
pub use statements::{Mutation, MutationTree, Statements};
pub use stats::{PredicateStats, stats};
pub use uids::Uids;
pub use values::{IndexView, LangValues, ValueBase, ValueList, distinct_of, union_of};
pub use vectors::Nearest;
pub use version::{Predicate, PredicateData, Version};

#[cfg(test)]
mod tests;
