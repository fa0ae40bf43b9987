//! `hexgraph mcp`: a database as tools for language models, by the Model Context Protocol.
//!
//! A call is read by the table of its tool, runs on a thread that may block, under limits, and is
//! answered in one frame: what comes from the database is marked as data, and whatever is left out
//! is listed.

mod answer;
mod call;
mod model;
mod query;
mod describe;
mod search;
mod nodes;
mod algorithms;
mod check;
mod mutate;
mod tools;
mod resources;
mod server;
mod start;

pub(super) use start::mcp;
