//! The physical plan: the access paths by which each step of a query can be executed, and how one
//! of them is chosen.
//!
//! `access_path` names the access paths. Each kind of step has a function that chooses one of them.
//! It looks at the plan, the schema, the lengths of sets and the estimates of indexes, and reads no
//! data.
//!
//! | step | decided by | in |
//! |---|---|---|
//! | block | `block_path` | `physical/rewrites` |
//! | root | `root_nodes` and what it calls | `choose/root.rs` |
//! | filter | `planned_parts`, `filter_path`, `inverse` | `select/filter.rs`, `select/reach.rs` |
//! | page | `roots_plan`, `part_path`, `driver` | `select/page.rs`, `select/passing.rs` |
//! | order | `roots_plan`, `index_of_order`, `order_path`, `var_path` | `select/page.rs`, `select/by_index.rs`, `select/order.rs` |
//! | edges | `pages_of_long_lists`, `counts_of_long_lists` | `walk/long_lists.rs` |
//! | group | `group_kind` | `groups/group_by.rs` |
//! | threads | `RequestContext::spread` | `control/morsels.rs` |
//!
//! A decision is made when its step is about to run, since what the steps before it left is the
//! best statistic there is. Before a query runs, `planner` evaluates the same functions for all
//! sizes that are possible. All of them end in `pick`, by which tests choose any allowed path.

pub(super) mod pick;
pub(super) mod rewrites;
