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

#[cfg(test)]
mod tests;
