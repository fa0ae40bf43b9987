//! The command line as a program of its own.

use hexgraph_server::cli::Interrupt;
use std::process::ExitCode;

/// Large lists come and go with every query: this allocator retains their pages, where the system's
/// gives them back and faults them in again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(hexgraph_server::cli::run(std::env::args_os(), Interrupt::System))
}
