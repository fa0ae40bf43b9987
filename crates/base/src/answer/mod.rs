//! The forms that an answer is written in: JSON text, JSON in chunks, typed columns, and a tape
//! that plays it again. Each is a [`Sink`](crate::types::Sink) that the executor writes to.

mod outline;
mod name_positions;
mod keys;
mod offsets;
mod values;
mod cells;
mod json_text;
mod json_rows;
mod json;
mod chunk_sink;
mod table;
mod shape;
mod nested;
mod tape;

pub use cells::{Cell, Cells, Column, Lists, Structs, Texts};
pub use chunk_sink::ChunkSink;
pub use json::JsonSink;
pub use json_text::{write_json_text, write_plain_text};
pub use keys::{Key, KeySink, columns, need_data};
pub use name_positions::NamePositions;
pub use nested::NestedSink;
pub use offsets::CellOffsets;
pub use outline::Outline;
pub use shape::{Form, RowForm, Shape};
pub use table::{Table, TableForm, TableSink};
pub use tape::Tape;
pub use values::{MixedTypes, TemporalUnit, TemporalZone, Temporals, Values};
