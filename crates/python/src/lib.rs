//! The Python package's native half: it converts, releases the interpreter's lock, and calls the
//! database.

mod convert;
mod interrupt;
mod source;
mod requests;
mod answers;
mod graphql;
mod txn;
mod tables;
mod files;
mod stats;
mod cluster;
mod drawn;
mod database;
mod algorithms;
mod mutation;
mod server;
mod module;

/// Large lists come and go with every query: this allocator keeps their pages, where the system's
/// gives them back and faults them in again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
