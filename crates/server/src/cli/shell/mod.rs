//! `hexgraph shell`: a prompt for queries, changes and commands, and the same from files and
//! arguments.

mod scan;
mod cypher;
mod statements;
mod catalog;
mod commands;
mod completion;
mod history;
mod editor;
mod screen;
mod results;
mod describe;
mod session;
mod start;

pub(super) use catalog::{Catalog, quoted};
pub(super) use describe::type_counts;
pub(super) use start::shell;
