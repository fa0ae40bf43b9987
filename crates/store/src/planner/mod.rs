//! Plans a query without running it: the steps of its blocks, with the access paths that the
//! executor would choose.
//!
//! A block's plan has stages. A stage is over where a number of rows is final: at the root and
//! its filter, at each level, at each variable. The first stage is planned from literals and index
//! estimates. Later stages are planned from `Cardinality` bounds: each deciding function of
//! [`exec`](crate::exec) is evaluated over them, and every path that it may choose is listed, with
//! the numbers of rows for which it does.
//!
//! The planner decides nothing by itself. It calls the functions that `exec/physical` lists, in the
//! order in which the executor does. It reads no values and no edges.

mod cardinality;
mod steps;
mod filters;
mod prepared;
mod roots;
mod orders;
mod levels;
mod groups;
mod blocks;

pub use blocks::plan_steps;
pub use steps::{PlannedPath, PlannedStep};
