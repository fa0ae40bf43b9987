//! The slow twin: a second executor of DQL, written naively from the specification, that must
//! agree with the engine on generated queries over generated graphs.

mod schema;
mod graph;
mod json;
mod exec;
mod piece;
mod words;
mod data;
mod generate;
mod compare;
mod case;
mod shrink;
mod run;
mod rights;

pub use case::{any_costs, small};
pub use compare::{difference, shows_anything};
