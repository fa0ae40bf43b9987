//! Carries out a plan over one version of the graph: a set of nodes at a time, level by level.

mod limits;
mod tree;
mod context;
mod read;
mod gather;
mod compare;
mod tester;
mod function;
mod similar;
mod root;
mod filter;
mod order;
mod page;
mod facets;
mod traverse;
mod expand;
mod cascade;
mod variables;
mod aggregate;
mod math;
mod group_by;
mod recurse;
mod shortest;
mod run;
mod output;
mod normalize;

pub use limits::{Canceller, Control};
pub use run::{Answer, ExecOptions, execute};
