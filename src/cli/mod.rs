//! The command line: the same from the binary and from `python -m hexgraph`.

mod arguments;
mod tables;
mod commands;
mod interrupt;
mod bar;

pub use commands::run;
pub use interrupt::Interrupt;
