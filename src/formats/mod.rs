//! The formats that data is loaded from: N-Quads, a line at a time, and files in chunks of lines.

mod nquad;
mod scanner;
mod facet;
mod escape;
mod chunks;

pub use chunks::{Chunk, ChunkLine, ChunkReader};
pub use nquad::{LineFault, NQuad, Object, Predicate, Subject, literal_value};
pub use nquad::{parse_line, parse_text};
