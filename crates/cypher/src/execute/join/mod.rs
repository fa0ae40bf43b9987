//! Joins: matches that are counted instead of listed.
//!
//! Where a query groups, only the values of its keys and arguments matter, and how many matches
//! have them. So the matches and conditions before a group become a
//! [`Pattern`](super::plan::Pattern) of variables and edges, whose matches are counted in three
//! steps:
//!
//! 1. Constraints on pairs (`a <> c`, `NOT (a)-->(c)`, relationships of one clause that may not be
//!    the same) are resolved by inclusion and exclusion into patterns without constraints
//!    (`terms`).
//! 2. Each leaf of a pattern is eliminated into a number of matches for each node of its neighbour,
//!    by one pass over the lists of the edge (`reduce`). Trees end here: the time is that of
//!    reading each edge once.
//! 3. What remains is a core of cycles and retained variables. Variables that are functions of
//!    others become a part of them (`cyclic/contract`), and a triangle visits each three nodes once
//!    (`cyclic/triangles`). Else variables are bound one by one to the intersection of sorted lists
//!    (`cyclic/enumerate`).
//!
//! Keys, arguments and conditions on one variable are evaluated once for each distinct value of the
//! property that they read (`coded`), and groups are numbers of such codes (`groups`). Few
//! candidates of a variable restrict those of its neighbours (`semi_join`), and edges of any type
//! leave out the types that their endpoints cannot have (`prune`).
//!
//! The rows executor is the second implementation of all of it: tests compare both.

mod lower;
mod terms;
mod candidates;
mod coded;
mod compared;
mod edge_lists;
mod functions;
mod prune;
mod semi_join;
mod reduce;
mod order;
mod cyclic;
mod expected;
mod run;
mod groups;

pub(super) use candidates::{CHECKED_NODES, collect};
pub(super) use expected::expected_steps;
pub(super) use lower::{Lowered, labels_of, lower, not_null};
