//! Random queries over a graph: most are valid and meet its data, some are wrong on purpose.

mod generator;
mod function;
mod paging;
mod selection;
mod computed;
mod edge;
mod block;

pub use generator::{Generator, quoted};
