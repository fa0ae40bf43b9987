//! The two programs that serve a database: [`http`], a server for HTTP, GraphQL and gRPC with the
//! routes of Dgraph, and [`cli`], the command line `hexgraph`, which starts it. Both call the crate
//! `hexgraph` for all that concerns data.

pub mod http;
pub mod cli;
