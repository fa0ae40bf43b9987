//! The row executor: one row at a time runs through the clauses of a query. It knows a graph by [`Graph`] only.
//!
//! ```text
//! let parsed = parse(text)?;
//! analyse(&parsed)?;
//! let table: Table = execute(&parsed, &params, &graph)?;
//! ```
//!
//! `params` is a [`Map`](hexgraph_scalar::Map), `graph` any `&dyn Graph`. Errors are those of `base::types`: what the
//! graph returns is passed on unchanged, and what an expression refuses has its position in the text.

mod graph;
mod table;
#[cfg(test)]
mod tests;

pub use graph::Graph;
pub use table::Table;
