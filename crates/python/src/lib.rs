//! The native half of the Python package `hexgraph`: the module `hexgraph._native`.
//!
//! Each call converts its arguments to Rust, releases the interpreter's lock while the database
//! works, so that other threads of Python run, and converts the answer back. What needs no speed,
//! such as data frames and plots, is written in Python (`python/hexgraph`).

mod convert;
mod interrupt;
mod source;
mod requests;
mod answers;
mod graphql;
mod txn;
mod words;
mod tables;
mod files;
mod stats;
mod cluster;
mod drawn;
mod graphs;
mod database;
mod calls;
mod algorithms;
mod mutation;
mod server;
mod module;

/// Large lists come and go with every query: this allocator retains their pages, where the system's
/// gives them back and faults them in again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
