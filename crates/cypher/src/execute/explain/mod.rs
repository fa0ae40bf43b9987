//! `EXPLAIN` and `PROFILE`: the operators of a plan in the order in which rows pass through them,
//! one line each.
//!
//! The names of operators are those of the plans of queries in DQL. What is part of an operator is
//! indented below it.

mod line;
mod literals;
mod texts;
mod seeks;
mod joins;
mod algorithms;
mod outline;
mod report;

pub(super) use outline::Outline;
pub(super) use report::report;
