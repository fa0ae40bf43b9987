//! The graph: versions that queries read, and how data and schema get into the next one.

mod thresholds;
mod view;
mod version;
mod build;
mod change;
mod publish;
pub mod persist;
mod load;

pub use build::compact::{Check, settle_all, settle_all_while, space_to_settle};
pub use build::parts::{EdgePart, FacetPart, FacetRows, FacetsBuilder, ValuePart};
pub use change::altering::alter::{
    alter, altered, define, drop_all, drop_attr, report, resolve, resolve_graphql,
};
pub use change::altering::definitions::Definitions;
pub use change::altering::graphql_schema::{graphql_schema, stage_graphql_schema};
pub use change::altering::redefine::Redefinition;
pub use change::bindings::{Binding, Bindings};
pub use change::bounds::STATEMENTS_MAX;
pub use change::changes::Changes;
pub use change::check::{check_indexed, check_storable, stored_in_full};
pub use change::detach::detach;
pub use change::effect::Effect;
pub use change::keys::ConflictKey;
pub use change::losses::{Losses, LostValue};
pub use change::mutate::{MutationReport, Passwords, Stager, names_passwords, stage};
pub use change::refusal::Refusal;
pub use change::statements::{Mutation, MutationTexts, Statements};
pub use load::columns::{ColumnLoad, IdSpace, POSITIONS_A_ROW};
pub use load::duplicates::Duplicates;
pub use load::gather::small::SmallLoad;
pub use load::intern::Interner;
pub use load::lines::{LoadOptions, LoadProgress, LoadReport, LoadSource, SkippedLine, load};
pub use load::spill::{SpillOptions, remove_left};
pub use load::stored_ids::LostIds;
pub use persist::export::{export, export_labelled, is_exported};
pub use persist::export_json::export_json;
pub use publish::concurrent::{Compactions, LoadHome, catch_up_outside};
pub use publish::conflicts::Claim;
pub use publish::rebuilding::RebuildLock;
pub use publish::record::{SchemaChange, encode_changes, encode_next_uid};
pub use publish::replay::Replay;
pub use publish::snapshots::Snapshot;
pub(crate) use publish::store::Journal;
pub use publish::store::{Commit, Store};
pub use publish::watch::Watch;
pub use thresholds::{Folding, Thresholds};
pub use version::change_lists::ChangedNumbers;
pub(crate) use version::change_lists::{ChangedTexts, NO_TEXT};
pub(crate) use version::delta::EdgeDelta;
pub use version::delta::Row;
pub(crate) use version::edge_numbers::EdgeNumbers;
pub use version::edges::Direction;
pub use version::graph_version::Version;
pub(crate) use version::index_view::{IndexView, TokenNodes};
pub use version::node_ids::NodeIds;
pub use version::predicate::Predicate;
pub use version::stats::{PredicateStats, stats};
pub use version::uids::{NamedUids, Uids};
pub(crate) use version::unions::{distinct_of, union_of, union_of_sets};
pub use version::values::LangValues;
pub(crate) use version::values::NumberRun;
pub(crate) use version::values::ValueList;
#[cfg(test)]
pub(crate) use version::values::patched_floats::tests::patched;
pub(crate) use version::values::patched_floats::{FloatCursor, PatchedFloats, Patches, STEP};
pub(crate) use version::vectors::Nearest;
pub use view::View;

#[cfg(test)]
mod tests;
