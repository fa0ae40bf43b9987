//! Queries in Cypher over a version of the graph, and the tables of their answers.

mod columns;
mod queries;
mod tables;
