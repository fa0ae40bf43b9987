//! The graph: versions that queries read, and how data and schema get into the next one.

mod delta;
mod node_ids;
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
mod batch;
mod gather;
mod intern;
mod columns;
mod load;
mod statements;
mod bindings;
mod mutate;
mod changes;
mod apply;
mod alter;
mod publish;
mod stats;
mod export;
mod export_json;
mod catalog;
mod persist_vectors;
mod vectors;
pub mod persist;

pub use alter::{alter, drop_all, drop_attr, drop_data, drop_type};
pub use bindings::{Binding, Bindings};
pub use changes::Changes;
pub use check::{check_indexed, stored};
pub use columns::{ColumnLoad, IdSpace};
pub use delta::{FacetList, Row};
pub use edges::{Direction, EdgeStore};
pub use export::export;
pub use export_json::export_json;
pub use intern::Interner;
pub use load::{LoadOptions, LoadProgress, LoadReport, LoadSource, SkippedLine, load};
pub use mutate::{MutationReport, stage};
pub use node_ids::NodeIds;
pub use parts::{EdgePart, FacetPart, ValuePart};
pub use publish::Store;
pub use statements::{Mutation, MutationTree, Statements};
pub use stats::{PredicateStats, stats};
pub use values::{IndexView, LangValues, ValueBase, ValueList, distinct_of, union_of};
pub use vectors::Nearest;
pub use version::{Predicate, PredicateData, Version};

#[cfg(test)]
mod tests;
