//! The command line: the same from the binary and from `python -m hexgraph`.

mod arguments;
mod settings;
mod access;
mod spelling;
mod tables;
mod algo;
mod quote;
mod output;
mod given;
mod requests;
mod registry;
mod console;
mod health;
mod shell;
mod mcp;
mod commands;
mod interrupt;
mod bar;

pub use commands::run;
pub use interrupt::Interrupt;
