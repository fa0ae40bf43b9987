//! The Python package's native half: it converts, releases the interpreter's lock, and calls the
//! database.

mod errors;
mod interrupt;
mod variables;
mod source;
mod encoding;
mod requests;
mod subscription;
mod graphql;
mod txn;
mod tables;
mod database;
mod pages;
mod mutation;
mod explanation;
mod result;
mod json;
mod dict_sink;
mod arrow_columns;
mod arrow;
mod server;
mod module;

/// Large lists come and go with every query: this allocator keeps their pages, where the system's
/// gives them back and faults them in again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
