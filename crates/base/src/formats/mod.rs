//! The formats that data comes in: N-Quads, read line by line; JSON; and files, read in chunks of
//! entire lines.

mod statement;
mod admission;
mod nquads;
mod json_tree;
mod json_statements;
#[cfg(feature = "files")]
mod compressed;
#[cfg(not(feature = "files"))]
#[path = "compressed_missing.rs"]
mod compressed;
mod compression;
mod json_values;
mod chunks;

pub use admission::{Admission, Admitted};
pub use chunks::{Chunk, ChunkLine, ChunkReader, FilePosition, decompressed, is_packed};
pub use compressed::Compressor;
pub use compression::Compression;
pub use json_statements::{JsonText, MutationKind};
pub use nquads::nquad::{
    FileStatement, literal_value, name_text, parse_file_line, parse_line, parse_text, read_text_at,
};
pub use nquads::scanner::is_name;
pub use nquads::writer::{write_facets, write_literal};
pub use statement::{LineFault, NQuad, Object, Predicate, Subject};
