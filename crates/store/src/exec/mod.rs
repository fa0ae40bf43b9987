//! Executes a plan on one version of the graph: a set of nodes at a time, level by level.

mod cost;
mod access_path;
mod physical;
mod control;
mod columns;
mod select;
mod choose;
mod concurrent;
mod walk;
mod math;
mod groups;
mod run;
mod algorithm_groups;
mod answer;
mod algorithm_run;
mod algorithm;
mod upsert;
mod write;

pub use access_path::{
    AccessPath, BlockPath, EdgesPath, FilterPath, GraphPath, GroupPath, OrderPath, PagePath,
    RootPath, TotalPath,
};
pub use algorithm_run::{call_graph, run_algorithm};
pub use answer::Answer;
pub use choose::look_up::{index_size, look_up_estimate, look_up_nodes};
pub use columns::batches::EdgeTargets;
pub use columns::read::{Langs, first_value, typed};
pub use control::limits::{COMMON_LEVELS, Limits, byte_count, parse_time, past_limit};
pub use control::options::ExecOptions;
pub use control::stop::{Canceller, Onward, RequestContext};
pub use control::trace::{Doubt, Doubtful, Step, Trace};
pub use control::tree::{AlgorithmResult, BlockResult, FieldData, FieldResult, Level, ValueField};
pub use cost::{CostModel, RandomChoice};
pub use math::sums::Sum;
pub use physical::rewrites::{REWRITES, Rewrite};
pub use run::execute;
pub use select::column_numbers::{ColumnNumbers, ManyNodes, nodes_of_extreme};
pub use upsert::{Upsert, execute_upsert};
pub use write::columns::names::names_of;

pub(crate) use algorithm::edges_text;
pub(crate) use choose::compare::ValueCondition;
pub(crate) use choose::function::{is_reported, no_reverse};
pub(crate) use choose::geo_function::GeoCall;
pub(crate) use choose::tester::subjects_with;
pub(crate) use choose::text_function::text_root_paths;
pub(crate) use columns::batches::Members;
pub(crate) use control::context::{Context, Var};
pub(crate) use groups::group_by::GroupKind;
pub(crate) use math::aggregate::read_vars;
pub(crate) use physical::rewrites::{Chain, first_batch, next_batch};
pub(crate) use run::{has_cascade, is_ready, waits, with_unknowns};
pub(crate) use select::filter::test_rank;
pub(crate) use select::order::SortKey;
pub(crate) use select::page::{RootsPlan, check_order, roots_page};
pub(crate) use select::passing::{Purpose, result_max};
pub(crate) use select::semi_join::{are_few_targets, looks_beyond};
pub(crate) use walk::gather::{gather_path, needs_no_lists};
pub(crate) use walk::traverse::{Inherited, plain_path, walks_edges};

#[cfg(test)]
mod tests;
