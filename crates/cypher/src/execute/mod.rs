//! The row executor: one row at a time runs through the clauses of a query. It knows a graph by
//! [`Graph`] only.
//!
//! ```text
//! let parsed = parse(text)?;
//! analyse(&parsed)?;
//! let table: Table = execute(&parsed, &params, &graph, &context)?;
//! ```
//!
//! `params` is a [`Map`](hexgraph_scalar::Map), `graph` any `&dyn Graph`, and `context` a
//! [`Context`](hexgraph_scalar::Context) with the time of the query. Errors are those of
//! `base::types`: what the graph returns is passed on unchanged, and what an expression refuses has
//! its position in the text.

mod failure;
mod graph;
mod dictionary;
mod adjacency;
mod answer;
mod table;
mod plan;
mod slots;
mod seeks;
mod sorted;
mod rewrite;
mod profile;
mod cells;
mod join;
mod resolve;
mod run;
mod explain;
mod entry;
#[cfg(test)]
mod tests;

pub use adjacency::{Adjacency, Lists, PropertyColumn};
pub use answer::{AnswerColumn, AnswerSink};
pub use cells::{Bits, Cell, Truths, TypedCells, Vector};
pub use dictionary::Dictionary;
pub use entry::{execute, execute_each, explain, profile};
pub use graph::{Graph, NameKind};
pub use seeks::{IndexAccess, IndexEstimate, IndexTest};
pub use table::Table;
