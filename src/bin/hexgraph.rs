//! The command line as a program of its own.

use hexgraph::cli::Interrupt;
use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(hexgraph::cli::run(std::env::args_os(), Interrupt::System))
}
