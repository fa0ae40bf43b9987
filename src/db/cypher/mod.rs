//! Read-only openCypher over a version of the graph.
//!
//! The executor of `hexgraph_cypher` knows a graph by a trait. [`snapshot_graph`] implements it for
//! one version: a label is a type, a property a predicate with values, a relationship type a
//! predicate with edges, and the properties of a relationship are facets. [`names`] resolves short
//! names, [`stored_values`] converts values, [`look_ups`] searches indexes for them, and
//! [`algorithms`] and [`name_lists`] run what a query calls. [`plain`]
//! makes maps of the nodes and relationships of the result, [`json`] and [`table`] are its forms,
//! [`column_types`] has the types of columns, and [`run`] is the entry.

mod inverse;
mod names;
mod look_ups;
mod plain;
mod snapshot_graph;
mod snapshot_lists;
mod algorithms;
mod name_lists;
mod stored_values;
mod run;
mod many;
mod json;
mod column_types;
mod table;
#[cfg(test)]
mod tests;

pub use json::cypher_params;
pub(in crate::db) use names::CachedNames;
pub use run::CypherAnswer;
