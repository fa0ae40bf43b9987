//! What every part of hexgraph speaks of: values and errors, schemas, plans, answers, and what texts and places mean.
//!
//! Nothing here knows a store or a query language.

pub mod compat;
pub mod types;
pub mod budget;
pub mod text;
pub mod geo;
pub mod schema;
pub mod formats;
pub mod answer;
pub mod plan;
