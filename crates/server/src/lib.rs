//! The two surfaces that are programs: the database over HTTP, and the command line.

pub mod http;
pub mod cli;
