//! N-Quads (W3C, RDF 1.1 N-Quads), one statement a line: reading them, and writing values as they
//! are in them.

mod escape;
pub(super) mod scanner;
mod facet;
pub(super) mod nquad;
pub(super) mod writer;
